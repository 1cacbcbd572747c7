import { parseJson, writeJson } from '../../core/json.ts';

export interface Records {
  readonly records: readonly unknown[];
  /** Bytes up to the end of the last whole record. What follows was cut by a crash. */
  readonly size: number;
}

/**
 * Reads the records of an append-only file. A last line that is cut or broken is left out: a crash interrupted its writing.
 * @throws SyntaxError naming the line where a broken one is followed by others
 */
export function readRecords(bytes: Buffer): Records {
  const records: unknown[] = [];
  let size = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, size)) {
    const record = jsonIn(bytes.toString('utf8', size, end));
    if (record === undefined) {
      if (bytes.indexOf(10, end + 1) < 0) break;
      throw new SyntaxError(`line ${records.length + 1} is not valid JSON`);
    }
    records.push(record.value);
    size = end + 1;
  }
  return { records, size };
}

/** Whether a crash ended the file before its first line, which begins like that, was whole: empty, cut, or zeros after a power failure. */
export function isCutBefore(bytes: Buffer, beginning: string): boolean {
  if (bytes.includes(10)) return false;
  const text = bytes.toString('utf8').replace(/\0+$/, '');
  return text.startsWith(beginning) || beginning.startsWith(text);
}

/** One record as its line. */
export function recordLine(record: unknown): string {
  return `${writeJson(record)}\n`;
}

/** The value of a line; undefined where it is not JSON. */
export function jsonIn(line: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseJson(line) };
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}
