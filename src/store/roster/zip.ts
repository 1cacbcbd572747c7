import { crc32, inflateRawSync } from 'node:zlib';
import { type Failure, unless, usage } from '../../core/failure.ts';
import { mebibytes, rosterLimits, type RosterLimits } from './limits.ts';

export type Zip = ReturnType<typeof openZip>;

const [endMark, entryMark, headerMark, endMark64] = ['PK\x05\x06', 'PK\x01\x02', 'PK\x03\x04', 'PK\x06\x06'];
const endSize = 22;

/** Reads a zip archive's directory (APPNOTE.TXT 4.3), also that of large archives. @throws Failure usage for none */
export function openZip(bytes: Buffer, limits: RosterLimits = rosterLimits) {
  const entries = orBroken(() => directoryOf(bytes));
  return {
    names: [...entries.keys()],
    /** The content of a file, if there is one. @throws Failure usage for a damaged, locked or large one */
    read(name: string): Buffer | undefined {
      const at = entries.get(name);
      return at === undefined ? undefined : orBroken(() => contentOf(bytes, at, limits.partBytes));
    },
  };
}

function orBroken<T>(read: () => T): T {
  const found = unless(RangeError, read);
  if (found === undefined) throw damaged('its directory is broken');
  return found;
}

/** Where the entry of each file is. */
function directoryOf(bytes: Buffer): ReadonlyMap<string, number> {
  const end = bytes.lastIndexOf(endMark, undefined, 'latin1');
  if (end < 0 || end + endSize > bytes.length) throw damaged('it is cut off');
  const end64 = bytes.lastIndexOf(endMark64, end, 'latin1');
  const isLarge = bytes.readUInt32LE(end + 16) === 0xffffffff && end64 >= 0;
  const entries = new Map<string, number>();
  let at = isLarge ? wholeNumber(bytes, end64 + 48) : bytes.readUInt32LE(end + 16);
  for (const limit = isLarge ? end64 : end; at < limit && markAt(bytes, at) === entryMark;) {
    const [nameEnd, extraEnd] = endsOf(bytes, at);
    entries.set(bytes.toString('utf8', at + 46, nameEnd), at);
    at = extraEnd + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

/** The ends of an entry's name and of its extra fields. */
function endsOf(bytes: Buffer, at: number): readonly [number, number] {
  const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
  return [nameEnd, nameEnd + bytes.readUInt16LE(at + 30)];
}

/** A file's place and packed size: in extra field 1 where the numbers do not fit, or a writer puts all there. */
function placeOf(bytes: Buffer, at: number) {
  const [nameEnd, extraEnd] = endsOf(bytes, at);
  let extra = nameEnd;
  while (extra + 4 <= extraEnd && bytes.readUInt16LE(extra) !== 1) extra += 4 + bytes.readUInt16LE(extra + 2);
  extra += 4;
  // In this order, and only those that are full in the entry.
  const [, packedSize = 0, headerAt = 0] = [24, 20, 42].map((field) => {
    const short = bytes.readUInt32LE(at + field);
    if (short !== 0xffffffff) return short;
    extra += 8;
    return wholeNumber(bytes, extra - 8);
  });
  return { packedSize, headerAt };
}

function wholeNumber(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

function markAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}

function contentOf(bytes: Buffer, at: number, maxBytes: number): Buffer {
  const { packedSize, headerAt } = placeOf(bytes, at);
  const [flags, method] = [bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10)];
  if ((flags & 1) === 1) throw usage('it is protected by a password', 'Open it, and save it without one.');
  if (markAt(bytes, headerAt) !== headerMark || headerAt + 30 > bytes.length) throw damaged('a file is missing');
  const start = headerAt + 30 + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
  const packed = bytes.subarray(start, start + packedSize);
  if (packed.length < packedSize) throw damaged('it is cut off');
  if (method !== 0 && method !== 8) throw damaged(`its compression (${method}) is unknown`);
  const content = method === 0 ? packed : inflate(packed, maxBytes);
  if (crc32(content) !== bytes.readUInt32LE(at + 16)) throw damaged('a checksum is wrong');
  return content;
}

function inflate(packed: Buffer, maxBytes: number): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
    if (cause.code !== 'ERR_BUFFER_TOO_LARGE') throw damaged('its compressed data are broken');
    throw usage(
      `a sheet, or the texts of all, is larger than ${mebibytes(maxBytes)}`,
      'Copy the columns that count into a new workbook.',
    );
  }
}

/** A failure of a file that is a zip archive by its first bytes. */
export function damaged(reason: string): Failure {
  return usage(
    `a damaged workbook: ${reason}`,
    'Open it in the spreadsheet program and save it again, or save it as "CSV UTF-8".',
  );
}
