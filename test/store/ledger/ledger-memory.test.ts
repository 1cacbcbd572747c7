import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realAlarm, realClock } from '../../../src/cli/clock.ts';
import { isObject } from '../../../src/core/json.ts';
import { ledgerAddress } from '../../../src/store/ledger/ledger-address.ts';
import { openLedger } from '../../../src/store/ledger/ledger.ts';
import { ledgerVersion } from '../../../src/store/ledger/ledger-steps.ts';
import { openDatabase, stateOf } from '../../../src/store/ledger/postgres.ts';
import { isWhole } from '../../helpers/extent.ts';
import { needs } from '../../helpers/needs.ts';
import { startPostgres, type Cluster } from '../../helpers/postgres.ts';
import { chanceOf } from '../../simulation/chance.ts';
import { createLedgerMemory } from '../../simulation/ledger-memory.ts';
import { systemIn } from '../system.ts';

/**
 * The claims in memory of the simulation and the functions in PostgreSQL are held to the same cases: each step is a
 * call of one run, over a connection of its own.
 */
type Step =
  | readonly [run: string, does: 'open', rememberHours: number]
  | readonly [run: string, does: 'take', users: string]
  | readonly [run: string, does: 'busy', users: string]
  /** A POST for each of them will have ended in so many hours. */
  | readonly [run: string, does: 'sending', users: string, hours: number]
  | readonly [run: string, does: 'answered', users: string]
  | readonly [run: string, does: 'release', users: string, sent: string, shown: string]
  /** What is known of the queue, to a run with so many POSTs under way; `keeps` replaces what it saw last. */
  | readonly [run: string, does: 'queued', wide: number, keeps?: string]
  | readonly [run: string, does: 'turn', wanted: boolean]
  /** Its connection ends. */
  | readonly [run: string, does: 'end'];

interface Backend {
  call(text: string, values: readonly unknown[]): Promise<unknown>;
  /** Resolves when the server has noticed. */
  end(): Promise<void>;
  close(): Promise<void>;
}

const hour = 3_600_000;

const cases: readonly { readonly about: string; readonly steps: readonly Step[]; readonly last: unknown }[] = [
  {
    about: 'who holds a user keeps it from others',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'take', 'xy'],
      ['b', 'take', 'yz'],
    ],
    last: { past: [], held: ['y'], holder: 'a' },
  },
  {
    about: 'a session takes again what it holds',
    steps: [
      ['a', 'open', 24],
      ['a', 'take', 'xy'],
      ['a', 'take', 'x'],
    ],
    last: { past: [], held: [], holder: null },
  },
  {
    about: 'what was given back without a POST leaves nothing',
    steps: [
      ['a', 'open', 24],
      ['a', 'take', 'x'],
      ['a', 'sending', 'x', 10],
      ['a', 'release', 'x', '', ''],
      ['a', 'take', 'x'],
    ],
    last: { past: [], held: [], holder: null },
  },
  {
    about: 'a POST that was sent ended when its user was given back',
    steps: [
      ['a', 'open', 24],
      ['a', 'take', 'x'],
      ['a', 'sending', 'x', 10],
      ['a', 'release', 'x', 'x', ''],
      ['a', 'take', 'x'],
    ],
    last: { past: [['x', 0, null]], held: [], holder: null },
  },
  {
    about: 'a POST of a session that has ended ends at its limit, whoever gives the user back meanwhile',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'take', 'xy'],
      ['a', 'sending', 'x', 10],
      ['a', 'end'],
      ['b', 'take', 'xy'],
      ['b', 'release', 'xy', 'x', ''],
      ['b', 'take', 'xy'],
    ],
    last: { past: [['x', 10, null]], held: [], holder: null },
  },
  {
    about: 'the later of two limits counts',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'take', 'x'],
      ['a', 'sending', 'x', 10],
      ['a', 'sending', 'x', 5],
      ['a', 'end'],
      ['b', 'take', 'x'],
    ],
    last: { past: [['x', 10, null]], held: [], holder: null },
  },
  {
    about: 'of a session that has ended while a second POST was on its way, the second one counts',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'take', 'x'],
      ['a', 'sending', 'x', 5],
      ['a', 'release', 'x', 'x', ''],
      ['a', 'take', 'x'],
      ['a', 'sending', 'x', 10],
      ['a', 'end'],
      ['b', 'take', 'x'],
    ],
    last: { past: [['x', 10, null]], held: [], holder: null },
  },
  {
    about: 'an answer stays until a list has shown the license',
    steps: [
      ['a', 'open', 24],
      ['a', 'take', 'xy'],
      ['a', 'answered', 'xy'],
      ['a', 'release', 'xy', 'xy', 'y'],
      ['a', 'take', 'xy'],
    ],
    last: {
      past: [
        ['x', 0, 'a'],
        ['y', 0, null],
      ],
      held: [],
      holder: null,
    },
  },
  {
    about: 'an answer of a session that has ended stays',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'take', 'x'],
      ['a', 'answered', 'x'],
      ['a', 'end'],
      ['b', 'take', 'x'],
    ],
    last: { past: [['x', null, 'a']], held: [], holder: null },
  },
  {
    about: 'a user with an answer is not busy, and nobody is busy with his own',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'take', 'xy'],
      ['b', 'take', 'z'],
      ['a', 'answered', 'x'],
      ['b', 'busy', 'xyz'],
    ],
    last: { count: 1, holder: 'a' },
  },
  {
    about: 'nobody is busy whose connection has ended',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'take', 'x'],
      ['a', 'end'],
      ['b', 'busy', 'x'],
    ],
    last: { count: 0, holder: null },
  },
  {
    about: 'no POST is recorded where one of the users is not held, for none of them',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'take', 'x'],
      ['a', 'sending', 'xy', 10],
      ['a', 'end'],
      ['b', 'take', 'xy'],
    ],
    last: { past: [], held: [], holder: null },
  },
  {
    about: 'an answer for a user who is not held is an error',
    steps: [
      ['a', 'open', 24],
      ['a', 'take', 'x'],
      ['a', 'answered', 'xy'],
    ],
    last: 'CH002',
  },
  {
    about: 'what was to be remembered until now is forgotten when a session opens',
    steps: [
      ['a', 'open', -1],
      ['a', 'take', 'xy'],
      ['a', 'answered', 'x'],
      ['a', 'release', 'xy', 'xy', ''],
      ['b', 'open', 24],
      ['b', 'take', 'xy'],
    ],
    last: { past: [['x', 0, 'a']], held: [], holder: null },
  },
  {
    about: 'what a session that has ended had recorded is left, as much of it as it had under way',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'queued', 2],
      ['a', 'take', 'xyz'],
      ['a', 'sending', 'xy', 10],
      ['a', 'sending', 'z', 5],
      ['a', 'end'],
      ['b', 'queued', 1],
      ['b', 'queued', 1, '{"seen": 1}'],
    ],
    last: { written: true, state: { seen: 1 }, dead: [] },
  },
  {
    about: 'what a session that has ended left is there until somebody has counted it',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'queued', 2],
      ['a', 'take', 'xyz'],
      ['a', 'sending', 'xyz', 10],
      ['a', 'end'],
      ['b', 'queued', 1],
      ['b', 'queued', 1],
    ],
    last: { written: false, state: null, dead: [[2, 10]] },
  },
  {
    about: 'what is known of a queue is replaced only by who has seen it last',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'queued', 1],
      ['b', 'queued', 1],
      ['b', 'queued', 1, '{"by": "b"}'],
      ['a', 'queued', 1, '{"by": "a"}'],
    ],
    last: { written: false, state: { by: 'b' }, dead: [] },
  },
  {
    about: 'one session has the turn, until it gives it back or ends',
    steps: [
      ['a', 'open', 24],
      ['b', 'open', 24],
      ['a', 'turn', true],
      ['b', 'turn', true],
      ['a', 'turn', false],
      ['b', 'turn', true],
      ['a', 'turn', true],
      ['b', 'end'],
      ['a', 'turn', true],
    ],
    last: true,
  },
];

test.each(cases)('in memory: $about', async ({ steps, last }) => {
  expect((await play(inMemory(), '', steps)).at(-1)).toEqual(last);
});

test('in memory: a row that somebody is changing counts as held by nobody known', async () => {
  const connect = inMemory((who) => who === Buffer.from('x').toString('base64'));
  const results = await play(connect, '', [
    ['a', 'open', 24],
    ['a', 'take', 'xy'],
  ]);
  expect(results.at(-1)).toEqual({ past: [], held: ['x'], holder: null });
});

describe('in PostgreSQL', needs('postgresql'), () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startPostgres();
    const host = {
      ...connecting,
      clock: realClock,
      system: systemIn(cluster.socket),
      watch: <T>(secret: T): T => secret,
    };
    const ledger = openLedger(cluster.url, host);
    await ledger.init();
    await ledger.close();
  });
  afterAll(() => cluster.stop());

  const connect = async (): Promise<Backend> => {
    const database = await openDatabase(await ledgerAddress(cluster.url, systemIn(cluster.socket)), connecting);
    const query: Backend['call'] = async (text, values) =>
      (await database.query(text, values, connecting))[0]?.['answer'];
    const pid = await query('SELECT pg_backend_pid() AS answer', []);
    return {
      call: query,
      close: () => database.close(),
      async end() {
        await database.close();
        const gone = async () => cluster.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]);
        await expect.poll(gone).toEqual([]);
      },
    };
  };

  test.each(cases)('$about', async ({ about, steps, last }) => {
    expect((await play(connect, `${about} `, steps)).at(-1)).toEqual(last);
  });

  const orders = isWhole ? 20 : 5;

  test(`whatever three runs do with four users, in ${orders} drawn orders: both answer the same`, async () => {
    for (let seed = 1; seed <= orders; seed += 1) {
      const steps = drawn(seed);
      const inDatabase = await play(connect, `${seed} `, steps);
      expect(inDatabase.map(anyHolder)).toEqual((await play(inMemory(), '', steps)).map(anyHolder));
    }
  });
});

const connecting = { alarm: realAlarm, signal: new AbortController().signal, caFile: undefined };

/** A moment that does not move: between two steps PostgreSQL's moves by less than half an hour. */
function inMemory(isBusy?: (who: string) => boolean): () => Promise<Backend> {
  const memory = createLedgerMemory(() => Date.UTC(2026, 2, 1), isBusy);
  return () => {
    let isOpen = true;
    const connection = { isOpen: () => isOpen };
    const close = (): Promise<void> => {
      isOpen = false;
      return Promise.resolve();
    };
    return Promise.resolve({
      ...{ close, end: close },
      async call(text, values) {
        await Promise.resolve();
        return memory.query(connection, text, values)[0]?.['answer'];
      },
    });
  };
}

/** What each step is answered with: moments in whole hours from now, and for an error its code. */
async function play(connect: () => Promise<Backend>, prefix: string, steps: readonly Step[]): Promise<unknown[]> {
  const runs = new Map<string, { readonly backend: Backend; readonly session: unknown; known?: unknown }>();
  const server = prefix.trimEnd();
  const bytes = (users: string): Buffer[] => users.split('').map((user) => Buffer.from(`${prefix}${user}`));
  const named = (who: unknown): string => Buffer.from(String(who), 'base64').toString().slice(prefix.length);

  const one = async ([name, ...step]: Step): Promise<unknown> => {
    if (step[0] === 'open') {
      const backend = await connect();
      const values = [ledgerVersion, name, 1, step[1] * hour];
      const { session } = (await backend.call('SELECT chatelaine.open($1, $2, $3, $4) AS answer', values)) as Opened;
      runs.set(name, { backend, session });
      return 'open';
    }
    const run = runs.get(name);
    if (!run) throw new Error(`${name} is not open`);
    if (step[0] === 'end') {
      await run.backend.end();
      return 'ended';
    }
    if (step[0] === 'turn') {
      const values = [ledgerVersion, run.session, server, step[1]];
      return run.backend.call('SELECT chatelaine.turn($1, $2, $3, $4) AS answer', values);
    }
    if (step[0] === 'queued') {
      const values = [ledgerVersion, run.session, server, step[1], run.known ?? null, step[2] ?? null];
      const text = 'SELECT chatelaine.queued($1, $2, $3, $4, $5, $6) AS answer';
      const { now, written, state, dead, known } = (await run.backend.call(text, values)) as Queued;
      run.known = known;
      return { written, state, dead: dead.map(([, posts, until]) => [posts, Math.round((until - now) / hour)]) };
    }
    const users = bytes(step[1]);
    const values =
      step[0] === 'take'
        ? [prefix, users]
        : step[0] === 'busy'
          ? [users]
          : step[0] === 'sending'
            ? [step[2] * hour, users]
            : step[0] === 'answered'
              ? [users, users.map(() => JSON.stringify(name))]
              : [users, bytes(step[2]), bytes(step[3]), '[]'];
    const places = ['$1', '$2', ...values.map((_value, index) => `$${index + 3}`)];
    const text = `SELECT chatelaine.${step[0]}(${places.join(', ')}) AS answer`;
    const answer = (await run.backend.call(text, [ledgerVersion, run.session, ...values])) as Answer | '' | null;
    if (!answer) return 'done';
    const holder = answer.holder?.host ?? null;
    if (answer.past === undefined) return { count: answer.count, holder };
    const hours = (posted: number | null) => (posted === null ? null : Math.round((posted - answer.now) / hour) || 0);
    const past = answer.past.map(([who, posted, known]) => [named(who), hours(posted), known]);
    return { past: past.sort(), held: answer.held.map(named).sort(), holder };
  };

  const results: unknown[] = [];
  for (const step of steps)
    results.push(await one(step).catch((cause: unknown) => stateOf(cause) ?? (cause as { code: unknown }).code));
  // Claims of other cases are of other users.
  for (const { backend } of runs.values()) await backend.close();
  return results;
}

interface Queued {
  readonly now: number;
  readonly written: boolean;
  readonly state: unknown;
  readonly dead: readonly (readonly [id: number, posts: number, until: number])[];
  readonly known: string;
}

/** Of several holders any may be named. */
function anyHolder(result: unknown): unknown {
  const holder = isObject(result) ? result['holder'] : undefined;
  return isObject(result) ? { ...result, holder: holder !== null } : result;
}

interface Opened {
  readonly session: unknown;
}

interface Answer {
  readonly now: number;
  readonly past?: readonly (readonly [who: string, posted: number | null, answer: unknown])[];
  readonly held: readonly string[];
  readonly count: number;
  readonly holder: { readonly host: string } | null;
}

/** Forty steps of up to three runs, some of which end and open again. */
function drawn(seed: number): Step[] {
  const chance = chanceOf(seed);
  const open = new Set<string>();
  const some = (): string => ['w', 'x', 'y', 'z'].filter(() => chance.happens(0.5)).join('');
  return Array.from({ length: 40 }, (): Step => {
    const run = chance.pick(['a', 'b', 'c']);
    if (!open.has(run)) {
      open.add(run);
      return [run, 'open', chance.pick([24, 48, -1])];
    }
    const does = chance.pick([
      'take',
      'take',
      'take',
      'busy',
      'sending',
      'answered',
      'release',
      'release',
      'end',
    ] as const);
    if (does === 'end') open.delete(run);
    if (does === 'end') return [run, does];
    if (does === 'sending') return [run, does, some(), chance.pick([2, 10])];
    return does === 'release' ? [run, does, some(), some(), some()] : [run, does, some()];
  });
}
