import { crc32, inflateRawSync } from 'node:zlib';
import { type Failure, unless, usage } from '../../core/failure.ts';

export type Zip = ReturnType<typeof openZip>;

const [endMark, entryMark, headerMark] = ['PK\x05\x06', 'PK\x01\x02', 'PK\x03\x04'];
const endSize = 22;

/** The most bytes of one unpacked file: a small archive may unpack to a thousand times its size. */
const maxFileBytes = 128 * 1024 * 1024;

/** Reads a zip archive's directory (APPNOTE.TXT 4.3). @throws Failure usage for none, and for a Zip64 archive */
export function openZip(bytes: Buffer) {
  const entries = orBroken(() => directoryOf(bytes));
  return {
    names: [...entries.keys()],
    /** The content of a file, if there is one. @throws Failure usage for a damaged, locked or large one */
    read(name: string): Buffer | undefined {
      const at = entries.get(name);
      return at === undefined ? undefined : orBroken(() => contentOf(bytes, at));
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
  const entries = new Map<string, number>();
  for (let at = bytes.readUInt32LE(end + 16); at < end && markAt(bytes, at) === entryMark;) {
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
    entries.set(bytes.toString('utf8', at + 46, nameEnd), at);
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

function markAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}

function contentOf(bytes: Buffer, at: number): Buffer {
  const [packedSize, headerAt] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 42)];
  if (packedSize === 0xffffffff || headerAt === 0xffffffff) throw damaged('it is a Zip64 archive, which is not read');
  const [flags, method] = [bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10)];
  if ((flags & 1) === 1) throw usage('it is protected by a password', 'Open it, and save it without one.');
  if (markAt(bytes, headerAt) !== headerMark || headerAt + 30 > bytes.length) throw damaged('a file is missing');
  const start = headerAt + 30 + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
  const packed = bytes.subarray(start, start + packedSize);
  if (packed.length < packedSize) throw damaged('it is cut off');
  if (method !== 0 && method !== 8) throw damaged(`its compression (${method}) is unknown`);
  const content = method === 0 ? packed : inflate(packed);
  if (crc32(content) !== bytes.readUInt32LE(at + 16)) throw damaged('a checksum is wrong');
  return content;
}

function inflate(packed: Buffer): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: maxFileBytes });
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
    if (cause.code !== 'ERR_BUFFER_TOO_LARGE') throw damaged('its compressed data are broken');
    const hint = 'Copy the columns that count into a new workbook.';
    throw usage('a sheet, or the texts of all, is larger than 128 MiB', hint);
  }
}

/** A failure of a file that is a zip archive by its first bytes. */
export function damaged(reason: string): Failure {
  return usage(
    `a damaged workbook: ${reason}`,
    'Open it in the spreadsheet program and save it again, or save it as "CSV UTF-8".',
  );
}
