import { pipeline, Readable, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Spool } from '../../core/spool.ts';
import { TooLarge } from './broken.ts';

const decoders: Readonly<Record<string, (() => Duplex) | undefined>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/** A server that compresses compresses once; some proxies do it again. */
const maxEncodings = 3;

/** A body as it came, and as the text that it is. */
export interface WireBody {
  readonly bytes: Uint8Array;
  /** Decoded when it is first asked for. */
  readonly text: string;
  /** Where the whole body is, if it is too long for memory: `bytes` and `text` are then its beginning. Whoever reads the answer closes it. */
  readonly spool?: Spool | undefined;
  /** Gives up the bytes and the text, which are empty then. */
  release(): void;
}

/** How much of a body is taken, counted after decompression. */
export interface BodyLimits {
  /** Bytes that are held in memory. */
  readonly memory: number;
  /** What takes the bytes of a longer body, up to that many in all; absent: a longer body is refused. */
  readonly spool?: { readonly open: () => Promise<Spool>; readonly limit: number } | undefined;
}

/**
 * The whole body, decompressed.
 * @throws TooLarge past the limits; the error of a broken stream or a damaged compression
 */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  encoding: unknown,
  { memory, spool: way }: BodyLimits,
): Promise<WireBody> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let spool: Spool | undefined;
  try {
    for await (const chunk of decompressed(body, encoding)) {
      size += chunk.length;
      if (size > (way?.limit ?? memory)) throw new TooLarge();
      if (size > memory && way && !spool) {
        spool = await way.open();
        for (const first of chunks) await spool.write(first);
        chunks = [chunks[0] ?? chunk];
      }
      if (spool) await spool.write(chunk);
      else chunks.push(chunk);
    }
  } catch (cause) {
    await spool?.close();
    throw cause;
  }
  return new WholeBody(chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? new Uint8Array()), spool);
}

/** A class, since V8 defines the getters of an object literal again for each object, which takes longer than reading a small body. */
class WholeBody implements WireBody {
  readonly spool: Spool | undefined;
  #bytes: Uint8Array;
  #text: string | undefined;

  constructor(bytes: Uint8Array, spool: Spool | undefined) {
    this.#bytes = bytes;
    this.spool = spool;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get text(): string {
    return (this.#text ??= utf8().decode(this.#bytes));
  }

  release(): void {
    this.#bytes = new Uint8Array();
    this.#text = undefined;
  }
}

let decoder: TextDecoder | undefined;

/** One for all bodies; made at the first. */
function utf8(): TextDecoder {
  return (decoder ??= new TextDecoder('utf-8'));
}

/** A coding that is unknown is left: its bytes are no JSON, which the caller reports. */
function decompressed(body: AsyncIterable<Uint8Array>, encoding: unknown): AsyncIterable<Uint8Array> {
  const names = typeof encoding === 'string' ? encoding.toLowerCase().split(',').slice(0, maxEncodings) : [];
  const known = names.flatMap((name) => (Object.hasOwn(decoders, name.trim()) ? (decoders[name.trim()] ?? []) : []));
  if (known.length === 0) return body;
  // The error of the source reaches the reader through the decoder.
  return known.reduceRight<Readable>(
    (stream, decoder) => pipeline(stream, decoder(), () => undefined),
    Readable.from(body),
  );
}
