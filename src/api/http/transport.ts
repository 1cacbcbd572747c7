import { pipeline, Readable, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Milliseconds } from '../../core/duration.ts';
import { nextTurn } from '../../core/outside.ts';
import type { Spool } from '../../core/read.ts';
import { Failure, abortReason } from '../../core/failure.ts';
import { Answer, type ReadBody } from './answer.ts';
import type { BodyLimits, Call, Connection } from './call.ts';
import type { Request } from './request.ts';
import { Cancellation, dispatchIn, type Dispatch } from './route.ts';
import { isTrouble, TransportError } from './transport-error.ts';

interface ExchangeLimits extends Pick<Call, 'outlasts'> {
  /** From the first packet of connecting to the last of the answer. */
  readonly timeout: Milliseconds;
  readonly body: BodyLimits;
}

/** Sends a request to `url`, its own or a redirect's. @throws TransportError, Failure config, or an error of undici */
export async function exchange(
  { dispatcher, surroundings, alarm, signal }: Pick<Connection, 'dispatcher' | 'surroundings' | 'alarm' | 'signal'>,
  { method, headers: sent, body: given, shown }: Request,
  url: string,
  { timeout, body: bodyLimits, outlasts }: ExchangeLimits,
): Promise<Answer> {
  const dispatch = dispatcher ? dispatcher.dispatch.bind(dispatcher) : await dispatchIn(surroundings, signal);
  // Sent one turn after the last answer was read. Earlier, undici has not freed the connection and would open another,
  // and has not polled it for what no request asked for (test/network/second-answer.test.ts).
  await nextTurn();
  const isOutlasted = (reason: unknown): boolean =>
    reason instanceof Failure && (outlasts === 'interruption' ? reason.isInterruption : reason.kind === 'cancelled');
  if (signal.aborted && !(outlasts === 'earlier Ctrl-C' && isOutlasted(signal.reason)))
    throw new TransportError('no connection', { cause: signal.reason });
  const { origin, pathname, search } = new URL(url);
  const options = { origin, path: pathname + search, method, headers: sent, body: given ?? null };
  const cancellation = new Cancellation();
  const cancelAlarm = alarm(timeout, () => cancellation.cancel(new TransportError('timeout')));
  const stop = (): void => {
    const reason = abortReason(signal);
    if (!(outlasts && isOutlasted(reason) && cancellation.isSent)) cancellation.cancel(reason);
  };
  signal.addEventListener('abort', stop);
  try {
    const { status, headers, body, received } = await receiveHead(dispatch, options, cancellation);
    const isSuccess = status >= 200 && status < 300;
    const limits = isSuccess ? bodyLimits : { ...bodyLimits, spool: undefined };
    const read = await readBody(decompress(body, headers['content-encoding']), limits, received);
    return new Answer({ method, url: shown, status }, headers, read);
  } finally {
    cancelAlarm();
    signal.removeEventListener('abort', stop);
  }
}

type Head = Pick<Answer, 'status' | 'headers'> & { readonly body: Readable; readonly received: () => number };

/** Bytes that may wait for the reader before the sender is paused. */
const mostWaiting = 256 * 1024;

function receiveHead(dispatch: Dispatch, options: Dispatcher.DispatchOptions, cancellation: Cancellation) {
  return new Promise<Head>((resolve, reject) => {
    let body: Readable | undefined;
    /** Bytes to come; NaN where the length is not known. */
    let left = NaN;
    let bytes = 0;
    let mayPause = false;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        cancellation.isSent = true;
        cancellation.whenCancelled((reason) => controller.abort(reason));
      },
      onResponseStart(controller, status, headers) {
        if (status < 200) return;
        cancellation.isSpoiled = isTrouble(status);
        left = Number(headers['content-length']);
        mayPause = !endsConnection(headers);
        body = new Readable({
          highWaterMark: mostWaiting,
          read: () => controller.resume(),
          destroy(cause, done) {
            controller.abort(cause ?? new Error('the rest of the answer is not wanted'));
            done(cause);
          },
        });
        resolve({ status, headers, body, received: () => bytes });
      },
      onResponseData(controller, chunk) {
        left -= chunk.length;
        bytes += chunk.length;
        // Nor at the last byte: no header says that an answer of HTTP/1.0 ends its connection.
        if (body?.push(chunk) === false && mayPause && left !== 0) controller.pause();
      },
      onResponseEnd: () => body?.push(null),
      onResponseError(_controller, cause) {
        if (body) body.destroy(cause);
        else reject(cause);
      },
    };
    dispatch(options, handler, cancellation);
  });
}

/** Such an answer is not paused: where its connection ends meanwhile, undici 7.30.2 throws outside of any promise. */
function endsConnection(headers: Head['headers']): boolean {
  const isOpenEnded = headers['content-length'] === undefined && headers['transfer-encoding'] === undefined;
  return isOpenEnded || /\bclose\b/i.test(String(headers['connection']));
}

const decoders: ReadonlyMap<string, () => Duplex> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
]);

/** A server that compresses compresses once; some proxies do it again. */
const maxEncodings = 3;

/** A coding that is unknown is left: its bytes are no JSON, which the caller reports. */
function decompress(body: Readable, encoding: unknown): Readable {
  const names = typeof encoding === 'string' ? encoding.toLowerCase().split(',').slice(0, maxEncodings) : [];
  const known = names.flatMap((name) => decoders.get(name.trim()) ?? []);
  // The error of the source reaches the reader through the decoder.
  return known.reduceRight((stream, decoder) => pipeline(stream, decoder(), () => undefined), body);
}

/** More than gzip unpacks a byte to: what grows further was packed several times, to fill a disk. */
const mostUnpacked = 1100;

/** The whole body. @throws TransportError past the limits; the error of a broken stream or a damaged compression */
async function readBody(
  body: AsyncIterable<Uint8Array>,
  { memory, spool: way, isOfFile }: BodyLimits,
  received: () => number,
): Promise<ReadBody> {
  const limit = way?.limit ?? memory;
  let chunks: Uint8Array[] = [];
  let size = 0;
  let spool: Spool | undefined;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > limit || (size > memory && size > received() * mostUnpacked))
        throw new TransportError(isOfFile ? 'file too large' : 'body too large', { detail: `${limit}` });
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
  return { bytes: chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? new Uint8Array()), spool, size };
}
