import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { writePrivate } from '../disk/files.ts';
import { recordLine } from '../roster/ndjson.ts';
import { namesIn } from './archive-folder.ts';
import { archiveForms, type ArchiveForm } from './archive-head.ts';
import { hashOf, linesIn, partFileName, partNumberIn, readBytes, type ArchivePart, type PartFile } from './part.ts';

/** The path of the list of parts. */
export const partListOf = (folder: string): string => join(folder, 'parts.ndjson');

/** What parts.ndjson holds. */
export interface PartList {
  /** By number: of several lines of one part the last counts. */
  readonly parts: readonly ArchivePart[];
  /** The lines that cannot be read, such as `line 2 is not valid JSON`; the last one only where it is whole: a crash cuts it. */
  readonly damaged: readonly string[];
}

/** Reads the list of parts; a missing one is empty. @throws Failure config where the file cannot be read */
export async function readPartList(folder: string): Promise<PartList> {
  const bytes = (await readBytes(partListOf(folder))) ?? Buffer.alloc(0);
  const lines = [...linesIn(bytes)].map((text) => recordIn(text));
  if (lines.at(-1) === undefined) lines.pop();
  const damaged = lines.flatMap((record, index) => {
    if (isPart(record)) return [];
    return [`line ${index + 1} is ${record === undefined ? 'not valid JSON' : 'not a part of an archive'}`];
  });
  return { parts: partsIn(lines), damaged };
}

/** The parts that records describe, by number: of several records of one part the last counts. */
export function partsIn(records: readonly unknown[]): ArchivePart[] {
  const parts = new Map<number, ArchivePart>();
  for (const record of records) if (isPart(record)) parts.set(record.part, record);
  return [...parts.values()].sort((one, other) => one.part - other.part);
}

/** Undefined for what is no JSON. */
function recordIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

function isPart(record: unknown): record is ArchivePart {
  if (!isObject(record)) return false;
  const { part, ids } = record;
  const areFiles = archiveForms.every((form) => record[form] === undefined || isPartFile(record[form]));
  return typeof part === 'number' && Array.isArray(ids) && ids.length > 0 && areFiles;
}

function isPartFile(value: unknown): value is PartFile {
  if (!isObject(value)) return false;
  const { file, sha256 } = value;
  return typeof sha256 === 'string' && typeof file === 'string' && /^[a-z]+-\d+\.ndjson$/.test(file);
}

/**
 * Writes parts.ndjson again where lines are lost or damaged: each such line is made from the files of its part, if the part has every
 * form of the archive, each as whole lines of the same messages, whose ids ascend and lie between those of the parts around it. A file of the
 * next part that is not so was left by a crash, and the next pull writes over it.
 * @throws Failure config naming the part whose line cannot be made; nothing is written then
 */
export async function relistParts(
  folder: string,
  forms: readonly ArchiveForm[],
  note: (text: string) => void,
): Promise<void> {
  const { parts: listed, damaged } = await readPartList(folder);
  const sound = new Map(listed.filter(isConsistent).map((part) => [part.part, part]));
  const numbers = [...(await namesIn(folder)).map(partNumberIn), ...sound.keys()];
  const last = numbers.reduce<number>((most, number = 0) => Math.max(most, number), 0);
  const parts: ArchivePart[] = [];
  const made: number[] = [];
  for (let number = 1; number <= last; number += 1) {
    const known = sound.get(number);
    const part = known ?? (await partInFiles(folder, number, forms));
    const isLeftByCrash = number === last && damaged.length === 0 && listed.length === sound.size;
    if (typeof part === 'string' && isLeftByCrash) break;
    if (typeof part === 'string') throw lostLine(folder, number, part);
    parts.push(part);
    if (!known) made.push(number);
  }
  const misplaced = parts.find(({ first }, index) => first <= (parts[index - 1]?.last ?? 0));
  if (made.length > 0 && misplaced)
    throw lostLine(folder, misplaced.part, 'its messages do not follow those of the part before');
  if (made.length + damaged.length === 0) return;
  await writePrivate(partListOf(folder), parts.map(recordLine).join(''));
  if (made.length > 0)
    note(`parts.ndjson lacked the lines of these parts: ${made.join(', ')}; they are made from the files`);
}

/** The line of a part by what its files hold, or why there is none. @throws Failure config where a file cannot be read */
export async function partInFiles(
  folder: string,
  number: number,
  forms: readonly ArchiveForm[],
): Promise<ArchivePart | string> {
  let part: ArchivePart | undefined;
  for (const form of forms) {
    const file = partFileName(form, number);
    const bytes = await readBytes(join(folder, file));
    if (!bytes) return `${file} is missing`;
    const ids = idsIn(bytes);
    const [first, last] = [ids?.[0], ids?.at(-1)];
    if (ids === undefined || first === undefined || last === undefined) return `${file} is damaged`;
    if (part && !isDeepStrictEqual(part.ids, ids)) return `${file} holds other messages than the other form`;
    const entry = { file, bytes: bytes.length, sha256: hashOf(bytes) };
    part = { ...(part ?? { part: number, first, last, count: ids.length, ids }), [form]: entry };
  }
  return part ?? 'it has no files';
}

/** The ids of a part's file; undefined where a line is not a message, or cut, or the ids do not ascend. */
function idsIn(bytes: Buffer): number[] | undefined {
  if (bytes.at(-1) !== lineEnd) return undefined;
  const ids: number[] = [];
  for (const text of linesIn(bytes)) {
    const message = recordIn(text);
    const id = isObject(message) ? message['id'] : undefined;
    if (typeof id !== 'number' || id <= (ids.at(-1) ?? 0)) return undefined;
    ids.push(id);
  }
  return ids;
}

const lineEnd = 0x0a;

/** Whether a line agrees with itself. */
function isConsistent({ ids, first, last, count }: ArchivePart): boolean {
  const isAscending = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0));
  return isAscending && count === ids.length && first === ids[0] && last === ids.at(-1);
}

/** The failure where the line of a part is lost or damaged, and cannot be rebuilt from its files. */
export function lostLine(folder: string, part: number, why: string): Failure {
  return new Failure('config', `${partListOf(folder)} lost the line of part ${part}, and ${why}`, {
    hint: lostLinesHint,
  });
}

/** What to do where parts.ndjson cannot be made whole. */
export const lostLinesHint =
  'Put parts.ndjson back from a copy; or pull into another folder, and keep this one for messages that the server no longer has.';
