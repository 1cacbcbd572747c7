import { MockAgent } from 'undici';
import { expect } from 'vitest';
import { connectError } from '../../src/api/http/transport-error.ts';

/** The two services as the tests' profiles know them. */
export const licensingUrl = 'https://licenses.test';
export const chatUrl = 'https://chat.test';

/** Credentials that `run` puts into the environment. */
export const keys = {
  CHATELAINE_BASE_URL: licensingUrl,
  CHATELAINE_API_KEY: 'licensing-key-5f1d0c',
  CHATELAINE_APP_CODE: '7',
  CHATELAINE_CHAT_SITE: chatUrl,
  CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
  CHATELAINE_CHAT_API_KEY: 'chat-key-9b2e44',
} as const;

/** `ada@chat.test:chat-key-9b2e44` in base64, written out so that the test does not share code with the client. */
const basic = 'Basic YWRhQGNoYXQudGVzdDpjaGF0LWtleS05YjJlNDQ=';
const token = 'Token licensing-key-5f1d0c';

type Pairs = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

export interface Expected {
  readonly method: string;
  /** With the query as it is sent, or without one where `query` has it. */
  readonly path: string;
  /** Names and texts before URL encoding, in their order. */
  readonly query?: Pairs;
  readonly json?: unknown;
  /** Names and texts before URL encoding, in their order. */
  readonly form?: Pairs;
  /** The body as it is sent, in place of `json` and `form`; `headers` has its type. */
  readonly body?: string;
  readonly headers?: Headers;
  /** Where it is not the one of the service in the path. */
  readonly authorization?: string | undefined;
  /** Where it is not the one of the service in the path. */
  readonly origin?: string;
}

type Headers = Readonly<Record<string, string>>;

export interface Planner {
  /** A body that is a string is sent as it is, anything else as JSON. */
  reply(status: number, body?: unknown, headers?: Headers): FakeService;
  /** The connection breaks with this code. */
  fail(code: string): FakeService;
}

export interface FakeService {
  readonly agent: MockAgent;
  /** The next request: `'GET /v1/license/'` for one without a body. */
  expect(request: Expected | string, times?: number): Planner;
  /** Every request that came, as `METHOD path`. */
  readonly seen: readonly string[];
  /** Fails on a request that was not planned, and on a plan that was not used. */
  done(): void;
}

type Outcome =
  { readonly status: number; readonly body: string; readonly headers: Headers } | { readonly code: string };

interface Plan {
  readonly wire: Wire;
  readonly outcome: Outcome;
}

interface Wire {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly accept: string | undefined;
  readonly acceptLanguage: string | undefined;
  readonly userAgent: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string | undefined;
}

/** What a server answers that tells no value: each `settings set` asks for them, planned or not. */
const noSettings = { result: 'success', msg: '', user_settings: {} };
const json = { 'content-type': 'application/json' };

/** Answers the planned requests in their order; any other request gets 418, and `done` reports it. */
export function fakeService(): FakeService {
  const agent = new MockAgent();
  agent.disableNetConnect();
  const plans: Plan[] = [];
  const seen: string[] = [];
  const surprises: { readonly came: Wire; readonly planned: Wire | 'nothing' }[] = [];
  const answer = (options: unknown): { statusCode: number; data: string; responseOptions: { headers: Headers } } => {
    const came = wireOf(options as Came);
    const isUnplanned =
      came.method === 'POST' && came.url.endsWith('/api/v1/register') && plans[0]?.wire.url !== came.url;
    if (isUnplanned) return { statusCode: 200, data: JSON.stringify(noSettings), responseOptions: { headers: json } };
    seen.push(`${came.method} ${came.url.replace(/^https?:\/\/[^/]+/, '')}`);
    const plan = plans.shift();
    if (!plan || JSON.stringify(came) !== JSON.stringify(plan.wire)) {
      surprises.push({ came, planned: plan?.wire ?? 'nothing' });
      return { statusCode: 418, data: 'not planned', responseOptions: { headers: {} } };
    }
    const { outcome } = plan;
    if ('code' in outcome) throw failureOf(outcome.code);
    return { statusCode: outcome.status, data: outcome.body, responseOptions: { headers: outcome.headers } };
  };
  agent.get(/./).intercept({ method: /./, path: /./ }).reply(answer).persist();
  const service: FakeService = {
    agent,
    seen,
    expect(request, times = 1) {
      const wire = expectedWire(request);
      const add = (outcome: Outcome): FakeService => {
        for (let count = 0; count < times; count += 1) plans.push({ wire, outcome });
        return service;
      };
      return {
        reply: (status, body = '', headers = {}) => add({ status, ...bodyOf(body, headers) }),
        fail: (code) => add({ code }),
      };
    },
    done() {
      expect(surprises).toEqual([]);
      expect(plans.map(({ wire }) => `${wire.method} ${wire.url}: planned, and never asked`)).toEqual([]);
    },
  };
  return service;
}

/** These happen while connecting: a real transport says so. */
const connecting =
  /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|SELF_SIGNED_\w+|ERR_TLS_\w+|CERT_\w+)$/;

function failureOf(code: string): Error {
  const cause = Object.assign(new Error(`fake ${code}`), { code });
  return connecting.test(code) ? connectError(cause, 'fake.test') : cause;
}

function bodyOf(body: unknown, headers: Headers): { body: string; headers: Headers } {
  if (typeof body === 'string') return { body, headers };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } };
}

interface Came {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | null;
}

function wireOf({ method, origin, path, headers, body: sent }: Came): Wire {
  const body = sent instanceof Uint8Array ? Buffer.from(sent).toString() : sent;
  return {
    method,
    url: ordinary(`${origin}${path}`),
    authorization: headers['authorization'],
    accept: headers['accept'],
    acceptLanguage: headers['accept-language'],
    userAgent: headers['user-agent']?.replace(/\(\w+; \w+; node [\d.]+\)$/, '(…)'),
    contentType: headers['content-type'],
    body: headers['content-type'] === 'application/json' ? ordered(body ?? '') : (body ?? undefined),
  };
}

/** The order of a query's parameters has no meaning: they are compared sorted, each as it is sent. */
function ordinary(url: string): string {
  const [path = '', query] = url.split('?');
  return query === undefined ? path : `${path}?${query.split('&').sort().join('&')}`;
}

/** The order of an object's keys says nothing: they are compared sorted. */
function ordered(json: string): string {
  return JSON.stringify(JSON.parse(json), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
}

function expectedWire(request: Expected | string): Wire {
  const [method = '', path = ''] = typeof request === 'string' ? request.split(' ') : [];
  const expected = typeof request === 'string' ? { method, path } : request;
  const { query } = expected;
  const isChat = expected.path.startsWith('/api/');
  const isOpen = expected.path === '/api/v1/server_settings';
  return {
    method: expected.method,
    url: ordinary(
      (expected.origin ?? (isChat ? chatUrl : licensingUrl)) +
        expected.path +
        // A comma of a query is sent as it is, and one of a form is not.
        (query === undefined ? '' : `?${encoded(query).replaceAll('%2C', ',')}`),
    ),
    authorization: expected.authorization ?? (isOpen ? undefined : isChat ? basic : token),
    accept: 'application/json',
    acceptLanguage: 'en',
    userAgent: 'chatelaine/9.9.9 (…)',
    ...bodyWire(expected),
  };
}

function bodyWire({ json, form, body, headers = {} }: Expected): Pick<Wire, 'contentType' | 'body'> {
  if (json !== undefined) return { contentType: 'application/json', body: ordered(JSON.stringify(json)) };
  if (form !== undefined) return { contentType: 'application/x-www-form-urlencoded', body: encoded(form) };
  const contentType = headers['content-type'];
  return { contentType, body: contentType === 'application/json' ? ordered(body ?? '') : body };
}

/** As browsers encode forms: the letters, digits and `*-._` as they are, a blank as `+`, every other byte as %XX. */
function encoded(pairs: Pairs): string {
  const list: readonly (readonly [string, string])[] = isList(pairs) ? pairs : Object.entries(pairs);
  const text = (value: string): string =>
    [...Buffer.from(value)]
      .map((byte) => String.fromCharCode(byte))
      .map((letter) => {
        if (/[A-Za-z0-9*\-._]/.test(letter)) return letter;
        return letter === ' ' ? '+' : `%${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
      })
      .join('');
  return list.map(([name, value]) => `${text(name)}=${text(value)}`).join('&');
}

function isList(pairs: Pairs): pairs is readonly (readonly [string, string])[] {
  return Array.isArray(pairs);
}
