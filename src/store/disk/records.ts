import { crc32 } from 'node:zlib';
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

/**
 * Reads an append-only file's records, with place as `eachLine`, without a last one that is cut or fails its sum. Lines
 * of an earlier release have none: they are right up to the first that has one. @throws what `damaged` makes of others
 */
export function* eachRecord(bytes: Buffer, damaged: Damaged) {
  let haveSums = false;
  for (const { text, line, size } of eachText(bytes)) {
    const sum = /,"sum":"([\da-f]{8})"\}$/.exec(text)?.[1];
    haveSums ||= sum !== undefined;
    const body = sum === undefined ? text : text.slice(0, -sumLength);
    const json = jsonIn(sum === undefined ? text : `${body}}`);
    const isWhole = !haveSums || sum === sumOf(body);
    if ((!json || !isWhole) && isLast(bytes, size)) return;
    if (!json) throw damaged(`line ${line} is not valid JSON`);
    if (!isWhole) throw damaged(`line ${line} is not what was written`);
    yield { record: json.value, line, size };
  }
}

const sumLength = ',"sum":"01234567"}'.length;

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** Lines of JSON (undefined: broken), without a last one that a crash cut. `size`: bytes up to the end of the line. */
export function* eachLine(bytes: Buffer) {
  for (const { text, line, size } of eachText(bytes)) {
    const json = jsonIn(text);
    if (!json && isLast(bytes, size)) return;
    yield { json, line, size };
  }
}

/** No whole line follows that many bytes. */
function isLast(bytes: Buffer, size: number): boolean {
  return bytes.indexOf(10, size) < 0;
}

function* eachText(bytes: Buffer) {
  let size = 0;
  for (let end = bytes.indexOf(10), line = 1; end >= 0; end = bytes.indexOf(10, size), line += 1) {
    const text = bytes.toString('utf8', size, end);
    size = end + 1;
    yield { text, line, size };
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

/** A line that shows by its sum that it is what was written. */
export function summedLine(record: object): string {
  const body = writeJson(record).slice(0, -1);
  return `${body},"sum":"${sumOf(body)}"}\n`;
}
