import { describe, expect, test } from 'vitest';
import { notShown } from '../../../src/api/licensing/license-writes.ts';
import type { License } from '../../../src/api/licensing/license.ts';
import { ListedUsers } from '../../../src/jobs/license/listed-users.ts';
import { openOrigin, type Reply, type Seen } from '../../helpers/origin.ts';
import { licensingAt } from '../../helpers/licensing-at.ts';

const fields = { remote_user: 'ada', app_code: 7, size_allowance: 4 };
const ada = { license_code: 'K-1', ...fields };

async function serving(respond: (request: Seen, count: number) => unknown) {
  const origin = await openOrigin((request, count): Reply => {
    const answer = respond(request, count);
    return typeof answer === 'object' && answer !== null && 'body' in answer
      ? (answer as Reply)
      : { body: JSON.stringify(answer) };
  });
  return { api: licensingAt(origin.port), seen: origin.seen };
}

test.each(['POST', 'PUT', 'PATCH'] as const)('the body of %s has the fields of the table alone', async (method) => {
  const { api, seen } = await serving(() => ada);
  const row = { note: 'of the roster', ...fields, department: 'ward 3', license_code: 'K-0' };

  await (method === 'POST' ? api.create(row) : api.update({ code: 'K-1', fields: row, method }));

  expect(seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([fields]);
});

test('a change has the fields that it is given', async () => {
  const { api, seen } = await serving(() => ada);

  await api.update({ code: 'K-1', fields: { size_allowance: 4, remote_user: undefined } });

  expect(seen.map(({ body }) => body)).toEqual(['{"size_allowance":4}']);
});

test.each<[string, number, unknown, string]>([
  [
    'a list that says error',
    200,
    { results: [ada, ada], errors: ['shard 2 is down'] },
    'results: 2 licenses; errors: shard 2 is down',
  ],
  ['one inside an object', 200, { status: 'failed', data: { rows: [ada] } }, 'data: {"rows":"1 license"}'],
  ['one license in an error', 409, { message: 'taken', by: { ...fields, key: 'K-1' } }, 'by: {"remote_user":"ada",'],
  ['one of an unknown key', 500, [{ serial: 'K-1', ...fields }], '(500): 1 license'],
  [
    'a key beside the message',
    402,
    { license_code: 'K-1', message: 'quota' },
    '(402): license_code: [license_code]; message: quota',
  ],
  ['what is wrong with a key', 400, { license_code: 'No license has this code.' }, 'license_code: No license has this'],
  [
    'a code that is an error',
    400,
    { errors: [{ code: 'invalid', remote_user: 'must be ASCII' }] },
    'errors: {"code":"invalid","remote_user":"must be ASCII"}',
  ],
  ['what is wrong with fields', 400, { errors: { remote_user: 'K is no name' } }, '{"remote_user":"K is no name"}'],
])('an error repeats no key: %s', async (_what, status, body, said) => {
  const { api } = await serving(() => ({ status, body: JSON.stringify(body) }));

  const failure = await api
    .list({}, 'whole')
    .next()
    .catch((cause: unknown) => cause);

  expect(failure).toHaveProperty('message', expect.stringContaining(said));
  expect(JSON.stringify(failure) + String(failure)).not.toContain('K-1');
});

describe('what a POST answers', () => {
  test.each<[string, unknown, string]>([
    ['the license', ada, 'K-1'],
    ['sizes and codes as text', { ...ada, app_code: '7', size_allowance: '4' }, 'K-1'],
    ['another case', { ...ada, remote_user: 'ADA' }, 'K-1'],
    ['202 with the license', { status: 202, body: JSON.stringify(ada) }, 'K-1'],
    ['code beside a field of the license', { code: 'K-1', remote_user: 'ada' }, 'K-1'],
    ['license_key', { remote_user: 'ada', license_key: 'K-1' }, 'K-1'],
    ['key', { key: 'K-1', size_allowance: 4 }, 'K-1'],
    ['license', { license: 'K-1', app_code: 7 }, 'K-1'],
    ['the first known name', { key: 'no', license_code: 'K-1', app_code: 7 }, 'K-1'],
    ['an object inside it', { ...ada, app: { name: 'Harbour' } }, 'K-1'],
    ['a named key beside an object', { license_code: 'K-1', holder: { remote_user: 'ada', mail: 'a@b.test' } }, 'K-1'],
    ['a license inside, with a word beside it', { message: 'created', data: ada }, 'K-1'],
    ['a license inside, with its own status', { status: 'ok', license: { key: 'K-1', remote_user: 'ada' } }, 'K-1'],
    ['error words in the license itself', { ...ada, status: 'error', detail: 'Activation failed once.' }, 'K-1'],
  ])('%s is answered as asked', async (_what, body, key) => {
    const { api } = await serving(() => body);

    expect(await api.create(fields)).toMatchObject({ state: 'answered', license_is: 'as asked', license: { key } });
  });

  test.each<[string, unknown, string]>([
    ['nothing', { status: 201, body: '' }, 'without a key'],
    ['null', null, 'without a key'],
    ['a license without a key', fields, 'without a key'],
    ['a bare text', 'K-1', 'without a key'],
    ['code alone', { code: 'K-1' }, 'without a key'],
    ['a name that is not known', { serial: 'K-1', remote_user: 'ada' }, 'without a key'],
    ['a code that is an error', { code: 403, message: 'Forbidden' }, 'without a key'],
    ['a word for an error', { code: 'BAD_REQUEST', hint: 'Ask us.' }, 'without a key'],
    ['the number of a request', { ...fields, request_id: 'req-7f3a' }, 'without a key'],
    ['a sentence', 'License was created', 'without a key'],
    ['a task', { task: 'job-7f3a-123' }, 'without a key'],
    ['a number', 17, 'without a key'],
    ['a key of 0', { ...fields, license_code: 0 }, 'without a key'],
    ['another user', { ...ada, remote_user: 'bob' }, 'another'],
    ['another size', { ...ada, size_allowance: 5 }, 'another'],
    ['another application', { ...ada, app_code: 8 }, 'another'],
    ['another user without a key', { remote_user: 'bob' }, 'another'],
    ['an error', { error: 'quota' }, 'unanswered'],
    ['an error with the fields in it', { errors: { remote_user: ['Taken.'] } }, 'unanswered'],
    ['success false', { success: false, code: 'K-1' }, 'unanswered'],
    ['a page', { status: 200, body: '<html><title>Sign in</title></html>' }, 'unanswered'],
    ['a cut document', { status: 201, body: '{"license_code": "K-' }, 'unanswered'],
    ['a redirect inside the origin', { status: 307, headers: { location: '/v2/license/' }, body: '' }, 'without a key'],
    ['a redirect without a URL', { status: 300, body: '' }, 'without a key'],
    ['a redirect to no URL', { status: 302, headers: { location: 'https://[' }, body: '' }, 'without a key'],
    ['a redirect elsewhere', { status: 302, headers: { location: 'https://x.test/' }, body: '' }, 'unanswered'],
    ['a word', { status: 200, body: 'OK' }, 'without a key'],
    ['a text with markup', { status: 200, body: 'Please <b>sign in</b>' }, 'unanswered'],
  ])('%s leaves open what was created', async (_what, body, what) => {
    const { api, seen } = await serving(() => body);

    const creation = await api.create(fields);
    expect(creation.state === 'answered' ? creation.license_is : creation.state).toBe(what);
    expect(seen.length).toBe(1);
  });

  test('a refusal that repeats the license code is shown without it', async () => {
    const { api } = await serving(() => ({ status: 400, body: '{"detail":"K-1234 is locked (K-1234)"}' }));
    const told = {
      message: 'the licensing API refused the request (400): [license_code] is locked ([license_code])',
      details: { server: { msg: '[license_code] is locked ([license_code])' } },
    };

    await expect(api.view('K-1234')).rejects.toMatchObject(told);
    await expect(api.update({ code: 'K-1234', fields: { size_allowance: 6 } })).rejects.toMatchObject(told);
    await expect(api.update({ code: 'K-1234', fields, method: 'PUT' })).rejects.toMatchObject(told);
  });

  test('the answered license is named where it differs', async () => {
    const { api } = await serving(() => ({ ...ada, license_code: 'K-12345', remote_user: 'bob', size_allowance: 9 }));

    const creation = await api.create(fields);
    expect(creation).toMatchObject({ license: { key: 'K-12345' }, license_is: 'another' });
    expect(creation.state === 'answered' && notShown(creation, fields)).toMatchObject({
      kind: 'unknown',
      message:
        "the server returned another license (its key ends with 2345): remote_user 'bob' instead of 'ada', size_allowance 9 instead of 4",
    });
    const asAsked = {
      state: 'answered',
      status: 201,
      license: { key: 'K-12345', fields },
      license_is: 'as asked',
    } as const;
    expect(notShown(asAsked, fields).message).toBe('the server returned 201 with a license (its key ends with 2345)');
  });
});

describe('what a PATCH answers', () => {
  const resize = async (answered: unknown, readBack: unknown) => {
    const { api, seen } = await serving(({ method }) => (method === 'GET' ? readBack : answered));
    const outcome = await api.update({ code: 'K-1', fields: { size_allowance: 6 } }).then(
      (license) => license,
      (cause: unknown) => cause,
    );
    return { outcome, methods: seen.map(({ method }) => method) };
  };
  const resized = { ...ada, size_allowance: 6 };

  /** Responses that show the new size. */
  test.each<[string, unknown]>([
    ['the license', resized],
    ['the license inside an object', { license: resized, message: 'ok' }],
    ['the size as text', { ...resized, size_allowance: '6' }],
    ['the new size beside a status', { ...resized, status: 'error' }],
    ['the new size alone', { size_allowance: 6 }],
    ['a masked key', { ...resized, license_code: '***1' }],
  ])('%s is taken', async (_what, answered) => {
    expect(await resize(answered, ada)).toMatchObject({ outcome: { key: 'K-1' }, methods: ['PATCH'] });
  });

  /** Responses that prove nothing, or something else. */
  const silent: readonly (readonly [string, unknown])[] = [
    ['nothing', { status: 204, body: '' }],
    ['an empty body', { status: 200, body: '' }],
    ['null', null],
    ['an empty object', {}],
    ['an empty list', []],
    ['a word', { message: 'ok' }],
    ['a bare word', 'updated'],
    ['a text', { status: 200, body: 'OK' }],
    ['updated false', { updated: false }],
    ['updated true', { updated: true }],
    ['a number of changes', { modified: 0 }],
    ['a status', { status: 'pending' }],
    ['202 with a status', { status: 202, body: '{"status":"pending"}' }],
    ['202 with a task', { status: 202, body: '{"task":"7f3a"}' }],
    ['the key', { license_code: 'K-1' }],
    ['a bare key', 'K-1'],
    ['the id of a request', { request_id: 'r-1' }],
    ['the user alone', { remote_user: 'ada', app_code: 7 }],
    ['the size null', { ...ada, size_allowance: null }],
    ['a page', { status: 200, body: '<html><title>Sign in</title></html>' }],
    ['cut JSON', { status: 200, body: '{"license_code": "K-' }],
    ['a redirect', { status: 303, headers: { location: '/v1/license/K-1/' }, body: '' }],
    ['a redirect elsewhere', { status: 302, headers: { location: 'https://x.test/' }, body: '' }],
  ];
  const contrary: readonly (readonly [string, unknown])[] = [
    ['the old size', ada],
    ['an error', { error: 'locked' }],
    ['success false', { success: false }],
    ['what is wrong with the field', { size_allowance: ['Too large.'] }],
    ['another key', { ...resized, license_code: 'K-2' }],
    ['the beginning of the key', { ...resized, license_code: 'K-' }],
  ];

  test.each([...silent, ...contrary])('%s: the license is read back, and has the new size', async (_what, answered) => {
    expect(await resize(answered, resized)).toEqual({
      outcome: { key: 'K-1', fields: resized },
      methods: ['PATCH', 'GET'],
    });
  });

  test.each([...silent, ...contrary])('%s: the license is read back, and has the old size', async (_what, answered) => {
    const message: unknown = expect.stringMatching(/; read back, the license has .*size_allowance 4 instead of 6$/);
    expect(await resize(answered, ada)).toMatchObject({
      outcome: { kind: 'rejected', message },
      methods: ['PATCH', 'GET'],
    });
  });

  test.each<[string, unknown, unknown, string, RegExp]>([
    ['an error, and a license without a size', { error: 'locked' }, { key: 'K-1', app_code: 7 }, 'rejected', /locked$/],
    [
      'an error, and no license to read',
      { error: 'locked' },
      { status: 404, body: '{}' },
      'rejected',
      /locked; the lic/,
    ],
    [
      'the old size, and a license without a size',
      ada,
      { license_key: 'K-1' },
      'unknown',
      /size_allowance 4 instead of 6$/,
    ],
    ['the old size, and no license to read', ada, { status: 404, body: '{}' }, 'unknown', /of 6; .* not be read back/],
    ['nothing, and no license to read', null, { status: 500, body: '' }, 'unknown', /not show it; .* not be read back/],
  ])('%s', async (_what, answered, readBack, kind, message) => {
    expect(await resize(answered, readBack)).toMatchObject({
      outcome: { kind, message: expect.stringMatching(message) as string },
      methods: ['PATCH', 'GET'],
    });
  });

  test('a server that never shows sizes', async () => {
    const shown = { license_code: 'K-1' };
    expect(await resize(shown, shown)).toMatchObject({ outcome: { key: 'K-1' }, methods: ['PATCH', 'GET'] });
  });
});

describe('a row of a list without filters', () => {
  const long = 'department-of-physiology-and-rehabilitation-7731';
  const likenessIn = (fields: License['fields'], asked: string): string => {
    const listed = new ListedUsers(7, new Set([asked]));
    listed.add({ key: 'K-1', fields });
    return listed.exact.has(asked) ? 'exact' : listed.near.has(asked) ? 'near' : 'other';
  };

  test.each<[string, unknown, string]>([
    ['ada', 'ada', 'exact'],
    ['Ada', 'ada', 'near'],
    ['ada  lovelace', 'ada lovelace', 'near'],
    [' ada', 'ada', 'near'],
    ['007', 7, 'near'],
    ['0', '00', 'near'],
    ['ﬁnn', 'finn', 'near'],
    [long, long.slice(0, 30), 'near'],
    [long, long.slice(0, 29), 'other'],
    ['ada', 'adam', 'other'],
    ['ada', undefined, 'other'],
    ['70', 7, 'other'],
  ])('%j beside %j is %s', (asked, name, expected) => {
    expect(likenessIn({ remote_user: name }, asked)).toBe(expected);
  });

  test.each<[unknown, string]>([
    [7, 'exact'],
    ['7', 'exact'],
    [null, 'exact'],
    ['harbour', 'near'],
    ['007', 'near'],
    [{ id: 7 }, 'near'],
    [8, 'other'],
    ['8', 'other'],
  ])('app_code %j is %s', (app_code, expected) => {
    expect(likenessIn({ remote_user: 'ada', app_code }, 'ada')).toBe(expected);
  });
});
