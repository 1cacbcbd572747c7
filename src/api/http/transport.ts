import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { Milliseconds } from '../../core/duration.ts';
import { nextTurn } from '../../core/outside.ts';
import { Failure, abortReason } from '../../core/failure.ts';
import { Answer } from './answer.ts';
import type { Call, Connection } from './call.ts';
import type { Request } from './request.ts';
import { Cancellation, dispatchIn, type Dispatch } from './route.ts';
import { isTrouble, sentError, TransportError } from './transport-error.ts';

/**
 * Sends a request to `url`, its own or a redirect's. `timeout`: from the first packet of connecting to the last of the
 * answer. @throws TransportError, Failure config, or an error of undici
 */
export async function exchange(
  { dispatcher, surroundings, alarm, signal, bodyLimit }: Wire,
  { method, headers: sent, body: given, shown }: Request,
  url: string,
  { download, outlasts }: Pick<Call, 'download' | 'outlasts'>,
  timeout: Milliseconds,
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
  const stopAgain = (event: Event): void => {
    if (!outlasts?.includes('Ctrl-C')) return;
    event.preventDefault();
    cancellation.cancel(abortReason(signal));
  };
  signal.addEventListener('abort', stop);
  signal.addEventListener('again', stopAgain);
  let unread: Readable | undefined;
  try {
    const { status, headers, body } = await receiveHead(dispatch, options, cancellation);
    unread = body;
    const content = decompress(body, headers['content-encoding']);
    let bytes = new Uint8Array();
    if (download && status === 200) await download.take(headers, upTo(download.maxBytes, content, 'file too large'));
    else bytes = await bytesOf(upTo(bodyLimit, content, 'body too large'));
    return new Answer({ method, url: shown, status }, headers, bytes);
  } finally {
    // A reader that refuses a download by its headers leaves the body unread.
    unread?.destroy();
    cancelAlarm();
    signal.removeEventListener('abort', stop);
    signal.removeEventListener('again', stopAgain);
  }
}

type Wire = Pick<Connection, 'dispatcher' | 'surroundings' | 'alarm' | 'signal' | 'bodyLimit'>;
type Head = Pick<Answer, 'status' | 'headers'> & { readonly body: Readable };

/** Bytes that may wait for the reader before the sender is paused. */
const mostWaiting = 256 * 1024;

function receiveHead(dispatch: Dispatch, options: Dispatcher.DispatchOptions, cancellation: Cancellation) {
  return new Promise<Head>((resolve, reject) => {
    let body: Readable | undefined;
    /** Bytes to come; NaN where the length is not known. */
    let left = NaN;
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
        // The connection may break before the reader begins, who is then told by the iterator.
        body.on('error', () => undefined);
        resolve({ status, headers, body });
      },
      onResponseData(controller, chunk) {
        left -= chunk.length;
        // Not at the last byte either: no header says that an answer of HTTP/1.0 ends its connection.
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

/** The requested codings; any other is left: its bytes are no JSON, which the caller reports. */
function decompress(body: Readable, encoding: unknown): Readable {
  // The error of the source reaches the reader through the decoder.
  if (encoding === 'gzip') return pipeline(body, createGunzip(), () => undefined);
  return encoding === 'br' ? pipeline(body, createBrotliDecompress(), () => undefined) : body;
}

/** @throws TransportError past the limit, and for a broken stream or a damaged compression */
async function* upTo(limit: number, body: AsyncIterable<Uint8Array>, past: 'body too large' | 'file too large') {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > limit) throw new TransportError(past, { detail: `${limit}` });
      yield chunk;
    }
  } catch (cause) {
    throw sentError(cause);
  }
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
