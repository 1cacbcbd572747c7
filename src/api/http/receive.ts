import type { Dispatcher } from 'undici';
import { abortReason } from '../../core/abort-reason.ts';
import { openArrivals, type Arrivals } from './arrivals.ts';

/** An answer whose body is still on its way. */
export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Dispatches a request, and resolves when the head of its answer is there. Not undici's `request`, whose streams cost each answer more
 * than its bytes do (docs/architecture.md, Start-up).
 */
export function receive(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let body: Arrivals | undefined;
    const stop = (): void => controller?.abort(abortReason(signal));
    signal.addEventListener('abort', stop);
    dispatcher.dispatch(options, {
      onRequestStart(given) {
        controller = given;
        if (signal.aborted) stop();
      },
      onResponseStart(given, status, headers) {
        const isInformational = status < 200;
        if (!isInformational) resolve({ status, headers, body: (body = openArrivals(given)) });
      },
      onResponseData: (_controller, chunk) => body?.add(chunk),
      onResponseEnd() {
        signal.removeEventListener('abort', stop);
        body?.close();
      },
      onResponseError(_controller, cause) {
        signal.removeEventListener('abort', stop);
        if (body) body.close(cause);
        else reject(cause);
      },
    });
  });
}
