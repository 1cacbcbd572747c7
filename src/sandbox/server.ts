import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Milliseconds } from '../core/duration.ts';
import type { Clock } from '../core/world.ts';
import { createAllowance } from './allowance.ts';
import { proxyPage, unknownPage, type Answer } from './answer.ts';
import { answerChat, type ChatWorld } from './chat.ts';
import { finish, send } from './exchange.ts';
import { ownError, type Api } from './fault-answers.ts';
import type { Faults } from './faults.ts';
import { inspect, type Inspection } from './inspection.ts';
import type { LicenseShape } from './licensing/shape.ts';
import { answerLicensing, type LicensingWorld } from './licensing.ts';
import { createTransaction, type Persistence } from './persistence.ts';
import type { User } from './records.ts';
import { readRequest, type Request } from './request.ts';
import { sampleApps } from './sample/apps.ts';
import { addExtras, addSample, type Extras } from './sample/sample.ts';
import { samplePeople } from './sample/people.ts';
import { createStore, type State } from './state.ts';

export type { Persistence } from './persistence.ts';
export type { LicenseShape } from './licensing/shape.ts';

/** The newest level that the facts page describes. */
const defaultLevel = 489;

export interface SandboxOptions extends Extras {
  /** 0 or none: any free port. */
  readonly port?: number;
  /** Of the chat service; default 489. */
  readonly featureLevel?: number;
  /** Added before each answer. */
  readonly latency?: Milliseconds;
  readonly faults?: Faults;
  readonly clock: Clock;
  /** One entry for each request, when it has ended; for a delayed commit that is after the commit. */
  readonly log?: (entry: LogEntry) => void;
  /** Without it the state is in memory. */
  readonly persistence?: Persistence;
  /** Batches of 100 messages that one delete_topic call has time for; default 2. */
  readonly deleteBatches?: number;
  /**
   * Calls a minute: of a chat account, default 200, and half of it for an address without credentials; of an application of the
   * licensing service, by default as many as it likes.
   */
  readonly rateLimit?: { readonly perMinute?: number; readonly licensing?: number };
  /** Forms of licensing answers that the specification leaves open. */
  readonly licenseShape?: LicenseShape;
  /** Changes the sample data before the first request; part of the fixed data, never of the log. */
  readonly seed?: (state: State) => void;
}

/** What happened to a request. Holds no credential, no query and no body; a license code in the path is hidden. */
export interface LogEntry {
  /** When it came, in milliseconds. */
  readonly time: Milliseconds;
  readonly api: Api;
  readonly method: string;
  readonly path: string;
  /** Null where the client got none. */
  readonly status: number | null;
  readonly fault: string | null;
  /** Whether it changed something for good. */
  readonly committed: boolean;
  /** A bug of the sandbox, or a log that could not be written. */
  readonly error?: string;
}

export interface Sandbox {
  readonly port: number;
  readonly licensing: {
    readonly base_url: string;
    readonly apps: readonly { readonly app_code: number; readonly api_key: string }[];
  };
  readonly chat: {
    readonly site: string;
    readonly accounts: readonly {
      readonly email: string;
      readonly api_key: string;
      readonly role: 'administrator' | 'member' | 'bot';
    }[];
  };
  /** For tests: what the services know, and ways to change it behind the clients' backs. */
  readonly state: Inspection;
  /** Carries out what is delayed, ends every connection, and frees the port. */
  close(): Promise<void>;
}

/** Starts both services on 127.0.0.1. Rejects where the port is taken. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const store = createStore((state) => {
    addSample(state, options.featureLevel ?? defaultLevel);
    addExtras(state, options);
    options.seed?.(state);
  });
  const closing = new AbortController();
  let origin = '';
  const services = servicesOf(options, store.state, () => origin);
  const transaction = createTransaction(store, options.persistence);
  const running = new Set<Promise<void>>();
  const server = createServer({ maxHeaderSize: 131_072, keepAliveTimeout: 65_000 }, (incoming, outgoing) => {
    const work = serve({ options, services, transaction, closing: closing.signal }, incoming, outgoing);
    running.add(work);
    void work.finally(() => running.delete(work));
  });
  const port = await listen(server, options.port ?? 0);
  origin = `http://127.0.0.1:${port}`;
  return {
    port,
    licensing: { base_url: origin, apps: sampleApps },
    chat: { site: origin, accounts: samplePeople.filter(isUsable).map(accountOf) },
    state: inspect(store, options.clock),
    close: () => shutDown(server, closing, running),
  };
}

function isUsable({ active, role, bot }: User): boolean {
  return active && role !== 'guest' && bot !== 'incoming webhook';
}

function accountOf({ email, api_key, role, bot }: User) {
  return {
    email,
    api_key,
    role: bot === 'none' && role === 'administrator' ? role : bot === 'none' ? 'member' : 'bot',
  } as const;
}

interface Services {
  readonly licensing: LicensingWorld;
  readonly chat: ChatWorld;
}

function servicesOf(options: SandboxOptions, state: State, origin: () => string): Services {
  const { clock, licenseShape = {}, featureLevel = defaultLevel, rateLimit, deleteBatches = 2 } = options;
  const account = rateLimit?.perMinute ?? 200;
  const allowance = createAllowance();
  return {
    licensing: { state, clock, origin, allowance, shape: licenseShape, perMinute: rateLimit?.licensing },
    chat: {
      ...{ state, clock, origin, deleteBatches, level: featureLevel, allowance },
      perMinute: { account, address: Math.ceil(account / 2) },
    },
  };
}

interface Session {
  readonly options: SandboxOptions;
  readonly services: Services;
  readonly transaction: ReturnType<typeof createTransaction>;
  readonly closing: AbortSignal;
}

async function serve(session: Session, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { options, closing } = session;
  const time = options.clock.now();
  const path = (incoming.url ?? '/').replace(/\?.*/s, '');
  const method = incoming.method ?? 'GET';
  const fault = options.faults?.draw(method, path);
  const api = apiOf(path);
  let committed = false;
  let problem: string | undefined;
  const end = (status: number | null) =>
    options.log?.({
      ...{ time, api, method, path: hideCode(path), status, fault: fault?.kind ?? null, committed },
      ...(problem === undefined ? {} : { error: problem }),
    });
  try {
    const request = await readRequest(incoming);
    if (options.latency) await options.clock.sleep(options.latency, closing);
    const carryOut = async () => {
      const outcome = await session.transaction(() => answer(session, api, request));
      committed = outcome.committed;
      return outcome.answer;
    };
    end(
      await finish(
        { outgoing, api, level: session.services.chat.level, clock: options.clock, closing, carryOut },
        fault,
      ),
    );
  } catch (cause) {
    problem = cause instanceof Error ? cause.message : String(cause);
    end(breakDown(outgoing, api));
  }
}

function apiOf(path: string): Api {
  if (path.startsWith('/v1/')) return 'licensing';
  return path.startsWith('/api/v1/') ? 'chat' : 'none';
}

function hideCode(path: string): string {
  return path.replace(/^(\/v1\/license\/)[^/]+/, '$1[license_code]');
}

/** Request lines above 8 KiB and bodies above 25 MB end at the proxy (facts page, 1.1). */
function answer({ services }: Session, api: Api, request: Request | undefined): Answer {
  if (!request) return proxyPage(413);
  if (request.method.length + request.target.length + ' HTTP/1.1'.length + 3 > 8192) return proxyPage(414);
  if (api === 'licensing') return answerLicensing(services.licensing, request);
  return api === 'chat' ? answerChat(services.chat, request) : unknownPage();
}

function breakDown(outgoing: ServerResponse, api: Api): number | null {
  if (outgoing.headersSent || outgoing.destroyed) {
    outgoing.destroy();
    return null;
  }
  return send({ outgoing }, ownError(api));
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function shutDown(server: Server, closing: AbortController, running: ReadonlySet<Promise<void>>): Promise<void> {
  closing.abort(new Error('the sandbox closes'));
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeAllConnections();
  await Promise.allSettled([...running]);
  await closed;
}
