import { join } from 'node:path';
import { JsonElement } from '../../core/json-elements.ts';
import { countBefore } from '../../core/halving.ts';
import { isObject, parseJson } from '../../core/json.ts';
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
  /** Ids of the part that the server no longer showed when this file was written. */
  readonly absent?: readonly number[];
}

/** The same messages in each form of an archive. */
export type PartMessages<M = StoredMessage> = { readonly [F in ArchiveForm]?: readonly M[] };

export function partFileName(form: ArchiveForm, part: number): string {
  return `${form}-${String(part).padStart(6, '0')}.ndjson`;
}

/** The number in the name of a part's file; undefined for any other name. */
export function partNumberIn(name: string): number | undefined {
  const number = /^(?:rendered|source)-(\d{6,})\.ndjson$/.exec(name)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** The highest id of parts; 0 without any. */
export function lastIdOf(parts: readonly Pick<ArchivePart, 'last'>[]): number {
  return parts.reduce((highest, { last }) => Math.max(highest, last), 0);
}

export function hasId(ids: readonly number[], id: number): boolean {
  return (ids[0] ?? Infinity) <= id && ids[countBefore(ids, (one) => one < id)] === id;
}

/** The ids of the messages in the part's file of that form. */
export function idsOfFile({ ids, ...files }: ArchivePart, form: ArchiveForm): number[] {
  const absent = new Set(files[form]?.absent);
  return ids.filter((id) => !absent.has(id));
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

/** The part with those forms on disk; its line is still to be appended. @throws Failure unavailable */
export async function written(folder: string, part: ArchivePart, messages: PartMessages): Promise<ArchivePart> {
  let whole = part;
  for (const form of archiveForms) {
    const rows = messages[form];
    if (!rows) continue;
    const file = partFileName(form, part.part);
    const bytes = bytesOf(rows);
    await writePrivate(join(folder, file), bytes);
    const held = new Set(rows.map(({ id }) => id));
    const absent = part.ids.filter((id) => !held.has(id));
    const entry = { file, bytes: bytes.length, sha256: hashOf(bytes), ...(absent.length > 0 ? { absent } : {}) };
    whole = { ...whole, [form]: entry };
  }
  return whole;
}

/** The content of a part's file that holds these messages, each byte by byte as the server sent it. */
export function bytesOf(messages: readonly StoredMessage[]): Buffer {
  return Buffer.concat(messages.flatMap(({ text }) => [text.bytes, lineEnd]));
}

const lineEnd = Buffer.from('\n');

/** A part file as it was read: its messages in the order of their ids, or what is wrong with it. */
export interface ReadPart {
  readonly messages: readonly ReadMessage[];
  readonly problem?: string | undefined;
}

export interface ReadMessage {
  readonly message: ArchivedMessage;
  /** Its text in the file. */
  readonly line: string;
}

/** Reads a part in one form and compares it with its line of parts.ndjson. */
export async function readPart(folder: string, part: ArchivePart, form: ArchiveForm): Promise<ReadPart> {
  const entry = part[form];
  if (!entry) return { messages: [], problem: `the ${form} form is missing` };
  const bytes = await readBytes(join(folder, entry.file));
  if (!bytes) return { messages: [], problem: 'the file is missing' };
  if (bytes.length !== entry.bytes)
    return { messages: [], problem: `${bytes.length} bytes; parts.ndjson says ${entry.bytes}` };
  if (hashOf(bytes) !== entry.sha256)
    return { messages: [], problem: `${otherContent}: its SHA-256 is not that of parts.ndjson` };
  try {
    const lines = bytes.toString().split('\n').slice(0, -1);
    const messages = lines.map((line) => ({ line, message: messageIn(line) }));
    const ids = idsOfFile(part, form);
    if (ids.length === messages.length && messages.every(({ message }, at) => message.id === ids[at]))
      return { messages };
    return { messages: [], problem: 'its messages are not those of parts.ndjson' };
  } catch (cause) {
    if (cause instanceof SyntaxError) return { messages: [], problem: `not JSON lines: ${cause.message}` };
    throw cause;
  }
}

/** @throws SyntaxError */
function messageIn(line: string): ArchivedMessage {
  const message = parseJson(line);
  if (isMessage(message)) return message;
  throw new SyntaxError('a line is not a message with an id');
}

export function isMessage(value: unknown): value is ArchivedMessage {
  return isObject(value) && Number.isSafeInteger(value['id']);
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
