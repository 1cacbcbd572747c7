import type { Archive } from './archive.ts';
import type { ArchiveForm } from './archive-head.ts';
import { partNumberIn, readPart, type ArchivePart } from './part.ts';

/** Something that is wrong with an archive. */
export interface ArchiveProblem {
  /** The number of the part; null where it is not about one part. */
  readonly part: number | null;
  readonly file: string;
  readonly problem: string;
  /** Ids of the messages that have to be fetched again, as `first-last`; null for none. */
  readonly ids: string | null;
}

/**
 * Reads the whole archive, part by part, and yields what is wrong: sizes, hashes and messages of files against parts.ndjson, the order
 * and number of ids, parts that are missing, and the damaged files that a repair kept aside.
 */
export async function* problemsOf(archive: Archive): AsyncGenerator<ArchiveProblem> {
  for (const problem of archive.damagedLines) yield { part: null, file: 'parts.ndjson', problem, ids: null };
  let before: ArchivePart | undefined;
  for (const part of archive.parts) {
    yield* problemsOfLine(part, before);
    for (const form of archive.head.forms) yield* problemsOfFile(archive.folder, part, form);
    before = part;
  }
  const next = filesOfNextPart(archive);
  for (const file of archive.unlisted.filter((name) => !next.includes(name)))
    yield { part: partNumberIn(file) ?? null, file, problem: 'parts.ndjson lost its line', ids: null };
  for (const file of archive.damaged)
    yield { part: null, file, problem: 'a repair could not recover all of this damaged file', ids: null };
}

/** Files behind the last line of parts.ndjson, as a crash leaves them: the next pull lists them where they are whole, or writes over them. */
export function filesOfNextPart({ parts, unlisted }: Pick<Archive, 'parts' | 'unlisted'>): readonly string[] {
  const next = (parts.at(-1)?.part ?? 0) + 1;
  return unlisted.filter((name) => partNumberIn(name) === next);
}

function* problemsOfLine(
  { part, ids, ...line }: ArchivePart,
  before: ArchivePart | undefined,
): Generator<ArchiveProblem> {
  const problem = (text: string): ArchiveProblem => ({ part, file: 'parts.ndjson', problem: text, ids: null });
  const expected = (before?.part ?? 0) + 1;
  if (part !== expected) {
    const missing =
      part - 1 === expected ? `part ${expected} is missing` : `parts ${expected} to ${part - 1} are missing`;
    yield problem(`${missing}: messages between ${before?.last ?? 0} and ${ids[0]}`);
  }
  const isAscending = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0));
  if (!isAscending) yield problem('its ids do not ascend, or one is there twice');
  if (before && (ids[0] ?? 0) <= before.last) yield problem(`its ids do not follow those of part ${before.part}`);
  if (line.count !== ids.length || line.first !== ids[0] || line.last !== ids.at(-1))
    yield problem('first, last and count are not those of its ids');
}

async function* problemsOfFile(folder: string, part: ArchivePart, form: ArchiveForm): AsyncGenerator<ArchiveProblem> {
  const { problem } = await readPart(folder, part, form);
  if (problem === undefined) return;
  yield { part: part.part, file: part[form]?.file ?? form, problem, ids: `${part.first}-${part.last}` };
}
