import { setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Milliseconds } from '../core/duration.ts';
import { usage, type Failure } from '../core/failure.ts';
import type { Clock } from '../core/system.ts';
import { createAllowance } from './allowance.ts';
import type { Faults } from './faults.ts';
import type { LicensingFront } from './licensing/licensing-call.ts';
import type { LicenseShape } from './licensing/shapes.ts';
import { createLag } from './licensing/visible.ts';
import { createTransaction, type Persistence, createStore, type State } from './state.ts';
import { sampleApps, samplePeople } from './sample/organization.ts';
import { addMessages, addSample, hideHistory, type ExtraMessages } from './sample/sample.ts';
import { serve, type LogEntry, type SandboxSession } from './serve.ts';
import { levels } from './chat/levels.ts';

export interface SandboxOptions {
  /** 0 or none: any free port. */
  readonly port?: number | undefined;
  /** The address to listen on; default 127.0.0.1. */
  readonly listen?: string | undefined;
  /** The feature level of the chat service; default 489. */
  readonly featureLevel?: number | undefined;
  /** How many of the messages that exist at the start can be seen; later ones always can. Default: all. */
  readonly historyLimit?: number | undefined;
  /** Added before each answer. */
  readonly latency?: Milliseconds | undefined;
  readonly faults?: Faults | undefined;
  readonly clock: Clock;
  /** One entry for each request, when it has ended; for a delayed commit that is after the commit. */
  readonly log?: ((entry: LogEntry) => void) | undefined;
  /** The log of the state, which is in memory without it. */
  readonly persistence?: Persistence | undefined;
  /** Batches of 100 messages that one delete_topic call has time for; default 2. */
  readonly deleteBatches?: number | undefined;
  /**
   * Calls of a chat account a minute, default 200, and an hour, default ten times as many; calls a minute of an
   * application of the licensing service, by default unlimited.
   */
  readonly rateLimit?:
    { readonly perMinute?: number; readonly perHour?: number; readonly licensing?: number } | undefined;
  /** Forms of licensing answers that the specification leaves open. */
  readonly licenseShape?: LicenseShape | undefined;
  /** Another licensing server for tests, made of this one. */
  readonly licensingFront?: LicensingFront | undefined;
  readonly extraMessages?: ExtraMessages | undefined;
  /** Changes the sample data before the first request; part of the fixed data, never of the log. */
  readonly seed?: ((state: State) => void) | undefined;
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Starts both services. @throws Failure usage where the port or the address cannot be used, config for the data */
export async function startSandbox(options: SandboxOptions) {
  const store = createStore((state) => {
    addSample(state, options.featureLevel ?? levels.newest);
    if (options.extraMessages) addMessages(state, options.extraMessages);
    options.seed?.(state);
    if (options.historyLimit !== undefined) hideHistory(state, options.historyLimit);
  });
  // Refuses a file of another program before anybody is served.
  await options.persistence?.exclusively(async ({ records }) => store.replay(records));
  const closing = new AbortController();
  // Each delayed commit listens to this signal: that is no leak, of which Node would warn on stderr.
  setMaxListeners(0, closing.signal);
  const services = servicesOf(options, store.state);
  const session = {
    clock: options.clock,
    faults: options.faults,
    latency: options.latency ?? 0,
    services,
    log: options.log ?? (() => undefined),
    transaction: createTransaction(store, options.persistence),
    closing: closing.signal,
  };
  const running = new Set<Promise<void>>();
  const server = createServer({ maxHeaderSize: 131_072, keepAliveTimeout: 65_000 }, (incoming, outgoing) => {
    const work = serve(session, incoming, outgoing);
    running.add(work);
    void work.finally(() => running.delete(work));
  });
  const address = options.listen ?? '127.0.0.1';
  const port = await listen(server, options.port ?? 0, address);
  const host = address.includes(':') ? `[${address}]` : address;
  const origin = `http://${ownHosts[host] ?? host}:${port}`;
  return {
    port,
    /** Address and port. */
    listening: `${host}:${port}`,
    licensing: { base_url: origin, apps: sampleApps },
    chat: { site: origin, accounts: usableAccounts },
    /** For tests: what the services know. */
    store,
    /** Carries out what is delayed, ends every connection, and frees the port. */
    async close(): Promise<void> {
      closing.abort(new Error('the sandbox closes'));
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      server.closeAllConnections();
      await Promise.allSettled([...running]);
      await closed;
    },
  };
}

function servicesOf(options: SandboxOptions, state: State): SandboxSession['services'] {
  const { clock, licenseShape = {}, featureLevel = levels.newest, rateLimit, deleteBatches = 2 } = options;
  const rates = { perMinute: 200, ...rateLimit };
  const shared = { state, clock, allowance: createAllowance() };
  const lag = createLag(clock, licenseShape.stale ?? 0);
  const front = options.licensingFront;
  return {
    licensing: { ...shared, lag, front, shape: licenseShape, perMinute: rateLimit?.licensing },
    chat: { ...shared, deleteBatches, level: featureLevel, rates },
  };
}

/** The accounts that the API accepts, without the guest. */
const usableAccounts = samplePeople
  .filter(({ active, role, bot }) => active && role !== 'guest' && bot !== 'incoming webhook')
  .map(({ email, api_key, role, bot }) => ({ email, api_key, role: bot === 'none' ? role : ('bot' as const) }));

/** The host under which this computer reaches what listens on every address of its own. */
const ownHosts: Partial<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' };

function listen(server: Server, port: number, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(unusable(cause, port, address)));
    server.listen(port, address, () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound ? bound.port : port);
    });
  });
}

function unusable({ code, message }: NodeJS.ErrnoException, port: number, address: string): Failure {
  if (code === 'EADDRINUSE' || code === 'EACCES')
    return usage(
      `port ${port} cannot be used: ${code === 'EACCES' ? 'it needs rights' : 'it is in use'}`,
      'Leave --port out for any free one.',
    );
  const reasons: Partial<Record<string, string>> = {
    EADDRNOTAVAIL: `${address} is no address of this computer`,
    ENOTFOUND: `no address is known for the host '${address}'`,
  };
  return usage(
    `--listen: ${reasons[code ?? ''] ?? `cannot listen on ${address}: ${message}`}`,
    'Write 0.0.0.0 for every address of this computer, or leave --listen out for this computer alone.',
  );
}
