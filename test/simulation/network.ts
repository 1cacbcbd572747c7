import { STATUS_CODES, type IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { connectError } from '../../src/api/http/transport-error.ts';
import type { SandboxAnswer } from '../../src/sandbox/answer.ts';
import type { SandboxRequest } from '../../src/sandbox/request.ts';
import { actingProcess, type Process } from './computer.ts';

/** What the client sees of an exchange; `nothing`: neither an answer nor an end. */
export type Reply =
  | { readonly kind: 'answer' | 'cut'; readonly answer: SandboxAnswer }
  | { readonly kind: 'dropped' | 'refused' | 'nothing' };

/** Takes a request when it arrives, and replies when it likes. What it does goes on when the client is dead. */
export type Server = (request: SandboxRequest, client: Process, reply: (reply: Reply) => void) => void;

/** The network of one process: each request arrives after a while, and so does each reply. */
export function dispatcherTo(server: Server): Dispatcher {
  const dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    const client = actingProcess();
    const { world } = client.computer;
    const request = requestOf(options);
    const travel = (): number => 1 + world.chance.next() * 20;
    let isOver = false;
    const controller: Dispatcher.DispatchController = {
      ...{ aborted: false, paused: false, reason: null },
      pause: () => undefined,
      resume: () => undefined,
      abort: (reason: Error) => {
        if (isOver) return;
        isOver = true;
        handler.onResponseError?.(controller, reason);
      },
    };
    void client.call(request.method, request.target, () => {
      if (isOver) return;
      handler.onRequestStart?.(controller, {});
      world.time.after(travel(), () => {
        server(request, client, (reply) => {
          client.tell(() => `  ${request.method} ${request.target}: ${replyText(reply)}`);
          client.later(travel(), () => {
            if (isOver || reply.kind === 'nothing') return;
            isOver = true;
            deliver(reply, handler, controller, request);
          });
        });
      });
    });
    return true;
  };
  // undici's own class has a dozen members that nobody here calls.
  return { dispatch } as unknown as Dispatcher;
}

function deliver(
  reply: Exclude<Reply, { readonly kind: 'nothing' }>,
  handler: Dispatcher.DispatchHandler,
  controller: Dispatcher.DispatchController,
  { origin }: SandboxRequest,
): void {
  if (reply.kind === 'refused') {
    const refusal = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
    handler.onResponseError?.(controller, connectError(refusal, new URL(origin).hostname, undefined));
    return;
  }
  const broken = (): Error => Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
  if (!('answer' in reply)) return handler.onResponseError?.(controller, broken());
  const { status, headers, body } = reply.answer;
  const bytes = Buffer.from(body);
  handler.onResponseStart?.(
    controller,
    status,
    { 'content-length': `${bytes.length}`, ...headers },
    STATUS_CODES[status] ?? '',
  );
  if (reply.kind === 'cut') {
    handler.onResponseData?.(controller, bytes.subarray(0, bytes.length >> 1));
    return handler.onResponseError?.(controller, broken());
  }
  if (bytes.length > 0) handler.onResponseData?.(controller, bytes);
  handler.onResponseEnd?.(controller, {});
}

function replyText(reply: Reply): string {
  if (!('answer' in reply)) return reply.kind;
  const { status, body } = reply.answer;
  return `${reply.kind === 'cut' ? 'cut ' : ''}${status} ${body.length > 200 ? `${body.slice(0, 200)}…` : body}`;
}

function requestOf({ method, path, origin, headers, body }: Dispatcher.DispatchOptions): SandboxRequest {
  const sent = headersOf(headers);
  const [place = '', ...query] = path.split('?');
  const bytes = bodyOf(body);
  const mediaType = ((sent['content-type'] ?? '').split(';')[0] ?? '').trim().toLowerCase();
  return {
    ...{ method, target: path, path: decodeURIComponent(place), query: new URLSearchParams(query.join('?')) },
    form: new URLSearchParams(mediaType === 'application/x-www-form-urlencoded' ? bytes.toString('utf8') : ''),
    ...{ headers: sent, mediaType, body: bytes, origin: String(origin), address: '127.0.0.1' },
  };
}

function headersOf(headers: Dispatcher.DispatchOptions['headers']): IncomingHttpHeaders {
  const lower: IncomingHttpHeaders = {};
  const pairs: readonly (readonly [string, unknown])[] = Array.isArray(headers)
    ? headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]] as const] : []))
    : Object.entries(headers ?? {});
  for (const [name, value] of pairs) if (typeof value === 'string') lower[name.toLowerCase()] = value;
  return lower;
}

function bodyOf(body: unknown): Buffer {
  if (body === null || body === undefined) return Buffer.alloc(0);
  if (typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body);
  throw new Error('the simulation sends texts and bytes alone');
}
