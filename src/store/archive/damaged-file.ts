import { join } from 'node:path';
import { JsonElement } from '../../core/json-elements.ts';
import { parseJson } from '../../core/json.ts';
import { exists, readBytes, writePrivate } from '../disk/files.ts';
import { recordLine } from '../roster/ndjson.ts';
import type { LineList } from './line-file.ts';
import { isMessage, type ArchivedMessage, type ArchiveForm, type ArchivePart } from './part.ts';

/** What is left of a damaged file of a part. */
export interface DamagedFile {
  /** Undefined where the file is missing. */
  readonly bytes: Buffer | undefined;
  /** The lines that are a message of the part, by id. A line that is JSON may be damaged all the same. */
  readonly lines: ReadonlyMap<number, KeptLine>;
}

/** A line of a damaged file, byte for byte. */
export interface KeptLine {
  readonly id: number;
  readonly text: JsonElement;
  readonly message: ArchivedMessage;
}

/** Reads what is left of one form of a part. @throws Failure config where the file cannot be read */
export async function readDamaged(folder: string, part: ArchivePart, form: ArchiveForm): Promise<DamagedFile> {
  const entry = part[form];
  const bytes = entry && (await readBytes(join(folder, entry.file)));
  const ids = new Set(part.ids);
  const lines = new Map<number, KeptLine>();
  for (const line of bytes ? linesIn(bytes) : []) if (ids.has(line.id) && !lines.has(line.id)) lines.set(line.id, line);
  return { bytes, lines };
}

function* linesIn(bytes: Buffer): Generator<KeptLine> {
  let start = 0;
  while (start < bytes.length) {
    const found = bytes.indexOf(0x0a, start);
    const end = found < 0 ? bytes.length : found;
    const document = bytes.subarray(start, end);
    const message = messageIn(document);
    if (message) yield { id: message.id, message, text: JsonElement.of(document) };
    start = end + 1;
  }
}

function messageIn(line: Buffer): ArchivedMessage | undefined {
  try {
    const value = parseJson(line.toString('utf8'));
    return isMessage(value) ? value : undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

const suffix = '.damaged';

/** Whether a name is that of a damaged file that a repair kept aside. */
export function isKeptAside(name: string): boolean {
  return /\.ndjson\.damaged(-\d+)?$/.test(name);
}

/**
 * Copies a damaged file beside itself, under a name that is free, and returns the name. The file itself stays until its repair replaces
 * it, so that a crash loses neither. @throws Failure unavailable where the disk is full
 */
export async function keepAside(folder: string, file: string, bytes: Buffer): Promise<string> {
  let name = `${file}${suffix}`;
  for (let count = 2; await exists(join(folder, name)); count += 1) name = `${file}${suffix}-${count}`;
  await writePrivate(join(folder, name), bytes);
  return name;
}

/**
 * Writes a list again with those of its lines that can be read, after the whole of it was kept aside. Returns the name of the copy.
 * @throws Failure config where it cannot be written; unavailable where the disk is full
 */
export async function setBadLinesAside(folder: string, name: string, list: LineList<unknown>): Promise<string> {
  const aside = await keepAside(folder, name, list.bytes);
  await writePrivate(join(folder, name), list.records.map(recordLine).join(''));
  return aside;
}
