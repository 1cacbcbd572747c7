import type { Dispatcher } from 'undici';
import { abortReason } from '../../core/abort-reason.ts';
import { Arrivals } from './arrivals.ts';
import type { Cancellation } from './cancellation.ts';
import { connectingFor } from './connector.ts';

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
  cancellation: Cancellation,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    let body: Arrivals | undefined;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        cancellation.whenCancelled((reason) => controller.abort(abortReason({ reason })));
      },
      onResponseStart(controller, status, headers) {
        const isInformational = status < 200;
        if (!isInformational) resolve({ status, headers, body: (body = new Arrivals(controller)) });
      },
      onResponseData: (_controller, chunk) => body?.add(chunk),
      onResponseEnd: () => body?.close(),
      onResponseError(_controller, cause) {
        if (body) body.close(cause);
        else reject(cause);
      },
    };
    connectingFor(cancellation, () => dispatcher.dispatch(options, handler));
  });
}
