import type { Failure } from '../../core/failure.ts';
import { jsonIn, writeJson } from '../../core/json.ts';

export interface Records {
  readonly records: readonly unknown[];
  /** Bytes up to the end of the last whole record. What follows was cut by a crash. */
  readonly size: number;
}

/** All records of an append-only file. @throws as `eachRecord` */
export function readRecords(bytes: Buffer, damaged: Damaged): Records {
  const records: unknown[] = [];
  const reading = eachRecord(bytes, damaged);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return { records, size: value };
    records.push(value);
  }
}

export type Damaged = (problem: string) => Failure;

/**
 * Reads an append-only file's records, without a last line that a crash cut or broke. @returns bytes up to the end of
 * the last whole record
 * @throws what `damaged` makes of an earlier broken line
 */
export function* eachRecord(bytes: Buffer, damaged: Damaged): Generator<unknown, number> {
  let size = 0;
  let line = 1;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, size)) {
    const record = jsonIn(bytes.toString('utf8', size, end));
    if (record) yield record.value;
    else if (bytes.indexOf(10, end + 1) >= 0) throw damaged(`line ${line} is not valid JSON`);
    else break;
    size = end + 1;
    line += 1;
  }
  return size;
}

/** Whether a crash cut the file's first line, which begins like that: empty, short, or zeros after a power failure. */
export function isCutBefore(bytes: Buffer, beginning: string): boolean {
  if (bytes.includes(10)) return false;
  const text = bytes.toString('utf8').replace(/\0+$/, '');
  return text.startsWith(beginning) || beginning.startsWith(text);
}

export function recordLine(record: unknown): string {
  return `${writeJson(record)}\n`;
}
