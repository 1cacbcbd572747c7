import type { Failure } from '../../core/failure.ts';
import { jsonIn, writeJson } from '../../core/json.ts';
import { appendFileSync, constants, fstatSync, readSync, type FileHandle } from '../../core/outside.ts';
import { openFile, withFile } from './files.ts';

/** All records of an append-only file, and the bytes up to the end of the last. @throws as `eachRecord` */
export function readRecords(bytes: Buffer, damaged: Damaged) {
  const all = [...eachRecord(bytes, damaged)];
  return { records: all.map(({ record }) => record), size: all.at(-1)?.size ?? 0 };
}

export type Damaged = (problem: string) => Failure;

/** Reads an append-only file's records, with place as `eachLine`. @throws what `damaged` makes of a broken line */
export function* eachRecord(bytes: Buffer, damaged: Damaged) {
  for (const { json, line, size } of eachLine(bytes)) {
    if (!json) throw damaged(`line ${line} is not valid JSON`);
    yield { record: json.value, line, size };
  }
}

/** Lines of JSON (undefined: broken), without a last one that a crash cut. `size`: bytes up to the end of the line. */
export function* eachLine(bytes: Buffer) {
  let size = 0;
  for (let end = bytes.indexOf(10), line = 1; end >= 0; end = bytes.indexOf(10, size), line += 1) {
    const json = jsonIn(bytes.toString('utf8', size, end));
    if (!json && bytes.indexOf(10, end + 1) < 0) return;
    size = end + 1;
    yield { json, line, size };
  }
}

/** Whether a crash cut the file's first line, which begins like that: empty, short, or zeros after a power failure. */
export function isCutBefore(bytes: Buffer, beginning: string): boolean {
  if (bytes.includes(10)) return false;
  const text = bytes.toString('utf8').replace(/\0+$/, '');
  return text.startsWith(beginning) || beginning.startsWith(text);
}

/** Appends and syncs lines; false where the file ends in a cut line. @throws an error of the file system */
export async function appendLines(file: FileHandle, lines: string): Promise<boolean> {
  const last = Buffer.alloc(1);
  readSync(file.fd, last, 0, 1, fstatSync(file.fd).size - 1);
  if (last[0] !== 10) return false;
  // It only reaches the system's memory: another thread would take longer to wake than this takes.
  appendFileSync(file.fd, lines);
  await file.datasync();
  return true;
}

/** How `appendLines` wants a file. @throws Failure config, or an error of the file system */
export function openToAppend(path: string): Promise<FileHandle> {
  return openFile(path, constants.O_RDWR | constants.O_APPEND);
}

/** As `appendLines`, to a file that is not open. @throws Failure config, or an error of the file system */
export async function appendTo(path: string, lines: string): Promise<boolean> {
  return withFile(openToAppend(path), (file) => appendLines(file, lines));
}

export function recordLine(record: unknown): string {
  return `${writeJson(record)}\n`;
}
