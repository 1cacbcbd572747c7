import { pipeline, Readable, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { abortReason } from '../../core/abort-reason.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Spool } from '../../core/spool.ts';
import type { Alarm } from '../../core/world.ts';
import { ReceivedAnswer } from './answer.ts';
import { TimedOut, TooLarge, Unconnected } from './fault.ts';
import type { Answer, BodyLimits } from './call.ts';
import { Cancellation, dispatchFor } from './route.ts';

/** One request as it is sent. */
export interface WireRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: string;
  /** The URL without secrets. */
  readonly shown: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
  /** From the first packet of connecting to the last of the answer. */
  readonly timeout: Milliseconds;
  readonly alarm: Alarm;
  readonly bodyLimits: BodyLimits;
  readonly signal: AbortSignal;
}

/**
 * Sends one request and reads the whole answer. Redirects are not followed here.
 * @throws Unconnected where nothing was sent, TimedOut, TooLarge, the signal's reason, or an error of undici
 */
export async function exchange(dispatcher: Dispatcher, request: WireRequest): Promise<ReceivedAnswer> {
  const { method, shown: url, timeout, alarm, bodyLimits, signal } = request;
  if (signal.aborted) throw new Unconnected(signal.reason);
  const cancellation = new Cancellation();
  const cancelAlarm = alarm(timeout, () => cancellation.cancel(new TimedOut()));
  const stop = (): void => cancellation.cancel(abortReason(signal));
  signal.addEventListener('abort', stop);
  try {
    const { status, headers, body } = await receive(dispatcher, optionsOf(request), cancellation);
    const isSuccess = status >= 200 && status < 300;
    const limits = isSuccess ? bodyLimits : { memory: bodyLimits.memory };
    const read = await readBody(decompressed(body, headers['content-encoding']), limits);
    // undici frees the connection a turn after the body: a request before that would open another one, with another handshake.
    await new Promise((resolve) => setImmediate(resolve));
    return new ReceivedAnswer({ method, url, status }, headers, read);
  } finally {
    cancelAlarm();
    signal.removeEventListener('abort', stop);
  }
}

let last = { url: '', origin: '', path: '' };

/** Requests to one URL follow one another: it is parsed for the first of them. */
function optionsOf({ url, method, headers, body }: WireRequest): Dispatcher.DispatchOptions {
  if (url !== last.url) {
    const { origin, pathname, search } = new URL(url);
    last = { url, origin, path: pathname + search };
  }
  const { origin, path } = last;
  return { origin, path, method, headers, body: body ?? null };
}

/** An answer whose body is still on its way. */
interface Head {
  readonly status: number;
  readonly headers: Answer['headers'];
  readonly body: Readable;
}

/** Bytes that may wait for the reader before the sender is paused. */
const mostWaiting = 256 * 1024;

/** Dispatches a request, and resolves when the head of its answer is there. */
function receive(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  cancellation: Cancellation,
): Promise<Head> {
  return new Promise((resolve, reject) => {
    let body: Readable | undefined;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => cancellation.whenCancelled((reason) => controller.abort(reason)),
      onResponseStart(controller, status, headers) {
        if (status < 200) return;
        body = new Readable({
          highWaterMark: mostWaiting,
          read: () => controller.resume(),
          destroy(cause, done) {
            controller.abort(cause ?? new Error('the rest of the answer is not wanted'));
            done(cause);
          },
        }).on('error', () => undefined);
        resolve({ status, headers, body });
      },
      onResponseData(controller, chunk) {
        if (body?.push(chunk) === false) controller.pause();
      },
      onResponseEnd: () => body?.push(null),
      onResponseError(_controller, cause) {
        if (body) body.destroy(cause);
        else reject(cause);
      },
    };
    dispatchFor(cancellation, () => dispatcher.dispatch(options, handler));
  });
}

const decoders: Readonly<Record<string, (() => Duplex) | undefined>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

/** A server that compresses compresses once; some proxies do it again. */
const maxEncodings = 3;

/** A coding that is unknown is left: its bytes are no JSON, which the caller reports. */
function decompressed(body: Readable, encoding: unknown): Readable {
  const names = typeof encoding === 'string' ? encoding.toLowerCase().split(',').slice(0, maxEncodings) : [];
  const known = names.flatMap((name) => (Object.hasOwn(decoders, name.trim()) ? (decoders[name.trim()] ?? []) : []));
  // The error of the source reaches the reader through the decoder.
  return known.reduceRight((stream, decoder) => pipeline(stream, decoder(), () => undefined), body);
}

/**
 * The whole body.
 * @throws TooLarge past the limits; the error of a broken stream or a damaged compression
 */
async function readBody(
  body: AsyncIterable<Uint8Array>,
  { memory, spool: way }: BodyLimits,
): Promise<{ bytes: Uint8Array; spool: Spool | undefined }> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  let spool: Spool | undefined;
  try {
    for await (const chunk of body) {
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
  return { bytes: chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? new Uint8Array()), spool };
}
