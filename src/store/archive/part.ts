import { join } from 'node:path';
import { JsonElement } from '../../core/json-elements.ts';
import { countBefore } from '../../core/halving.ts';
import { isObject, jsonIn } from '../../core/json.ts';
import { hashOf, readBytes, writePrivate } from '../disk/files.ts';
import { uploadsIn, type UploadPath } from '../../schema/upload.ts';
import { otherContent } from './kept-file.ts';

/** The two forms of a message's text: HTML as the server renders it, and the Markdown that the sender typed. */
export const archiveForms = ['rendered', 'source'] as const;
export type ArchiveForm = (typeof archiveForms)[number];

/** A message as the server sent it. */
export type ArchivedMessage = Readonly<Record<string, unknown>> & { readonly id: number };

/** A message that is to be archived, as the text in which the server sent it. */
export interface StoredMessage {
  readonly id: number;
  readonly text: JsonElement;
}

/** A line of parts.ndjson: some messages of the archive (docs/archive-format.md, Parts). */
export interface ArchivePart {
  /** From 1 on. */
  readonly part: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Ascending. */
  readonly ids: readonly number[];
  /** One of its ids is below those of an earlier part; the other parts ascend. */
  readonly late?: true;
  readonly rendered?: PartFile;
  readonly source?: PartFile;
  /** The attached files that its messages name in any form. */
  readonly attached: readonly UploadPath[];
}

export interface PartFile {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The same messages in each form of an archive. */
export type PartMessages<M = StoredMessage> = { readonly [F in ArchiveForm]?: readonly M[] };

export function partFileName(form: ArchiveForm, part: number): string {
  return `${form}-${String(part).padStart(6, '0')}.ndjson`;
}

export function partNumberIn(name: string): number | undefined {
  const number = /^(?:rendered|source)-(\d{6,})\.ndjson$/.exec(name)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The highest id of parts; 0 without any. */
export function lastIdOf(parts: readonly Pick<ArchivePart, 'last'>[]): number {
  return parts.reduce((highest, { last }) => Math.max(highest, last), 0);
}

/** The parts whose first and last ids leave room for one of these, in any order. */
export function partsAmong(parts: readonly ArchivePart[], ids: readonly number[]): readonly ArchivePart[] {
  const [low, high] = ids.reduce(([least, most], id) => [Math.min(least, id), Math.max(most, id)], [Infinity, 0]);
  return parts.filter(({ first, last }) => first <= high && low <= last);
}

export function hasId(ids: readonly number[], id: number): boolean {
  return (ids[0] ?? Infinity) <= id && ids[countBefore(ids, (one) => one < id)] === id;
}

/** The next part, not yet written. */
export function blankPart(before: readonly ArchivePart[], messages: PartMessages, site: string): ArchivePart {
  const rows = archiveForms.flatMap((form) => messages[form] ?? []);
  const ids = [...new Set(rows.map(({ id }) => id))];
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) throw new RangeError('a part without messages');
  const part = (before.at(-1)?.part ?? 0) + 1;
  const late = first < lastIdOf(before) ? ({ late: true } as const) : {};
  return { part, ...late, first, last, count: ids.length, ids, attached: uploadsOf(rows, site) };
}

/** Writes the forms of a part, and returns the part with its files; its line is still to be added. @throws Failure */
export async function writePart(folder: string, part: ArchivePart, messages: PartMessages): Promise<ArchivePart> {
  let whole = part;
  for (const form of archiveForms) {
    const rows = messages[form];
    if (!rows) continue;
    const file = partFileName(form, part.part);
    // Each message byte by byte as the server sent it.
    const bytes = Buffer.concat(rows.flatMap(({ text }) => [text.bytes, lineEnd]));
    await writePrivate(join(folder, file), bytes);
    whole = { ...whole, [form]: { file, bytes: bytes.length, sha256: hashOf(bytes) } };
  }
  return whole;
}

const lineEnd = Buffer.from('\n');

export interface ReadMessage {
  readonly message: ArchivedMessage;
  /** Its text in the file. */
  readonly line: string;
}

/** Reads a form of a part: its messages in the order of ids, or how it differs from its line of parts.ndjson. */
export async function readPart(
  folder: string,
  part: ArchivePart,
  form: ArchiveForm,
): Promise<{ readonly messages: readonly ReadMessage[]; readonly problem?: string | undefined }> {
  const entry = part[form];
  const bytes = entry && (await readBytes(join(folder, entry.file)));
  const damaged = (problem: string) => ({ messages: [], problem });
  if (!bytes) return damaged(entry ? 'the file is missing' : `the ${form} form is missing`);
  if (hashOf(bytes) !== entry.sha256) return damaged(`${otherContent}: its SHA-256 is not that of parts.ndjson`);
  const messages = bytes
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => ({ line, message: jsonIn(line)?.value }));
  const { ids } = part;
  const isRead = (read: { line: string; message: unknown }): read is ReadMessage => isMessage(read.message);
  const areThose = ids.length === messages.length && messages.every(isRead);
  if (areThose && messages.every(({ message }, at) => message.id === ids[at])) return { messages };
  return damaged('its messages are not those of parts.ndjson');
}

export function isMessage(value: unknown): value is ArchivedMessage {
  return isObject(value) && Number.isSafeInteger(value['id']);
}

/** The part that a line of parts.ndjson describes; undefined for a line of another shape. */
export function partIn(line: unknown): ArchivePart | undefined {
  return isPart(line) ? line : undefined;
}

function isPart(line: unknown): line is ArchivePart {
  if (!isObject(line)) return false;
  const { part, ids, attached } = line;
  const areFiles = archiveForms.every((form) => line[form] === undefined || isPartFile(line[form]));
  const areIds = Array.isArray(ids) && ids.length > 0 && ids.every(Number.isSafeInteger);
  const arePaths = Array.isArray(attached) && attached.every((path) => typeof path === 'string');
  return typeof part === 'number' && areIds && areFiles && arePaths;
}

function isPartFile(value: unknown): value is PartFile {
  if (!isObject(value)) return false;
  const { file, sha256 } = value;
  return typeof sha256 === 'string' && typeof file === 'string' && partNumberIn(file) !== undefined;
}

/** The attached files that messages name, each once. Of texts, only one that may name a file is parsed. */
export function uploadsOf(messages: Iterable<StoredMessage | ArchivedMessage>, site: string): UploadPath[] {
  const found = new Set<UploadPath>();
  for (const message of messages) {
    let fields: unknown = message;
    if (message.text instanceof JsonElement) {
      const { buffer, byteOffset, length } = message.text.bytes;
      fields = Buffer.from(buffer, byteOffset, length).includes('user_uploads') && message.text.parse();
    }
    if (isObject(fields)) for (const path of uploadsIn(fields, site)) found.add(path);
  }
  return [...found];
}
