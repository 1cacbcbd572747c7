import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { promisify } from 'node:util';
import { constants, createReadStream, fstat, openDescriptor, nextTurn, type Stats } from './outside.ts';
import { abortReason, type Failure, unless, usage } from './failure.ts';

export interface ReadLimits {
  /** Ends the reading with its reason, also while nothing comes. */
  readonly signal: AbortSignal;
  readonly maxBytes: number;
}

/** More came than may be read: somebody writes without end, or the file is the wrong one. */
export class TooMuchInput extends Error {
  constructor(maxBytes: number) {
    const mebibyte = 1024 * 1024;
    super(`it is larger than ${maxBytes >= mebibyte ? `${maxBytes / mebibyte} MiB` : `${maxBytes / 1024} KiB`}`);
  }
}

/** The text of a stream up to the end of the first line, or a little more. @throws as readText */
export async function readStartText(stream: Readable, limits: ReadLimits): Promise<string> {
  const bytes = await readStreamBytes(stream, limits, (chunk) => chunk.includes('\n'));
  // A character behind the first line may be cut.
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes);
  if (/^.*\ufffd/.test(text)) throw notDecoded(bytes);
  return text;
}

/** The whole text of a stream. @throws as readStreamBytes and decodeText */
export async function readText(stream: Readable, limits: ReadLimits): Promise<string> {
  return decodeText(await readStreamBytes(stream, limits));
}

/** A text that people give: UTF-8, or what its byte order mark says. @throws Failure usage for other bytes */
export function decodeText(bytes: Uint8Array, hint?: string): string {
  const text = unless(TypeError, () => new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes));
  if (text === undefined) throw notDecoded(bytes, hint);
  return text;
}

/** What would be read in place of these bytes, U+FFFD, would be sent: another name than that of the file. */
function notDecoded(bytes: Uint8Array, hint = 'Save it as UTF-8.'): Failure {
  return usage(`not valid ${encodingOf(bytes) === 'utf-8' ? 'UTF-8' : 'UTF-16'}`, hint);
}

/** Encodings have byte order marks; Windows' editors and PowerShell write them. TextDecoder leaves the mark out. */
function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}

/** All bytes of a file. @throws TooMuchInput, the signal's reason, or an error of the file system */
export async function readFileBytes(path: string, limits: ReadLimits): Promise<Buffer> {
  return readStreamBytes((await openInput(path)).stream, limits);
}

/** All bytes of a stream, or enough. @throws TooMuchInput, the signal's reason, or an error of the stream */
export async function readStreamBytes(
  stream: AsyncIterable<Buffer | string> & Pick<Readable, 'destroy'>,
  { signal, maxBytes }: ReadLimits,
  isEnough: (chunk: Buffer) => boolean = () => false,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const stop = (): void => void stream.destroy(abortReason(signal));
  signal.addEventListener('abort', stop);
  try {
    if (signal.aborted) stop();
    for await (const piece of stream) {
      const chunk = Buffer.from(piece);
      chunks.push(chunk);
      size += chunk.length;
      if (isEnough(chunk)) break;
      if (size > maxBytes) throw new TooMuchInput(maxBytes);
    }
    // In a pipe Ctrl-C ends the program before us too. Its end of file may arrive before our own signal, which the
    // event loop looks for between these two turns.
    await nextTurn();
    await nextTurn();
  } catch (cause) {
    if (!signal.aborted) throw cause;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  signal.throwIfAborted();
  return Buffer.concat(chunks);
}

/** Opens a file for reading. A FIFO, a pipe or a terminal occupies no thread, which nothing could interrupt. */
export async function openInput(path: string): Promise<{ readonly stream: Readable; readonly stats: Stats }> {
  const fd = await promisify(openDescriptor)(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await promisify(fstat)(fd);
  if (stats.isFIFO() || stats.isSocket()) return { stats, stream: new Socket({ fd, readable: true, writable: false }) };
  return { stats, stream: isatty(fd) ? new ReadStream(fd) : createReadStream('', { fd }) };
}
