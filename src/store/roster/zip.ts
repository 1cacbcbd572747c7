import { crc32, createInflateRaw } from 'node:zlib';
import { usage, type Failure } from '../../core/failure.ts';

interface ZipEntry {
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly crc: number;
  readonly size: number;
  readonly packedSize: number;
  readonly headerAt: number;
}

export type Zip = ReturnType<typeof openZip>;

/** A small archive may unpack to a thousand times its size. */
const maxPartBytes = 128 * 1024 * 1024;

const [endMark, entryMark, headerMark, endMark64] = ['PK\x05\x06', 'PK\x01\x02', 'PK\x03\x04', 'PK\x06\x06'];
const endSize = 22;

/** Reads a zip archive's directory (APPNOTE.TXT 4.3), also that of large archives. @throws Failure usage for none */
export function openZip(bytes: Buffer) {
  const entries = directoryOf(bytes);
  return {
    names: [...entries.keys()],
    /** The content of a file in pieces, if there is one. @throws Failure usage for a damaged, locked or large one */
    async *read(name: string): AsyncGenerator<Buffer, void, undefined> {
      const entry = entries.get(name);
      if (entry) yield* contentOf(bytes, entry);
    },
  };
}

function directoryOf(bytes: Buffer): ReadonlyMap<string, ZipEntry> {
  const end = bytes.lastIndexOf(endMark, undefined, 'latin1');
  if (end < 0 || end + endSize > bytes.length) throw damaged('it is cut off');
  const end64 = bytes.lastIndexOf(endMark64, end, 'latin1');
  const isLarge = bytes.readUInt32LE(end + 16) === 0xffffffff && end64 >= 0;
  const entries = new Map<string, ZipEntry>();
  try {
    let at = isLarge ? wholeNumber(bytes, end64 + 48) : bytes.readUInt32LE(end + 16);
    for (const limit = isLarge ? end64 : end; at < limit && markAt(bytes, at) === entryMark;) {
      const [nameSize, extraSize, noteSize] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field));
      const [nameEnd, extraEnd] = [at + 46 + (nameSize ?? 0), at + 46 + (nameSize ?? 0) + (extraSize ?? 0)];
      entries.set(bytes.toString('utf8', at + 46, nameEnd), {
        method: bytes.readUInt16LE(at + 10),
        isEncrypted: (bytes.readUInt16LE(at + 8) & 1) === 1,
        crc: bytes.readUInt32LE(at + 16),
        ...placeOf(bytes, at, nameEnd, extraEnd),
      });
      at = extraEnd + (noteSize ?? 0);
    }
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw damaged('its directory is broken');
  }
  return entries;
}

/** A file's place and size: in the extra field 1 where the numbers do not fit, or a writer put them there anyway. */
function placeOf(bytes: Buffer, at: number, nameEnd: number, extraEnd: number) {
  let extra = nameEnd;
  while (extra + 4 <= extraEnd && bytes.readUInt16LE(extra) !== 1) extra += 4 + bytes.readUInt16LE(extra + 2);
  extra += 4;
  // In this order, and only those that are full in the entry.
  const [size = 0, packedSize = 0, headerAt = 0] = [24, 20, 42].map((field) => {
    const short = bytes.readUInt32LE(at + field);
    if (short !== 0xffffffff) return short;
    extra += 8;
    return wholeNumber(bytes, extra - 8);
  });
  return { size, packedSize, headerAt };
}

function wholeNumber(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

function markAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}

async function* contentOf(bytes: Buffer, entry: ZipEntry): AsyncGenerator<Buffer, void, undefined> {
  if (entry.isEncrypted) throw usage('it is protected by a password', 'Open it, and save it without one.');
  const { headerAt, packedSize, method } = entry;
  if (markAt(bytes, headerAt) !== headerMark || headerAt + 30 > bytes.length) throw damaged('a file is missing');
  const start = headerAt + 30 + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
  const packed = bytes.subarray(start, start + packedSize);
  if (packed.length < packedSize) throw damaged('it is cut off');
  if (method !== 0 && method !== 8) throw damaged(`its compression (${method}) is not known`);
  if (entry.size > maxPartBytes) throw tooLarge();
  let [size, crc] = [0, 0];
  for await (const chunk of method === 0 ? [packed] : inflate(packed)) {
    size += chunk.length;
    if (size > maxPartBytes) throw tooLarge();
    crc = crc32(chunk, crc);
    yield chunk;
  }
  if (crc !== entry.crc) throw damaged('a checksum is wrong');
}

function tooLarge(): Failure {
  return usage(
    'a sheet, or the texts of all, is larger than 128 MiB',
    'Copy the columns that count into a new workbook.',
  );
}

async function* inflate(packed: Buffer): AsyncGenerator<Buffer, void, undefined> {
  const stream = createInflateRaw({ chunkSize: 64 * 1024 });
  stream.end(packed);
  try {
    for await (const chunk of stream) if (Buffer.isBuffer(chunk)) yield chunk;
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
    throw damaged('its compressed data are broken');
  }
}

/** A failure of a file that is a zip archive by its first bytes. */
export function damaged(reason: string): Failure {
  return usage(
    `a damaged workbook: ${reason}`,
    'Open it in the spreadsheet program and save it again, or save it as "CSV UTF-8".',
  );
}
