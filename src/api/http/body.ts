import { pipeline, type Duplex, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
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
}

/**
 * The whole body, decompressed.
 * @throws TooLarge past `limit` bytes, counted after decompression; the error of a broken stream or a damaged compression
 */
export async function readBody(body: Readable, encoding: unknown, limit: number): Promise<WireBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const pieces: AsyncIterable<Uint8Array> = decompressed(body, encoding);
  for await (const chunk of pieces) {
    size += chunk.length;
    if (size > limit) throw new TooLarge();
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks, size);
  let text: string | undefined;
  return {
    bytes,
    get text() {
      return (text ??= new TextDecoder('utf-8').decode(bytes));
    },
  };
}

/** A coding that is unknown is left: its bytes are no JSON, which the caller reports. */
function decompressed(body: Readable, encoding: unknown): Readable {
  const names = typeof encoding === 'string' ? encoding.toLowerCase().split(',').slice(0, maxEncodings) : [];
  return names.reduceRight<Readable>((stream, name) => {
    const decoder = Object.hasOwn(decoders, name.trim()) ? decoders[name.trim()] : undefined;
    // The error of the source reaches the reader through the decoder.
    return decoder ? pipeline(stream, decoder(), () => undefined) : stream;
  }, body);
}
