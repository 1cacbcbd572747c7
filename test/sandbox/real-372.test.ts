import { afterAll, expect, test } from 'vitest';
import { readFaults } from '../../src/sandbox/faults.ts';
import { sampleOf } from '../helpers/extent.ts';
import type { SandboxOptions } from '../helpers/sandbox.ts';
import { movedClock } from '../helpers/clock.ts';
import { addRecorded, benchOnly, people, recordedExchanges, type Exchange } from './recorded.ts';
import { started, startedForAll, type Reply, type Running } from './start.ts';

/** Exchanges whose answer the sandbox does not give, and why. At most 10. */
const exceptions: Readonly<Record<string, string>> = { 'error-400-german': 'the sandbox speaks English only' };

/** How an exchange was recorded, where the request does not show it. */
interface Circumstances {
  readonly options?: Partial<SandboxOptions>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends no credential of its own. */
  readonly anonymous?: true;
  readonly before?: (running: Running) => Promise<void> | void;
}

const credential = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const otherSite = { headers: { host: 'other.localhost' } };
const organized = (rules: Parameters<Running['sandbox']['state']['organize']>[0]): Circumstances => ({
  before: ({ sandbox }) => sandbox.state.organize(rules),
});
const limits = new Map<number, Circumstances>();
const limitedTo = (visible: number): Circumstances => {
  const known = limits.get(visible) ?? { options: { seed: benchOnly(visible) } };
  limits.set(visible, known);
  return known;
};

const usedUp: Circumstances = {
  options: { rateLimit: { perMinute: 1 } },
  before: async ({ chat }) => {
    await chat('GET', '/messages', { query: { anchor: 'newest' }, as: 'ines' });
  },
};

/** An account that has changed its address twice already. */
const changedTwice = (as: string): Circumstances => ({
  async before({ chat }) {
    for (const name of ['one', 'two']) {
      expect((await chat('PATCH', '/settings', { form: { email: `${name}@zulip.com` }, as })).status).toBe(200);
    }
  },
});

const fiveGuesses: Circumstances = {
  async before({ chat }) {
    for (let guess = 1; guess <= 5; guess += 1) {
      const form = { old_password: `guess-${guess}`, new_password: 'abcdefgh1234' };
      expect((await chat('PATCH', '/settings', { form, as: 'tomas' })).status).toBe(400);
    }
  },
};

const circumstances: Readonly<Record<string, Circumstances>> = {
  'auth-badkey': { headers: credential(`mara@harbour.example:${'x'.repeat(32)}`), anonymous: true },
  'auth-bearer': { headers: { authorization: 'Bearer abc' }, anonymous: true },
  'auth-malformed': { headers: credential('mara@harbour.example:short'), anonymous: true },
  'auth-no-such-realm': otherSite,
  'auth-nocolon': { headers: credential('mara'), anonymous: true },
  'auth-none-html': { headers: { accept: 'text/html' }, anonymous: true },
  'auth-notb64': { headers: { authorization: 'Basic !!!' }, anonymous: true },
  'auth-other-realm': otherSite,
  'auth-realm-deactivated': organized({ deactivated: true }),
  'auth-root-domain': organized({ one_of_many: true }),
  'auth-threewords': { headers: { authorization: 'Basic a b' }, anonymous: true },
  'auth-twocolons': { headers: credential('a:b:c'), anonymous: true },
  'delete-topic-harakiri': { options: { faults: readFaults('*=502', 1) } },
  'limited-forward-from-1': limitedTo(1600),
  'limited-forward-truncated': limitedTo(1600),
  'rate-200-last': usedUp,
  'rate-429-get': usedUp,
  'rate-429-post': usedUp,
  'rate-429-settings': usedUp,
  'server-settings-no-such-realm': otherSite,
  'server-settings-realm-deactivated': organized({ deactivated: true }),
  'server-settings-root-domain': organized({ one_of_many: true }),
  'settings-200-name-changes-disabled': organized({ name_changes_disabled: true }),
  'settings-400-email-changes-disabled': organized({ email_changes_disabled: true }),
  'settings-400-password-attempts': fiveGuesses,
  'settings-400-unique-names': organized({ unique_names: true }),
  'settings-429-email-change': changedTwice('tomas'),
  'settings/set-email=\'"q"@zulip.com\'': changedTwice('jonas'),
  "settings/set-email='new+x@zulip.com'": changedTwice('jonas'),
  "settings/set-email='new@localhost'": changedTwice('jonas'),
};

function circumstancesOf(name: string): Circumstances {
  if (name.startsWith('limited')) return circumstances[name] ?? limitedTo(15_000);
  return circumstances[name] ?? (/^(nginx|post-as-get-ids)/.test(name) ? limitedTo(0) : {});
}

const exchanges = recordedExchanges();

test('all recorded exchanges are here', () => {
  expect(exchanges.length).toBe(605);
  expect(exchanges.map(({ name }) => name)).toEqual(
    expect.arrayContaining(Object.keys({ ...exceptions, ...circumstances })),
  );
  expect(Object.keys(exceptions).length).toBeLessThanOrEqual(10);
});

const compared = exchanges.filter(({ name }) => exceptions[name] === undefined);
const usual = compared.filter(({ name }) => circumstances[name] === undefined);

test.each(
  [...compared.filter((exchange) => !usual.includes(exchange)), ...sampleOf(200, usual)].map(
    (exchange) => [exchange.name, exchange] as const,
  ),
)('the sandbox answers as a recorded server: %s', async (name, exchange) => {
  const { headers = {}, anonymous } = circumstancesOf(name);
  const running = await sandboxFor(exchange);

  const reply = await ask(running, exchange, headers, anonymous === true);

  expect(whatIsCompared(reply, name)).toEqual(whatIsCompared(exchange.response, name));
});

const shared = new Map<object | undefined, Promise<Running>>();
afterAll(async () => {
  for (const running of shared.values()) await (await running).sandbox.close();
});

/** Reading changes nothing, so that what only reads shares a sandbox; everything else has one of its own. */
async function sandboxFor({ name, request: { method } }: Exchange): Promise<Running> {
  const { options = {}, before } = circumstancesOf(name);
  const all = { featureLevel: 372, seed: addRecorded, rateLimit: { perMinute: 10_000 }, ...options };
  if (method === 'GET' && !before) {
    const running = shared.get(options.seed) ?? startedForAll({ ...all, clock: movedClock() });
    shared.set(options.seed, running);
    return running;
  }
  const running = await started({ ...all, clock: movedClock() });
  await before?.(running);
  return running;
}

function ask(
  { chat }: Running,
  { request, user }: Exchange,
  headers: Readonly<Record<string, string>>,
  anonymous: boolean,
) {
  const as = anonymous || user === null ? null : (people[user] ?? user);
  const params = request.params ?? {};
  const inQuery = request.method === 'GET' || request.method === 'OPTIONS';
  const place = inQuery ? { query: params } : { form: params };
  return chat(request.method, request.path.replace('/api/v1', ''), { ...place, headers: { ...headers }, as });
}

const optional = ['edit_history', 'last_edit_timestamp', 'last_moved_timestamp'];
const numbers = ['retry-after', 'saved_snippet_id'];

/** Status, words, codes, flags and keys; how many messages there are only as none, some or a full page. */
function whatIsCompared({ status, headers, body }: Reply | Exchange['response'], name: string) {
  const common = {
    status,
    type: status === 204 || status === 302 ? undefined : headers['content-type'],
    headers: ['allow', 'www-authenticate'].map((header) => headers[header]),
    waits: headers['retry-after'] !== undefined,
  };
  if (typeof body !== 'object' || body === null) return { ...common, isPage: true };
  return { ...common, body: envelope(body as Record<string, unknown>, name) };
}

function envelope(body: Record<string, unknown>, name: string): Record<string, unknown> {
  const { messages, messages_count, message_keys, ...rest } = body;
  const list = messages as Record<string, unknown>[] | undefined;
  const keys = (message_keys as string[] | undefined) ?? [...new Set(list?.flatMap((row) => Object.keys(row)))];
  const count = (messages_count as number | undefined) ?? list?.length;
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, comparable(key, value)])),
    ...(list && {
      amount: name.startsWith('limited')
        ? [count, Math.min(...list.map(({ id }) => Number(id)))]
        : count === 0
          ? 'none'
          : 'some',
      keys: keys.filter((key) => !optional.includes(key)).sort(),
    }),
  };
}

/** The value where it says something of the protocol, else its type. */
function comparable(key: string, value: unknown): unknown {
  if (key === 'msg') return String(value).replace(/in \d+ seconds/, 'in N seconds');
  if (key === 'anchor' && Number(value) > 1000 && Number(value) < 1e9) return 'an id';
  if (['result', 'code', 'desc', 'var_name', 'parameters', 'complete', 'anchor'].includes(key)) return value;
  if (key.startsWith('found_') || key === 'history_limited') return value;
  if (key === 'allowed_methods' || key === 'ignored_parameters_unsupported') return value;
  if (numbers.includes(key)) return 'a number';
  return typeof value;
}
