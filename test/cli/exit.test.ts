import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/core/failure.ts';
import { fakeService, run, type RunOptions } from '../helpers/run.ts';
import type { FakeService } from '../helpers/service.ts';

interface Example {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly query?: Readonly<Record<string, string>>;
    readonly form?: Readonly<Record<string, string>>;
  };
  readonly response: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: unknown;
  };
}

function example(name: string): Example {
  return JSON.parse(readFileSync(new URL(`../examples/${name}.json`, import.meta.url), 'utf8')) as Example;
}

const done = { result: 'success', msg: '' };
const messages = {
  method: 'GET',
  path: '/api/v1/messages',
  query: { anchor: 'newest', num_before: '100', num_after: '0' },
};
const licenses = 'GET /v1/license/';
const snippet = { method: 'DELETE', path: '/api/v1/saved_snippets/2' };
const pin = { method: 'PATCH', path: '/api/v1/navigation_views/inbox', form: { is_pinned: 'true' } };
const pinOther = { ...pin, path: '/api/v1/navigation_views/narrow/a' };
const color = { method: 'PATCH', path: '/api/v1/settings', form: { color_scheme: '2' } };
const level = (service: FakeService, zulip_feature_level = 489): FakeService =>
  service.expect('GET /api/v1/server_settings').reply(200, { ...done, zulip_feature_level });

interface Row {
  readonly what: string;
  readonly line: string;
  readonly plan?: (service: FakeService) => void;
  readonly options?: RunOptions;
  readonly exit: number;
  /** As JSON; undefined: nothing at all. */
  readonly prints?: unknown;
}

/** From exit code 2 on. */
const names = ['usage', 'config', 'auth', 'not_found', 'rejected', 'unavailable', 'incomplete', 'unknown'];

const gone = example('snippet-404').response.body;

const table: readonly Row[] = [
  { what: 'usage', line: 'license list --limit 0', exit: 2 },
  { what: 'no credential', line: 'license list', options: { bare: true }, exit: 3 },
  {
    what: '403 of a proxy before the chat',
    line: 'messages fetch',
    plan: (to) => to.expect(messages).reply(403, '<h1>no</h1>'),
    exit: 4,
  },
  {
    what: 'no such license',
    line: 'license view K',
    plan: (to) => {
      to.expect('GET /v1/license/K/').reply(404, { detail: 'no' });
      to.expect('GET /v1/license/').reply(200, []);
    },
    exit: 5,
  },
  {
    what: 'a snippet that is gone, as the specification has it',
    line: 'snippet rm 2',
    plan: (to) =>
      to.expect(snippet).reply(400, { result: 'error', code: 'BAD_REQUEST', msg: 'Saved snippet does not exist.' }),
    exit: 5,
  },
  {
    what: 'a view that is not there',
    line: 'view pin narrow/a',
    plan: (to) => {
      to.expect(pinOther).reply(400, { result: 'error', code: 'NOT_FOUND', msg: 'Navigation view does not exist' });
      to.expect('GET /api/v1/navigation_views').reply(404, '<h1>no</h1>');
    },
    exit: 5,
  },
  {
    what: 'an ignored pin',
    line: 'view pin inbox',
    plan: (to) => to.expect(pin).reply(200, { ...done, ignored_parameters_unsupported: ['is_pinned'] }),
    exit: 6,
    prints: [{ fragment: 'inbox', is_pinned: null, status: 'ignored' }],
  },
  {
    what: 'a redirect of a write',
    line: 'view pin inbox',
    plan: (to) => to.expect(pin).reply(302, '', { location: 'https://elsewhere.test/' }),
    exit: 6,
  },
  { what: 'DNS', line: 'license list', plan: (to) => to.expect(licenses).fail('ENOTFOUND'), exit: 7 },
  { what: 'TLS', line: 'license list', plan: (to) => to.expect(licenses).fail('CERT_HAS_EXPIRED'), exit: 7 },
  {
    what: 'refused, two repeats',
    line: 'license list --retries 2',
    plan: (to) => to.expect(licenses, 3).fail('ECONNREFUSED'),
    exit: 7,
  },
  {
    what: '503',
    line: 'messages fetch',
    plan: (to) => to.expect(messages, 6).reply(503, '<h1>no</h1>'),
    exit: 7,
  },
  {
    what: 'HTML inside 200',
    line: 'messages fetch',
    plan: (to) => to.expect(messages).reply(200, '<html><title>Sign in</title></html>'),
    exit: 7,
  },
  {
    what: 'a later page',
    line: 'license list',
    plan: (to) => {
      to.expect(licenses).reply(200, { results: [{ license_code: 'K' }], next: '?p=2' });
      to.expect(`${licenses}?p=2`).reply(500, '{}');
    },
    exit: 8,
    prints: [{ license_code: 'K' }],
  },
  {
    what: 'some arguments',
    line: 'snippet rm 1 2',
    plan: (to) => {
      to.expect({ ...snippet, path: '/api/v1/saved_snippets/1' }).reply(200, done);
      to.expect(snippet).reply(404, gone);
    },
    exit: 8,
    prints: [{ saved_snippet_id: 1, status: 'deleted' }],
  },
  {
    what: 'all arguments alike',
    line: 'snippet rm 1 2',
    plan: (to) => {
      for (const id of [1, 2]) to.expect({ ...snippet, path: `/api/v1/saved_snippets/${id}` }).reply(404, gone);
    },
    exit: 5,
  },
  {
    what: '--missing-ok',
    line: 'snippet rm 2 --missing-ok',
    plan: (to) => to.expect(snippet).reply(404, gone),
    exit: 0,
    prints: [{ saved_snippet_id: 2, status: 'missing' }],
  },
  {
    what: 'a snippet that is gone after an unconfirmed request is deleted',
    line: 'snippet rm 2',
    plan: (to) => {
      to.expect(snippet).fail('ECONNRESET');
      to.expect(snippet).reply(404, gone);
    },
    exit: 0,
    prints: [{ saved_snippet_id: 2, status: 'deleted' }],
  },
  {
    what: 'a snippet that is gone after 429 is not',
    line: 'snippet rm 2',
    plan: (to) => {
      to.expect(snippet).reply(429, '', { 'retry-after': '1' });
      to.expect(snippet).reply(404, gone);
    },
    exit: 5,
  },
  {
    what: 'unconfirmed',
    line: 'settings set email=a@b.test',
    plan: (to) => to.expect({ ...color, form: { email: 'a@b.test' } }).fail('ECONNRESET'),
    exit: 9,
  },
];

test.each(table)('exit $exit: $what ($line)', async ({ what, line, plan, options, exit, prints }) => {
  const service = fakeService();
  plan?.(service);

  const { exitCode, stdout, error } = await run(service, `${line} -o json`, options);

  service.done();
  expect(exitCode).toBe(exit);
  if (exit === 0) expect(error).toBeUndefined();
  else expect(error).toMatchObject({ code: names[exit - 2], exit, message: expect.any(String) as string });
  // Only what may be run again is retryable: a name that does not exist and a certificate are the same the next time.
  if (exit === 7) expect(error?.retryable).toBe(!['DNS', 'TLS'].includes(what));
  else if (exit !== 0 && exit !== 8) expect(error?.retryable).toBe(false);
  if (prints !== undefined) expect(JSON.parse(stdout)).toEqual(prints);
  else expect(stdout).toBe(exit === 8 ? expect.anything() : '');
});

test.each([
  ['hangup', 129],
  ['cancelled', 130],
  ['terminated', 143],
] as const)('a signal (%s) is exit %d', async (kind, exit) => {
  const interrupt = new AbortController();
  const service = fakeService();
  service.expect(licenses).reply(503, '');
  const running = run(service, 'license list -o json', { interrupt: interrupt.signal });
  interrupt.abort(new Failure(kind, 'ended'));

  expect(await running).toMatchObject({ exitCode: exit, stdout: '' });
});

/** What the chat server says, example by example. */
describe('each example answer', () => {
  /** One request, as it is. */
  const fetchLine = 'messages fetch --num-before 100';
  const set = 'settings set color_scheme=2';

  test.each<[string, string, number]>([
    ['messages-200-openapi', fetchLine, 0],
    ['messages-200-range-full-keys', fetchLine, 0],
    ['messages-200-newest-empty', fetchLine, 0],
    ['messages-200-history-limited', fetchLine, 0],
    ['messages-200-search-match', fetchLine, 0],
    ['messages-200-no-access-12', fetchLine, 0],
    ['messages-200-date-anchor-empty', fetchLine, 0],
    ['messages-200-first-unread-none', fetchLine, 0],
    ['messages-200-ignored', fetchLine, 0],
    ['messages-400-missing-anchor', fetchLine, 6],
    ['messages-400-invalid-anchor', fetchLine, 6],
    ['messages-400-too-many', fetchLine, 6],
    ['messages-400-exclude-both-sides', fetchLine, 6],
    ['messages-400-incompatible', fetchLine, 6],
    ['messages-400-bad-narrow-operator', fetchLine, 6],
    ['messages-400-narrow-not-json', fetchLine, 6],
    ['messages-400-num-missing-old', fetchLine, 6],
    ['error-401-code', fetchLine, 4],
    ['error-401-no-auth', fetchLine, 4],
    ['error-401-openapi', fetchLine, 4],
    ['error-401-deactivated-openapi', fetchLine, 4],
    ['error-401-realm-deactivated-openapi', fetchLine, 4],
    ['error-404-html', fetchLine, 6],
    ['error-405', fetchLine, 6],
    ['error-414-html', fetchLine, 6],
    ['error-500', fetchLine, 7],
    ['error-old-no-code', fetchLine, 6],
    ['settings-200', set, 0],
    ['settings-200-ignored', set, 0],
    ['settings-200-pre78', set, 0],
    ['settings-400-bot', set, 6],
    ['settings-400-enum', set, 6],
    ['settings-400-wrong-password', set, 6],
    ['settings-429-email', set, 7],
    ['nav-200', 'view pin inbox', 0],
    ['nav-400-builtin-code', 'view rename narrow/is/alerted x', 6],
    ['nav-400-builtin-openapi', 'view rename narrow/is/alerted x', 6],
    ['nav-400-name-taken', 'view rename narrow/is/alerted x', 6],
    ['nav-404-code', 'view rename narrow/is/alerted x', 5],
    ['nav-404-openapi', 'view rename narrow/is/alerted x', 5],
    ['snippet-200', 'snippet rm 2', 0],
    ['snippet-404', 'snippet rm 2', 5],
  ])('%s: %s is exit %d', async (name, line, exit) => {
    const { status, body, headers } = example(name).response;
    const service = fakeService();
    if (line === set) level(service);
    const request =
      line === fetchLine
        ? messages
        : line === set
          ? color
          : line.startsWith('snippet')
            ? snippet
            : line === 'view pin inbox'
              ? pin
              : { ...pin, path: '/api/v1/navigation_views/narrow/is/alerted', form: { name: 'x' } };
    service.expect(request).reply(status, body, headers);
    if (line.startsWith('view rename') && exit !== 0)
      service.expect('GET /api/v1/navigation_views').reply(404, '<h1>no</h1>');

    const { exitCode, error } = await run(service, `${line} -o json`);

    service.done();
    expect(exitCode).toBe(exit);
    const { code } = body as { code?: unknown };
    if ([4, 5, 6].includes(exit) && name !== 'settings-200-ignored') expect(error?.server?.code).toBe(code);
  });

  test.each([
    ['error-429', 28_782],
    ['error-429-tiny', 83],
    ['error-429-null', 1000],
  ])('%s is waited out, at least as long as asked', async (name, least) => {
    const { status, body, headers } = example(name).response;
    const service = fakeService();
    service.expect(messages).reply(status, body, headers);
    service.expect(messages).reply(200, example('messages-200-newest-empty').response.body);

    const { exitCode, slept } = await run(service, fetchLine);

    service.done();
    expect(exitCode).toBe(0);
    expect(slept).toHaveLength(1);
    expect(slept[0]).toBeGreaterThanOrEqual(least);
  });
});
