import { request } from 'undici';
import { onTestFinished } from 'vitest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../helpers/sandbox.ts';
import type { LogEntry } from '../../src/sandbox/serve.ts';
import { movedClock, type MovedClock } from '../helpers/clock.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Parsed where it is JSON, else the text. */
  readonly body: unknown;
}

interface Send {
  readonly query?: Record<string, string>;
  readonly form?: Record<string, string>;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
  /** First name of the sample person; default Mara, the administrator. `null`: no credentials. */
  readonly as?: string | null;
  /** Code of the application; default 4711. */
  readonly app?: number;
}

export interface Running {
  readonly sandbox: Sandbox;
  readonly log: LogEntry[];
  readonly clock: MovedClock;
  chat(method: string, path: string, send?: Send): Promise<Reply>;
  licensing(method: string, path: string, send?: Send): Promise<Reply>;
}

/** A sandbox that ends with the test. */
export async function started(options: Partial<SandboxOptions> & { clock?: MovedClock } = {}): Promise<Running> {
  const running = await startedForAll(options);
  onTestFinished(() => running.sandbox.close());
  return running;
}

/** A sandbox that the caller closes. */
export async function startedForAll(options: Partial<SandboxOptions> & { clock?: MovedClock } = {}): Promise<Running> {
  const clock = options.clock ?? movedClock();
  const log: LogEntry[] = [];
  const sandbox = await startSandbox({ ...options, clock, log: (entry) => void log.push(entry) });
  return {
    sandbox,
    log,
    clock,
    chat: (method, path, send = {}) => call(`${sandbox.chat.site}/api/v1${path}`, method, send, basic(sandbox, send)),
    licensing: (method, path, send = {}) =>
      call(`${sandbox.licensing.base_url}/v1${path}`, method, send, token(sandbox, send)),
  };
}

export function basic(sandbox: Sandbox, { as = 'mara' }: Pick<Send, 'as'>): Record<string, string> {
  if (as === null) return {};
  const user = sandbox.state.users().find(({ email }) => email.startsWith(`${as}@`));
  if (!user) throw new Error(`nobody is named ${as}`);
  return { authorization: `Basic ${Buffer.from(`${user.email}:${user.api_key}`).toString('base64')}` };
}

function token(sandbox: Sandbox, { as, app = 4711 }: Send): Record<string, string> {
  if (as === null) return {};
  const own = sandbox.licensing.apps.find(({ app_code }) => app_code === app);
  return { authorization: `Token ${own?.api_key ?? ''}` };
}

async function call(url: string, method: string, send: Send, credential: Record<string, string>): Promise<Reply> {
  const query = send.query ? `?${new URLSearchParams(send.query).toString()}` : '';
  const body = send.json !== undefined ? JSON.stringify(send.json) : send.form ? new URLSearchParams(send.form) : null;
  const answer = await request(url + query, {
    method,
    body: body === null ? null : String(body),
    headers: {
      ...credential,
      ...(send.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(send.form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }),
      ...send.headers,
    },
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, headers: textsOf(answer.headers), body: parsed(text) };
}

function textsOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    if (cause instanceof SyntaxError) return text;
    throw cause;
  }
}
