import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readFaults } from '../../src/sandbox/faults.ts';
import type { State } from '../../src/sandbox/state.ts';
import { movedClock } from '../helpers/clock.ts';
import { started } from './start.ts';
import { limitedPlan, longTopic, renamedView, secondSnippet, twoMessages, verona } from './verona.ts';

interface Example {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly query?: Record<string, string>;
    readonly form?: Record<string, string>;
  };
  readonly response: { readonly status: number; readonly headers?: Record<string, string>; readonly body: unknown };
}

interface Setting {
  readonly level?: number;
  readonly seed?: (state: State) => void;
  /** Who asks; default the administrator of the examples. */
  readonly as?: string | null;
  readonly fault?: string;
  readonly now?: number;
}

/** Every example that the sandbox can give, and under which circumstances. */
const examples: readonly (readonly [name: string, setting: Setting])[] = [
  ['delete-topic-200-complete', {}],
  ['delete-topic-200-incomplete', { seed: longTopic }],
  ['delete-topic-200-no-complete', { level: 210 }],
  ['delete-topic-200-partially-completed', { level: 210, seed: longTopic }],
  ['delete-topic-400-bad-channel', {}],
  ['delete-topic-400-missing-topic', {}],
  ['delete-topic-400-not-admin', { as: 'hamlet' }],
  ['error-404-html', { level: 389 }],
  ['error-405', {}],
  ['error-429', { level: 421, fault: '*=429@28706ms', now: 1_790_000_000_000 }],
  ['error-429-null', { level: 421, fault: '*=429-null' }],
  ['error-429-tiny', { fault: '*=429-tiny', now: 1_790_000_028_500 }],
  ['error-500', { fault: '*=500' }],
  ['error-502-html', { fault: '*=502' }],
  ['error-401-no-auth', { as: null }],
  ['error-old-no-code', { level: 75, as: 'hamlet' }],
  ['messages-200-by-ids', { seed: twoMessages }],
  ['messages-200-date-anchor-empty', {}],
  ['messages-200-first-unread-none', { seed: twoMessages }],
  ['messages-200-forward-last-empty', { seed: twoMessages }],
  ['messages-200-forward-page2', { seed: twoMessages }],
  ['messages-200-history-limited', { seed: limitedPlan }],
  ['messages-200-ignored', {}],
  ['messages-200-newest-empty', { as: 'bot' }],
  ['messages-200-no-access-12', {}],
  ['messages-200-oldest-page1', { seed: twoMessages }],
  ['messages-200-range-full-keys', { seed: twoMessages }],
  ['messages-200-search-match', { seed: twoMessages }],
  ['messages-400-bad-narrow-channel', {}],
  ['messages-400-bad-narrow-operator', {}],
  ['messages-400-exclude-both-sides', {}],
  ['messages-400-incompatible', {}],
  ['messages-400-invalid-anchor', {}],
  ['messages-400-missing-anchor', {}],
  ['messages-400-narrow-bad-element', {}],
  ['messages-400-narrow-not-json', {}],
  ['messages-400-num-missing-old', { level: 299 }],
  ['messages-400-num-negative', {}],
  ['messages-400-num-not-integer', {}],
  ['messages-400-too-many', {}],
  ['nav-200', {}],
  ['nav-400-builtin-code', {}],
  ['nav-400-name-blank', {}],
  ['nav-400-name-taken', { seed: renamedView }],
  ['nav-404-code', {}],
  ['nav-list-200', {}],
  ['settings-200', {}],
  ['settings-200-ignored', {}],
  ['settings-200-pre78', { level: 77 }],
  ['settings-400-batching', {}],
  ['settings-400-bool', {}],
  ['settings-400-bool-type', {}],
  ['settings-400-bot', { as: 'bot' }],
  ['settings-400-enum', {}],
  ['settings-400-language', {}],
  ['settings-400-quoted-string', {}],
  ['settings-400-timezone', {}],
  ['settings-400-wrong-password', {}],
  ['snippet-200', { seed: secondSnippet }],
  ['snippet-404', {}],
  ['snippet-list-200', {}],
];

test.each(examples)(
  'the sandbox answers as the example of the specification: %s',
  async (name, { level = 489, seed = verona, as = 'iago', fault, now }) => {
    const { request, response } = readExample(name);
    const { chat } = await started({
      ...{ featureLevel: level, seed, clock: movedClock(now) },
      ...(fault === undefined ? {} : { faults: readFaults(fault, 1) }),
    });

    const { method, path, ...rest } = request;
    const answer = await chat(method, path.replace('/api/v1', ''), { ...rest, as });

    expect({ status: answer.status, body: answer.body }).toEqual({ status: response.status, body: response.body });
    expect(answer.headers).toMatchObject(response.headers ?? {});
  },
);

test('error-401-code', async () => {
  const { response } = readExample('error-401-code');
  const { chat } = await started({ seed: verona });

  const authorization = `Basic ${Buffer.from(`iago@zulip.com:${'x'.repeat(32)}`).toString('base64')}`;
  const answer = await chat('GET', '/messages', { headers: { authorization }, as: null });

  expect({ status: answer.status, body: answer.body }).toEqual({ status: 401, body: response.body });
  expect(answer.headers).toMatchObject(response.headers ?? {});
});

test('error-414-html: a request line above 8 KiB ends at the proxy', async () => {
  const { response } = readExample('error-414-html');
  const { chat } = await started();

  const answer = await chat('GET', '/messages', { query: { message_ids: `[${'1234567,'.repeat(1100)}1]` } });

  expect({ status: answer.status, body: answer.body }).toEqual({ status: 414, body: response.body });
});

test('settings-429-email: the third change within an hour', async () => {
  const { request, response } = readExample('settings-429-email');
  const { chat, clock } = await started({ featureLevel: 421, seed: verona });
  for (const email of ['one@example.com', 'two@example.com']) {
    expect((await chat('PATCH', '/settings', { form: { email }, as: 'iago' })).status).toBe(200);
  }
  clock.advance(358_230);

  const answer = await chat('PATCH', '/settings', { form: request.form ?? {}, as: 'iago' });

  expect(answer.body).toEqual(response.body);
  expect({ status: answer.status, wait: answer.headers['retry-after'] }).toEqual({ status: 429, wait: '3241.77' });
});

function readExample(name: string): Example {
  return JSON.parse(readFileSync(new URL(`../examples/${name}.json`, import.meta.url), 'utf8')) as Example;
}
