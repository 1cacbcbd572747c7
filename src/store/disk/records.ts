import { crc32 } from 'node:zlib';
import { jsonIn, writeJson } from '../../core/json.ts';
import { appendFileSync, constants, fstatSync, readSync, type FileHandle } from '../../core/outside.ts';
import { openFile, withFile } from './files.ts';

/** Lines of JSON without a last one that is cut or fails its sum. */
export function* eachLine(bytes: Buffer) {
  let size = 0;
  for (let end = bytes.indexOf(10), line = 1; end >= 0; end = bytes.indexOf(10, size), line += 1) {
    const { json, isWhole } = lineIn(bytes.toString('utf8', size, end));
    size = end + 1;
    const problem = json ? (isWhole ? undefined : 'not what was written') : 'not valid JSON';
    if (problem && bytes.indexOf(10, size) < 0) return;
    yield { json, problem, line, size };
  }
}

/** One line, whose sum, if it has one, shows whether it is what was written. */
export function lineIn(text: string) {
  const sum = /,"sum":"([\da-f]{8})"\}$/.exec(text)?.[1];
  if (sum === undefined) return { json: jsonIn(text), isSummed: false, isWhole: true };
  const body = text.slice(0, -sumLength);
  return { json: jsonIn(`${body}}`), isSummed: true, isWhole: sum === sumOf(body) };
}

const sumLength = ',"sum":"01234567"}'.length;

function sumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/** Whether a crash cut the file's first line, which begins like that: empty, short, or zeros after a power failure. */
export function isCutBefore(bytes: Buffer, beginning: string): boolean {
  if (bytes.includes(10)) return false;
  const text = bytes.toString('utf8').replace(/\0+$/, '');
  return text.startsWith(beginning) || beginning.startsWith(text);
}

/** Appends and syncs lines to a file that may end in a cut line, which stays. @throws Failure config, a system error */
export async function appendLoosely(path: string, lines: string): Promise<void> {
  await withFile(openFile(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT), async (file) => {
    await appendSynced(file, endsInLine(file) ? lines : `\n${lines}`);
  });
}

function endsInLine({ fd }: FileHandle): boolean {
  const last = Buffer.alloc(1);
  return readSync(fd, last, 0, 1, fstatSync(fd).size - 1) === 0 || last[0] === 10;
}

/** Appends to a file that is open for that, and syncs it. @throws an error of the file system */
export async function appendSynced(file: FileHandle, lines: string): Promise<void> {
  // It only reaches the system's memory: another thread would take longer to wake than this takes.
  appendFileSync(file.fd, lines);
  await file.datasync();
}

export function recordLine(record: unknown): string {
  return `${writeJson(record)}\n`;
}

/** A line that shows by its sum that it is what was written. */
export function summedLine(record: object): string {
  const body = writeJson(record).slice(0, -1);
  return `${body},"sum":"${sumOf(body)}"}\n`;
}
