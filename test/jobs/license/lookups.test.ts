import { describe, expect, test } from 'vitest';
import type { License } from '../../../src/api/licensing/license.ts';
import { Failure } from '../../../src/core/failure.ts';
import type { LookedUpNames } from '../../../src/jobs/license/application-lookups.ts';
import { Lookups } from '../../../src/jobs/license/lookups.ts';
import { licensingAt } from '../../helpers/licensing-at.ts';
import { openOrigin } from '../../helpers/origin.ts';

interface Row {
  readonly license_code?: string;
  readonly remote_user?: unknown;
  readonly app_code?: unknown;
}

interface ServerHabits {
  /** How the filter finds names. */
  readonly finds?: (name: string, asked: string) => boolean;
  /** The response for these rows; the rows alone without it. */
  readonly shape?: (rows: readonly Row[], isFiltered: boolean, asked: string, page: string) => unknown;
  /** How many rows a filtered response has at most. */
  readonly cap?: number;
  /** How many rows any response has at most. */
  readonly listCap?: number;
}

const named = (names: readonly unknown[], fields: object = { app_code: 7 }): readonly Row[] =>
  names.map((remote_user, index) => ({ license_code: `K-${index}`, remote_user, ...fields }));

/** A server with these licenses, and what it was asked for. */
async function serve(rows: readonly Row[], habits: ServerHabits = {}) {
  const {
    finds = (name, asked) => name === asked,
    shape = (some) => some,
    cap = Infinity,
    listCap = Infinity,
  } = habits;
  const all = [...rows];
  const origin = await openOrigin(({ url }) => {
    const { searchParams, pathname } = new URL(url, 'http://licensing.test');
    const key = /^\/v1\/license\/([^/]+)\/$/.exec(pathname)?.[1];
    if (key !== undefined) {
      const row = all.find(({ license_code }) => license_code === key);
      return row ? { body: JSON.stringify(row) } : { status: 404, body: '{"detail":"Not found."}' };
    }
    const asked = searchParams.get('remote_user');
    const found = all.filter(({ remote_user }) => asked === null || finds(String(remote_user), asked));
    const answer = shape(
      found.slice(0, Math.min(listCap, asked === null ? Infinity : cap)),
      asked !== null,
      asked ?? '',
      searchParams.get('page') ?? '1',
    );
    if (answer === 404) return { status: 404, body: '{"detail":"Not found."}' };
    return { body: JSON.stringify(answer) };
  });
  const asked = () =>
    origin.seen.map(({ url }) => new URL(url, 'http://x.test').searchParams.get('remote_user') ?? 'all');
  return { port: origin.port, all, asked };
}

function lookupsAt(port: number, trustList = false, isOneOfSeveral = false) {
  let now = 0;
  return new Lookups({
    licensing: () => licensingAt(port),
    elapsed: () => (now += 1),
    trustList,
    isOneOfSeveral: () => Promise.resolve(isOneOfSeveral),
  });
}

/** What a lookup of this user says, and what was asked. */
async function lookUp(
  user: string,
  names: LookedUpNames,
  rows: readonly Row[],
  habits: ServerHabits & { readonly trustList?: boolean } = {},
) {
  const { port, asked } = await serve(rows, habits);
  const found = await lookupsAt(port, habits.trustList).of(7).lookUp(user, names);
  const users = 'licenses' in found ? found.licenses.map(nameOf) : undefined;
  const message = 'failure' in found ? found.failure.message : undefined;
  return { shows: found.shows, users: users ?? message, asked: asked() };
}

const nameOf = ({ fields }: License): unknown => fields['remote_user'];
const contains = (name: string, asked: string): boolean => name.includes(asked);
const ignored = (): boolean => true;

describe('a filter that is honoured is the lookup', () => {
  test.each<[string, string, LookedUpNames, readonly string[], ServerHabits, object]>([
    ['one license', 'ada', 'all forms', ['ada'], {}, { shows: 'licenses', users: ['ada'], asked: ['ada'] }],
    ['several', 'ada', 'given', ['ada', 'ada'], {}, { shows: 'licenses', users: ['ada', 'ada'] }],
    ['none', 'ada', 'given', ['bob'], {}, { shows: 'nothing', asked: ['ada'] }],
    [
      'none, in any of the forms that servers store',
      'aDa',
      'all forms',
      ['bob'],
      {},
      { shows: 'nothing', asked: ['aDa', 'ada', 'ADA', 'Ada'] },
    ],
    ['lower case is stored', 'Ada', 'all forms', ['ada'], {}, { shows: 'near', users: ['ada'] }],
    ['upper case is stored', 'ada', 'all forms', ['ADA'], {}, { shows: 'near', users: ['ADA'] }],
    ['a capital first letter is stored', 'ada', 'all forms', ['Ada'], {}, { shows: 'near', users: ['Ada'] }],
    [
      'names in any case are found',
      'ada',
      'all forms',
      ['ADA'],
      { finds: (name, asked) => name.toLowerCase() === asked.toLowerCase() },
      { shows: 'near', users: ['ADA'], asked: ['ada', expect.stringMatching(/^chatelaine-control/)] },
    ],
    [
      'names that sound alike are found',
      'jon',
      'given',
      ['john', 'joan'],
      { finds: (name, asked) => name.startsWith(asked.slice(0, 2)) },
      { shows: 'near', users: ['john', 'joan'] },
    ],
  ])('%s', async (_what, user, names, rows, habits, expected) => {
    expect(await lookUp(user, names, named(rows), habits)).toMatchObject(expected);
  });

  test('a key that is refused for one spelling is sent with no other', async () => {
    const asked: unknown[] = [];
    const pages = async function* ({ remote_user }: { readonly remote_user?: string | undefined }) {
      asked.push(remote_user);
      if (remote_user === 'ADA') throw new Failure('auth', 'refused');
      yield* [];
    };
    const licensing = () => ({ ...licensingAt(0), pages });
    const world = { licensing, elapsed: () => 0, trustList: false, isOneOfSeveral: () => Promise.resolve(false) };
    await expect(new Lookups(world).of(7).lookUp('ada', 'all forms')).rejects.toMatchObject({ kind: 'auth' });
    expect(asked).toEqual(['ada', 'ADA']);
  });
});

describe('where the filter finds parts of names, the list is the lookup, whole or not at all', () => {
  const users = (count: number) => Array.from({ length: count }, (_, index) => `u1${index}`);
  const parts: readonly (readonly [string, (name: string, asked: string) => boolean])[] = [
    ['contains', contains],
    ['in any case', (name, asked) => name.toLowerCase().includes(asked.toLowerCase())],
    ['begins', (name, asked) => name.startsWith(asked)],
    ['ends', (name, asked) => name.endsWith(asked) || name.startsWith(asked)],
    ['a word of', (name, asked) => name.split(/\W/).some((word) => word.startsWith(asked))],
  ];

  test.each(parts.flatMap(([what, finds]) => [5, 6, 10, 20].map((cap) => [what, cap, finds] as const)))(
    '%s, at most %i rows',
    async (_what, cap, finds) => {
      const rows = named([...users(23), 'u1']);
      const counted: ServerHabits['shape'] = (some, isFiltered) => (isFiltered ? some : { count: 24, results: some });
      const ask = async (user: string, shape?: ServerHabits['shape']) =>
        lookUp(user, 'given', rows, { finds, cap, ...(shape && { shape }) });

      expect(await ask('u1', counted)).toMatchObject({ shows: 'licenses', users: ['u1'] });
      expect(await ask('u', counted)).toMatchObject({ shows: 'nothing' });
      expect(await ask('u')).toMatchObject({
        shows: 'incomplete',
        users:
          'the server does not filter by the exact user, and its list of 24 licenses has no total: it may be incomplete',
      });
    },
  );

  test('the next lookups ask for the list alone', async () => {
    const { port, asked } = await serve(named([...users(23), 'u']), { finds: contains });
    const lookups = lookupsAt(port);
    await lookups.of(7).lookUp('u1', 'given');
    expect(lookups.of(7).isByList).toBe(true);
    await lookups.of(7).lookUp('u2', 'given');
    expect(asked()).toEqual(['u1', 'all', 'all']);
  });
});

describe('where the filter is ignored, the list counts if it is whole', () => {
  const users = (count: number) => Array.from({ length: count }, (_, index) => `user-${index}`);
  const ask = (count: number, habits: ServerHabits & { trustList?: boolean } = {}) =>
    lookUp('ada', 'all forms', named(users(count)), { finds: ignored, ...habits });

  test('an empty list counts', async () => {
    const found = await ask(0);
    expect(found).toMatchObject({ shows: 'nothing' });
  });

  test.each([1, 7, 9, 23, 33])('%i licenses are no round number, and count', async (count) => {
    expect(await ask(count)).toMatchObject({ shows: 'nothing' });
  });

  test('a list that has grown to a round number counts', async () => {
    const { port, all } = await serve(named(users(9)), { finds: ignored });
    const lookups = lookupsAt(port);
    const show = async () => (await lookups.of(7).lookUp('new', 'given')).shows;
    expect(await show()).toBe('nothing');
    all.push({ license_code: 'N-one', remote_user: 'one', app_code: 7 });
    expect(await show()).toBe('nothing');
  });

  test.each([5, 8, 12, 16, 20, 24, 50, 64])('%i licenses on one page without a total may be a part', async (count) => {
    expect(await ask(count)).toMatchObject({
      shows: 'incomplete',
      users: `the server does not filter by the exact user, and its list of ${count} license${count === 1 ? '' : 's'} has no total: it may be incomplete`,
    });
    expect(await ask(count, { trustList: true })).toMatchObject({ shows: 'nothing' });
    expect(await ask(count, { shape: (rows) => ({ total: count, data: rows }) })).toMatchObject({ shows: 'nothing' });
    for (const ofPage of [
      { count, limit: count, offset: 0 },
      { numberOfElements: count, size: 100 },
    ])
      expect(await ask(count, { shape: (data) => ({ ...ofPage, data }) })).toMatchObject({ shows: 'incomplete' });
    const promised = await ask(count, { trustList: true, shape: (rows) => ({ total: count + 1, data: rows }) });
    expect(promised).toMatchObject({ shows: 'incomplete' });
  });

  /** Pages of so many rows. */
  const paged =
    (...sizes: readonly number[]): NonNullable<ServerHabits['shape']> =>
    (rows, _isFiltered, _asked, page) => {
      const [begin = 0, end = 0] = [Number(page) - 1, Number(page)].map((count) =>
        sizes.slice(0, count).reduce((sum, size) => sum + size, 0),
      );
      return { ...(end < rows.length && { next: `?page=${Number(page) + 1}` }), data: rows.slice(begin, end) };
    };

  test('pages of one length but the last are all', async () => {
    for (const sizes of [
      [4, 3],
      [3, 3, 1],
      [2, 2, 2, 1],
    ])
      expect(await ask(7, { shape: paged(...sizes) })).toMatchObject({ shows: 'nothing' });
  });

  test.each<[string, NonNullable<ServerHabits['shape']>]>([
    ['a total below the rows is none', (rows) => ({ total: 1, data: rows })],
    ['a second page may not be longer than the first', paged(3, 4)],
    ['no page but the last may be shorter than the first', paged(3, 2, 2)],
  ])('%s: it shows that nobody knows how many there are', async (_what, shape) => {
    expect(await ask(7, { shape })).toMatchObject({
      shows: 'incomplete',
      users: 'the server truncates its list after 7 licenses',
    });
  });

  test('a list that lacks a license of an earlier one is a part, whoever trusts it', async () => {
    const { port, all } = await serve(named(users(9)), { finds: ignored });
    const lookups = lookupsAt(port, true);
    const ask = async (remote_user: string) => (await lookups.of(7).lookUp(remote_user, 'given')).shows;
    const add = (name: string) => all.push({ license_code: `N-${name}`, remote_user: name, app_code: 7 });

    expect(await ask('new')).toBe('nothing');
    add('one');
    expect(await ask('new')).toBe('nothing');
    all.shift();
    add('two');
    expect(await ask('new')).toBe('incomplete');
    expect(await ask('two')).toBe('licenses');
    all.splice(1);
    expect(await ask('new')).toBe('incomplete');
  });

  test('what the list shows is there, whole or not', async () => {
    const found = await lookUp('user-3', 'given', named(users(20)), { finds: ignored, cap: 2 });
    expect(found).toMatchObject({ shows: 'licenses', users: ['user-3'] });
  });

  test('a similar name in the list', async () => {
    const counted: ServerHabits['shape'] = (rows) => ({ count: 7, data: rows });
    expect(await lookUp('USER-3', 'given', named(users(7)), { finds: ignored, shape: counted })).toMatchObject({
      shows: 'near',
      users: ['user-3'],
    });
  });

  test.each<[string, unknown]>([
    ['an object', { id: 1 }],
    ['null', null],
    ['a masked form of the name', 'a*a'],
    ['a masked form in other letters', 'AD…'],
  ])('a row whose name is %s proves nothing', async (_what, name) => {
    expect(await lookUp('ada', 'given', named([...users(6), name]), { finds: ignored })).toMatchObject({
      shows: 'incomplete',
    });
  });

  test('all who wait share one list that begins after they came', async () => {
    const { port, asked } = await serve(named(users(7)), { finds: ignored });
    const lookups = lookupsAt(port);
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((remote_user) => lookups.of(7).lookUp(remote_user, 'all forms')));
    expect(asked()).toEqual(['a', expect.stringMatching(/^chatelaine-control/), 'all']);
  });
});

test.each<[string, readonly unknown[], object]>([
  ['that the list names', ['ada', 'bob'], { shows: 'licenses', users: ['ada'], asked: ['ada', 'all'] }],
  ['that the list does not name either', [undefined, undefined], { shows: 'incomplete' }],
])('rows without a name behind a filter prove nothing: %s', async (_what, names, expected) => {
  const shape: ServerHabits['shape'] = (rows, isFiltered) =>
    isFiltered ? [{ license_code: 'K-0', app_code: 7 }] : { count: 2, data: rows };
  expect(await lookUp('ada', 'given', named(names), { finds: ignored, shape })).toMatchObject(expected);
});

describe('an empty response of the filter, on servers with other lists', () => {
  type Shape = NonNullable<ServerHabits['shape']>;
  test.each<[string, Shape, string[]?]>([
    ['null', (rows) => (rows.length > 0 ? rows : null), ['new', 'all']],
    ['licenses: null', (rows) => ({ licenses: rows.length > 0 ? rows : null }), ['new', 'all']],
    ['content: []', (rows) => ({ content: rows, totalElements: rows.length, last: true }), ['new']],
    ['HAL', (rows) => ({ _embedded: { licenses: rows } }), ['new']],
    [
      'HAL without _embedded',
      (rows) => (rows.length > 0 ? { _embedded: { users: rows } } : { _links: {} }),
      ['new', 'all'],
    ],
    ['value', (rows) => ({ '@odata.context': 'x', value: rows }), ['new']],
    ['objects', (rows) => ({ meta: { total_count: rows.length }, objects: rows }), ['new']],
    ['records', (rows) => ({ records: rows }), ['new']],
    ['hydra:member', (rows) => ({ 'hydra:member': rows, 'hydra:search': { 'hydra:mapping': [{}] } }), ['new']],
    ['result', (rows) => ({ result: rows }), ['new', 'all']],
    ['data.list', (rows) => ({ data: { list: rows } }), ['new']],
    ['data.things', (rows) => ({ data: { things: rows } }), ['new', 'all']],
    ['404', (rows) => (rows.length > 0 ? rows : 404), ['new', 'all']],
    ['recordsTotal', (rows) => ({ recordsTotal: 3, recordsFiltered: rows.length, data: rows })],
    ['a total of all', (rows) => ({ total: 3, data: rows })],
    ['a number of pages of all', (rows, isFiltered) => ({ total_pages: isFiltered ? 2 : 1, data: rows })],
    ['a cursor that is always there', (rows) => ({ next_cursor: Math.random().toString(36), data: rows })],
    [
      'a next page that is always there',
      (rows, _isFiltered, asked) => ({ next: `?remote_user=${asked}&page=2`, data: rows }),
    ],
  ])('%s', async (_what, shape, asked) => {
    const rows = named(['ada', 'bob', 'cy']);
    const none = await lookUp('new', 'given', rows, { shape });
    expect(none).toMatchObject({ shows: 'nothing' });
    expect(none.asked).toEqual(asked ?? none.asked);
    expect(await lookUp('bob', 'given', rows, { shape })).toMatchObject({ shows: 'licenses', users: ['bob'] });
    expect(await lookUp('bob', 'given', named([]), { shape }).catch(() => 'no list')).toEqual(
      /^(result|data.things|404|HAL without.*)$/.test(_what)
        ? 'no list'
        : expect.objectContaining({ shows: 'nothing' }),
    );
  });

  test.each<[string, Shape]>([
    ['a count alone', () => ({ count: 0 })],
    [
      'another list than that of the server',
      (rows, isFiltered) => (isFiltered ? { warnings: [{}], more: [{}] } : { licenses: rows }),
    ],
    ['an object in place of an array', (rows, isFiltered) => (isFiltered ? {} : rows)],
    ['an empty object in place of the array', (rows, isFiltered) => ({ result: isFiltered ? {} : rows })],
    ['404 from all', () => 404],
  ])('%s is no empty list', async (_what, shape) => {
    await expect(lookUp('new', 'given', named(['ada']), { shape })).rejects.toMatchObject({ name: 'Failure' });
  });

  test.each<[string, object]>([
    ['has_more', { has_more: true }],
    ['the number of the next page', { next_page: 2 }],
    ['the path of the next page', { next: '/v1/license/page/2' }],
  ])('%s is no sign that is always there', async (_what, sign) => {
    const shape: Shape = (rows) => ({ ...sign, data: rows });
    expect(await lookUp('new', 'given', named(['ada']), { shape })).toMatchObject({ shows: 'incomplete' });
  });

  test.each([
    ['cy', { shows: 'licenses', users: ['cy'] }],
    ['eve', { shows: 'incomplete' }],
    ['new', { shows: 'incomplete' }],
  ])('a server that filters the rows of each page says nothing of %s by a page without rows', async (user, found) => {
    const rows = named(['ada', 'bob', 'cy', 'dan', 'eve']);
    const shape: Shape = (some, _isFiltered, asked, page) => ({
      results: some.filter((row) => Math.ceil((rows.indexOf(row) + 1) / 2) === Number(page)),
      next: page === '1' ? `?remote_user=${asked}&page=2` : page === '2' ? `?remote_user=${asked}&page=3` : null,
    });
    expect(await lookUp(user, 'given', rows, { shape })).toMatchObject(found);
  });

  test('a sign of more that nobody has makes the response incomplete', async () => {
    let count = 0;
    const shape: Shape = (rows) => ({ next_cursor: (count += 1) === 1 ? 'abc' : null, data: rows });
    expect(await lookUp('new', 'given', named(['ada']), { shape })).toMatchObject({ shows: 'incomplete' });
  });
});

describe('one list as a hint', () => {
  const users = (names: readonly string[], app_code = 7) => names.map((remote_user) => ({ remote_user, app_code }));

  test('shows who has a license, and whose name is similar', async () => {
    const long = 'a-name-that-is-longer-than-thirty-characters';
    const rows = [...named(['ada', 'ADA', 'ben', '7', 'cyd', long.slice(0, 30), 'nobody', long.slice(0, 29)])];
    rows.push(
      { license_code: 'E-1', remote_user: 'eve', app_code: 'seven' },
      { license_code: 'E-2', remote_user: 'eve', app_code: 8 },
    );
    const { port, asked } = await serve(rows);
    const wanted = users(['ada', 'Ben', '007', 'cy d', long, 'eve', 'new']);

    const resultOf = await lookupsAt(port).list(wanted);

    const shown = wanted.map((user) => {
      const result = resultOf(user);
      return [user.remote_user, result?.shows, result && 'licenses' in result && result.licenses.map(({ key }) => key)];
    });
    expect(shown).toEqual([
      ['ada', 'licenses', ['K-0']],
      ['Ben', 'near', ['K-2']],
      ['007', 'near', ['K-3']],
      ['cy d', 'near', ['K-4']],
      [long, 'near', ['K-5']],
      ['eve', 'near', ['E-1']],
      ['new', undefined, undefined],
    ]);
    expect(asked()).toEqual(['all']);
  });

  test('a lookup knows the similar names of the hint', async () => {
    const { port } = await serve(named(['Élan']));
    const lookups = lookupsAt(port);
    await lookups.list(users(['E\u0301lan']));
    expect(await lookups.of(7).lookUp('E\u0301lan', 'given')).toMatchObject({ shows: 'near' });
  });

  test.each([
    [1000, 'near'],
    [1001, undefined],
  ])('a list of %i licenses on one page shows a similar name: %s', async (count, shows) => {
    const names = ['bob', ...Array.from({ length: count - 1 }, (_, index) => `user-${index}`)];
    const { port } = await serve(named(names), { shape: (rows) => ({ total: rows.length, data: rows }) });
    const [user] = users(['BOB']);
    expect(user && (await lookupsAt(port).list([user]))(user)?.shows).toBe(shows);
  });

  test.each([
    ['a total of so many', 1001, true],
    ['a total of fewer', 1000, false],
  ])('page one has %s: it is read on (%i)', async (_what, total, isLeft) => {
    const { port, asked } = await serve(named(['ada', 'bob', 'cyd']), {
      shape: (rows) => ({ total, next: '?page=2', data: rows }),
    });
    const lookups = lookupsAt(port);
    const resultOf = await lookups.list(users(['ada', 'BOB']));
    expect(asked().length === 1).toBe(isLeft);
    expect(lookups.of(7).others).toEqual(new Set());
    expect(resultOf({ remote_user: 'ada', app_code: 7 })).toMatchObject(isLeft ? { shows: 'licenses' } : {});
    expect(resultOf({ remote_user: 'BOB', app_code: 7 })).toBeUndefined();
  });
});

describe('the license that a POST was answered', () => {
  test.each<[string, string, unknown, string]>([
    ['the same name', 'ada', 'ada', 'as asked'],
    ['no name', 'ada', undefined, 'as asked'],
    ['lower case', 'Ada', 'ada', 'stored otherwise'],
    ['the local part', 'ada@example.org', 'ada', 'stored otherwise'],
    ['without the domain', 'CORP\\ada', 'ada', 'stored otherwise'],
    ['cut', 'a'.repeat(40), 'a'.repeat(32), 'stored otherwise'],
    ['another user', 'ada', 'bob', 'another'],
    ['a user whose name is the beginning', 'ada', 'ad', 'another'],
  ])('%s', async (_what, remote_user, name, is) => {
    const { port } = await serve(named([name]));
    expect(await lookupsAt(port).viewKey({ remote_user, app_code: 7 }, 'K-0')).toMatchObject({ is });
  });

  test('one that the server does not know', async () => {
    const { port } = await serve(named(['ada']));
    expect(await lookupsAt(port).viewKey({ remote_user: 'ada', app_code: 7 }, 'K-00')).toMatchObject({
      is: 'not there',
      failure: { kind: 'not_found' },
    });
  });

  test('one of another application', async () => {
    const { port } = await serve(named(['ada'], { app_code: 8 }));
    expect(await lookupsAt(port).viewKey({ remote_user: 'ada', app_code: 7 }, 'K-0')).toMatchObject({
      is: 'another',
    });
  });
});

describe('a listed value is a key if the server answers it with the license of its user', () => {
  const license = (key: string | undefined, remote_user = 'ada'): License => ({ key, fields: { remote_user } });

  test.each<[string, string | undefined, string | undefined]>([
    ['its key', 'K-0', undefined],
    ['the key of another user', 'K-1', 'the value that the server lists is the key of another license'],
    ...['K-xxx-1', 'XXX1', '###1', 'XXX-0'].map(
      (key) =>
        [key, key, 'the value that the server lists is not its key (no license has this code)'] as [
          string,
          string,
          string,
        ],
    ),
    ['its key, with three equal letters', 'K-XXX', undefined],
    ['an id', '17', 'the value that the server lists is not its key (no license has this code)'],
    ...['****2345', '12…45', 'K·1', 'K•'].map(
      (key) => [key, key, 'the server shows only a part of its key'] as [string, string, string],
    ),
  ])('%s', async (_what, key, why) => {
    const { port } = await serve([
      ...named(['ada', 'bob']),
      { license_code: 'K-XXX', remote_user: 'ada', app_code: 7 },
    ]);
    const failure = await lookupsAt(port).whyNoKey({ remote_user: 'ada', app_code: 7 }, license(key));
    expect(failure?.message).toBe(why && `the user has a license, and its key is not known: ${why}`);
    expect(failure?.kind).toBe(why && 'incomplete');
  });

  test('without a field that is known as the key, the profile can name it', async () => {
    const { port } = await serve(named(['ada']));
    const failure = await lookupsAt(port).whyNoKey({ remote_user: 'ada', app_code: 7 }, license(undefined));
    expect(failure).toMatchObject({
      kind: 'incomplete',
      message:
        'the user has a license: no field of the license can be recognized as its key; its fields are: remote_user',
      details: { hint: expect.stringContaining('--key-field') as string },
    });
  });

  test('one that may be masked is requested, whatever others are', async () => {
    const { port } = await serve(named(['ada', 'bob']));
    const lookups = lookupsAt(port);
    const keys = ['K-0', 'XXX1', 'K-0'].map((key) =>
      lookups.whyNoKey({ remote_user: 'ada', app_code: 7 }, license(key)),
    );
    expect((await Promise.all(keys)).map((failure) => failure?.kind)).toEqual([undefined, 'incomplete', undefined]);
  });

  test("one that is listed for two users is nobody else's than the first one's", async () => {
    const { port } = await serve(named(['ada', 'bob']));
    const lookups = lookupsAt(port);
    expect(await lookups.whyNoKey({ remote_user: 'ada', app_code: 7 }, license('K-0'))).toBeUndefined();
    const failure = await lookups.whyNoKey({ remote_user: 'bob', app_code: 7 }, license('K-0', 'bob'));
    expect(failure?.message).toBe(
      "the user has a license, and its key is not known: the server lists the key of 'ada'",
    );
  });

  test('one that names no application is no key where several are stored', async () => {
    const { port } = await serve(named(['ada']));
    const lookups = lookupsAt(port, false, true);
    const failure = await lookups.whyNoKey({ remote_user: 'ada', app_code: 7 }, license('K-0'));
    expect(failure?.message).toBe(
      'the user has a license, and its key is not known: the list names no application, and several of this server are stored',
    );
    const own = { key: 'K-0', fields: { remote_user: 'ada', app_code: 7 } };
    expect(await lookups.whyNoKey({ remote_user: 'ada', app_code: 7 }, own)).toBeUndefined();
  });

  test('it is asked for once', async () => {
    const { port, asked } = await serve(named(['ada', 'bob']));
    const lookups = lookupsAt(port);
    for (const [user, key] of [
      ['ada', 'K-0'],
      ['bob', 'K-1'],
    ] as const)
      expect(await lookups.whyNoKey({ remote_user: user, app_code: 7 }, license(key, user))).toBeUndefined();
    expect(asked()).toHaveLength(1);
  });
});
