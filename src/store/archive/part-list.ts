import { isDeepStrictEqual } from 'node:util';
import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { hashOf, readBytes, writePrivate } from '../disk/files.ts';
import { jsonIn, recordLine } from '../roster/ndjson.ts';
import { readList, type LineList } from './line-file.ts';
import {
  archiveForms,
  isMessage,
  linesIn,
  partFileName,
  uploadsOf,
  type ArchivedMessage,
  type ArchiveForm,
  type ArchivePart,
  type PartFile,
} from './part.ts';

/** The path of the list of parts. */
export const partListOf = (folder: string): string => join(folder, 'parts.ndjson');

/** Reads the list of parts; a missing one is empty. @throws Failure config where the file cannot be read */
export function readPartList(folder: string): Promise<LineList<ArchivePart>> {
  return readList(partListOf(folder), (record) => (isPart(record) ? record : undefined), 'a part of an archive');
}

/** The parts of lines, by number: of several lines of one part the last counts. */
export function partsIn(lines: readonly ArchivePart[]): ArchivePart[] {
  const parts = new Map(lines.map((line) => [line.part, line]));
  return [...parts.values()].sort((one, other) => one.part - other.part);
}

function isPart(record: unknown): record is ArchivePart {
  if (!isObject(record)) return false;
  const { part, ids, uploads = [] } = record;
  const areFiles = archiveForms.every((form) => record[form] === undefined || isPartFile(record[form]));
  const areIds = Array.isArray(ids) && ids.length > 0 && ids.every(Number.isSafeInteger);
  const arePaths = Array.isArray(uploads) && uploads.every((path) => typeof path === 'string');
  return typeof part === 'number' && areIds && areFiles && arePaths;
}

function isPartFile(value: unknown): value is PartFile {
  if (!isObject(value)) return false;
  const { file, sha256 } = value;
  return typeof sha256 === 'string' && typeof file === 'string' && /^[a-z]+-\d+\.ndjson$/.test(file);
}

/**
 * Writes parts.ndjson again where lines are lost or damaged: each such line is made from the files of its part, if the part has every
 * form of the archive, each as whole lines of the same messages, whose ids ascend and lie between those of the parts around it. A file of the
 * next part that is not so was left by a crash, and the next pull writes over it. `numbers` are those of the parts' files. Says whether
 * it wrote.
 * @throws Failure config naming the part whose line cannot be made; nothing is written then
 */
export async function relistParts(
  folder: string,
  { records, damaged }: LineList<ArchivePart>,
  { forms, numbers }: { readonly forms: readonly ArchiveForm[]; readonly numbers: readonly number[] },
  note: (text: string) => void,
): Promise<boolean> {
  const listed = partsIn(records);
  const sound = new Map(listed.filter(isConsistent).map((part) => [part.part, part]));
  const last = [...numbers, ...sound.keys()].reduce((most, number) => Math.max(most, number), 0);
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
  if (made.length + damaged.length === 0) return false;
  await writePrivate(partListOf(folder), parts.map(recordLine).join(''));
  if (made.length > 0)
    note(`parts.ndjson lacked the lines of these parts: ${made.join(', ')}; they are made from the files`);
  return true;
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
    const messages = messagesIn(bytes);
    const [first, last] = [messages?.[0]?.id, messages?.at(-1)?.id];
    if (messages === undefined || first === undefined || last === undefined) return `${file} is damaged`;
    const ids = messages.map(({ id }) => id);
    if (part && !isDeepStrictEqual(part.ids, ids)) return `${file} holds other messages than the other form`;
    const line = part ?? { part: number, first, last, count: ids.length, ids, uploads: uploadsOf(messages) };
    part = { ...line, [form]: { file, bytes: bytes.length, sha256: hashOf(bytes) } };
  }
  return part ?? 'it has no files';
}

/** The messages of a part's file; undefined where a line is not a message, or cut, or the ids do not ascend. */
function messagesIn(bytes: Buffer): ArchivedMessage[] | undefined {
  if (bytes.at(-1) !== 0x0a) return undefined;
  const messages: ArchivedMessage[] = [];
  for (const text of linesIn(bytes)) {
    const message = jsonIn(text)?.value;
    if (!isMessage(message) || message.id <= (messages.at(-1)?.id ?? 0)) return undefined;
    messages.push(message);
  }
  return messages;
}

export function ascend(ids: readonly number[]): boolean {
  return ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0));
}

/** Whether a line agrees with itself. */
function isConsistent({ ids, first, last, count }: ArchivePart): boolean {
  return ascend(ids) && count === ids.length && first === ids[0] && last === ids.at(-1);
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
