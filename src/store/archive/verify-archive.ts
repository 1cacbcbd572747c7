import { join } from 'node:path';
import type { Archive } from './archive.ts';
import { filesFolder, isKept, problemOfKept } from './kept-file.ts';
import { namesIn } from './archive-folder.ts';
import { partNumberIn, readPart, type ArchiveForm, type ArchivePart } from './part.ts';

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
 * Reads the whole archive, file by file, and yields what is wrong: archive.json and the lists against what the last run left; sizes,
 * hashes and messages of the parts against their lines; the order and number of ids; parts that are missing; attached files; the damaged
 * files that a repair kept aside; and files that are none of the archive.
 */
export async function* problemsOf(archive: Archive): AsyncGenerator<ArchiveProblem> {
  for (const { file, problem } of archive.damage) yield { part: null, file, problem, ids: null };
  let before: ArchivePart | undefined;
  for (const part of archive.parts) {
    yield* problemsOfLine(part, before);
    for (const form of archive.head.forms) yield* problemsOfFile(archive.folder, part, form);
    before = part;
  }
  for (const file of archive.unlisted)
    yield { part: partNumberIn(file) ?? null, file, problem: 'parts.ndjson lost its line', ids: null };
  for await (const { file, problem } of problemsOfKept(archive)) yield { part: null, file, problem, ids: null };
  for (const file of archive.damaged)
    yield { part: null, file, problem: 'a repair could not recover all of this damaged file', ids: null };
  for (const file of archive.strange) yield { part: null, file, problem: strangeFile, ids: null };
}

/** What is said of a file that is none of an archive. */
export const strangeFile = 'it does not belong to the archive';

async function* problemsOfKept({ folder, files }: Archive): AsyncGenerator<{ file: string; problem: string }> {
  const own = new Set<string>();
  for (const record of files.values()) {
    if (!isKept(record)) continue;
    own.add(record.file);
    const problem = await problemOfKept(folder, record);
    if (problem !== undefined) yield { file: record.file, problem };
  }
  const names = (await namesIn(join(folder, filesFolder))).map((name) => `${filesFolder}/${name}`);
  for (const file of names.sort()) if (!own.has(file) && !/\/\./.test(file)) yield { file, problem: strangeFile };
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
