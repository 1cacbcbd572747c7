import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Milliseconds } from '../core/duration.ts';
import { messageOf } from '../core/failure.ts';
import type { Clock } from '../core/system.ts';
import { maxRequestLine } from '../schema/messages.ts';
import { proxyPage, unknownPage, type SandboxAnswer } from './answer.ts';
import { answerChat } from './chat.ts';
import type { ChatService } from './chat/chat-call.ts';
import { batchSize } from './chat/channels.ts';
import { respond, send, ownError, type Api } from './exchange.ts';
import type { SandboxFault, Faults } from './faults.ts';
import { answerLicensing } from './licensing.ts';
import type { LicensingService } from './licensing/licensing-call.ts';
import type { Transaction } from './state.ts';
import { readRequest, type SandboxRequest } from './request.ts';

/** A request and its end. Holds no credential, no query and no body; a license code in the path is hidden. */
export interface LogEntry {
  /** When it came, in milliseconds. */
  readonly time: Milliseconds;
  readonly api: Api;
  readonly method: string;
  readonly path: string;
  /** Null where the client got none. */
  readonly status: number | null;
  readonly fault: string | null;
  /** True if the request changed something for good. */
  readonly committed: boolean;
  /** A bug of the sandbox, data that could not be written, or a client that left before it had asked. */
  readonly error?: string;
}

export interface SandboxSession {
  readonly clock: Clock;
  readonly faults: Faults | undefined;
  /** Added before each answer. */
  readonly latency: Milliseconds;
  readonly log: (entry: LogEntry) => void;
  readonly services: { readonly licensing: LicensingService; readonly chat: ChatService };
  readonly transaction: Transaction;
  /** Aborts when the sandbox closes. */
  readonly closing: AbortSignal;
}

/** Reads one request, draws its fault, answers it, and writes the log entry. Never rejects because of a client. */
export async function serve(
  session: SandboxSession,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { clock, closing, services } = session;
  const time = clock.now();
  const [path = '/'] = (incoming.url ?? '/').split('?', 1);
  const method = incoming.method ?? 'GET';
  const fault = session.faults?.draw(method, path);
  const isChat = path.startsWith('/api/v1/') || path.startsWith('/user_uploads/');
  const api: Api = path.startsWith('/v1/') ? 'licensing' : isChat ? 'chat' : 'none';
  const shownPath = path.replace(/^(\/v1\/license\/)[^/]+/, '$1[license_code]');
  let committed = false;
  const entry = { time, api, method, path: shownPath, fault: fault?.kind ?? null };
  const end = (status: number | null, details: Pick<LogEntry, 'error'> = {}) =>
    session.log({ ...entry, status, committed, ...details });
  try {
    const request = await readRequest(incoming);
    if (session.latency > 0) await clock.sleep(session.latency, closing);
    const carryOut = async () => {
      const outcome = await session.transaction(() => answer(session, api, request, fault));
      committed = outcome.committed;
      return outcome.answer;
    };
    end(await respond({ outgoing, api, level: services.chat.level, clock, closing, carryOut }, fault));
  } catch (cause) {
    const isLate = outgoing.headersSent || outgoing.destroyed;
    if (isLate) outgoing.destroy();
    end(isLate ? null : send({ outgoing, clock }, ownError(api)), { error: messageOf(cause) });
  }
}

/** False for a foreign name: a web page could let its own name lead to this address, and read the sandbox. */
function isOwnHost(host = 'localhost'): boolean {
  const name = host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return isIP(name) !== 0 || /(^|\.)localhost$/i.test(name);
}

/** Request lines above 8 KiB and bodies above 25 MB end at the proxy (docs/apis.md, Envelope and errors). */
function answer(
  { services }: SandboxSession,
  api: Api,
  request: SandboxRequest | undefined,
  fault: SandboxFault | undefined,
): SandboxAnswer {
  if (!request) return proxyPage(413);
  if (!isOwnHost(request.headers.host)) return proxyPage(421);
  if (request.method.length + request.target.length + ' HTTP/1.1'.length + 3 > maxRequestLine) return proxyPage(414);
  if (api === 'licensing') return answerLicensing(services.licensing, request);
  if (api === 'none') return unknownPage();
  return answerChat({ ...services.chat, ...changedBy(fault) }, request);
}

/** Changes of the service by a fault: the time that a delete_topic call has. */
function changedBy(fault: SandboxFault | undefined): Partial<ChatService> {
  if (fault?.kind.startsWith('early')) return { deleteBatches: Number(fault.argument) / batchSize };
  if (fault?.kind === 'goes-on') return { deleteBatches: Infinity };
  return {};
}
