import type { LicenseShape } from '../helpers/license-shapes.ts';
import { chanceOf, type Chance } from './chance.ts';
import { withCircumstances, withSurroundings } from './circumstances.ts';
import type { Fate } from './computer.ts';
import type { LedgerFault, LedgerPlan } from './ledger-server.ts';
import { playLicensing, type LicensingPlan, type PlannedRun, type Verdict } from './licensing-history.ts';
import type { Mishap } from './licensing-server.ts';
import { replies, replyNames } from './replies.ts';
import { archive, purge } from './chat-worlds.ts';
import { rosters } from './apps-world.ts';
import { files } from './files-world.ts';
import { purges } from './purges-world.ts';
import { rename } from './rename-world.ts';
import type { QueuePlan } from './server-queue.ts';
import { signIn } from './sign-in-history.ts';

/** A kind of history; a plan is JSON, which only its world understands. */
export interface SimulatedWorld<Plan = unknown> {
  readonly about: string;
  /** Of a large small world a search for a rule that is taken out plays each so manyth history. */
  readonly share?: number;
  /** Remainders by 16 of the seeds that draw one fault alone; a search for a rule plays as many of each as of all. */
  readonly alone?: readonly number[];
  /** A history that a seed decides. */
  draw(seed: number): Plan;
  /** Every history of a small world; `isNight`: those of a second kill too; `every`: of a large one each so manyth. */
  whole(isNight: boolean, every?: number): AsyncIterable<Plan>;
  play(plan: Plan, trace?: (line: string) => void): Promise<Verdict>;
}

export function ensureOf(user: string, isAgain: boolean): string {
  const again = isAgain ? ` --send-again ${user}` : '';
  return `license ensure --remote-user ${user} --size-allowance 4${again} -o ndjson`;
}

/** The disk fails while the computer is marked; then its power is cut, and the next run asks whose the claim is. */
function unmarked(chance: Chance): Pick<LicensingPlan, 'runs'> {
  const disk = { at: 25 + chance.below(20), code: chance.pick(['EIO', 'ENOSPC']) };
  const kill = { at: disk.at + 5 + chance.below(50), how: 'power' as const };
  const again = { line: ensureAda, after: 0 };
  const runs = [{ line: ensureAda, fate: { disk, kill } }, again];
  return { runs: chance.happens(0.5) ? runs : [...runs, { ...again, after: 1, fate: { disk } }] };
}

/** A disk fails near a POST, the run is interrupted before a list shows the license, and the next one begins. */
function unwritten(chance: Chance): Pick<LicensingPlan, 'runs' | 'shape'> {
  const disk = { at: 60 + chance.below(50), code: chance.pick(['EIO', 'ENOSPC']) };
  const runs = [
    { line: ensureAda, fate: { disk, interrupt: { at: disk.at + 2 + chance.below(30) } } },
    { line: ensureAda, after: 0 },
  ];
  return { runs, shape: { stale: 4000 } };
}

/** The disk fails for a few calls after a late POST, and the interrupted run gives its user back. */
function unrecorded(chance: Chance): Pick<LicensingPlan, 'runs' | 'mishaps'> {
  const since = 'POST';
  const disk = { at: 1 + chance.below(25), since, times: 1 + chance.below(12), code: chance.pick(['EIO', 'ENOSPC']) };
  const interrupt = { at: disk.at + chance.below(60), since };
  const runs = [
    { line: ensureAda, fate: { disk, interrupt } },
    { line: ensureAda, after: 0, pause: chance.below(1500) },
  ];
  return { runs, mishaps: [{ method: 'POST', nth: 1, reply: 'dropped', commit: chance.pick([2000, 3000, 3900]) }] };
}

/** Runs for one user under several spellings, at a server that keeps them as one. */
function spelled(chance: Chance): Pick<LicensingPlan, 'runs' | 'shape' | 'mishaps'> {
  const lines = ['ada', 'ADA', 'Ada'].map((user) => ensureOf(user, false));
  const isKilled = chance.happens(0.3);
  const runs = Array.from({ length: 2 + chance.below(3) }, () => ({
    line: chance.pick(lines),
    pause: chance.below(chance.pick([30, 1000])),
    fate: fateOf(chance, { kill: isKilled, disk: false }, 110),
  }));
  const reply = chance.pick(['made', 'dropped'] as const);
  return {
    runs,
    shape: { names: 'lower' },
    mishaps: [{ method: 'POST', nth: 1, reply, commit: chance.pick([0, 2000]) }],
  };
}

/** A server that loses every request. */
function losing(): Pick<LicensingPlan, 'runs' | 'mishaps'> {
  const mishaps = Array.from(
    { length: 8 },
    (_, index) => ({ method: 'POST', nth: index + 1, reply: 'dropped' }) as const,
  );
  return { runs: [{ line: ensureAda, options: '--retries 1' }], mishaps };
}

/** Workers, their order, how long they take, when the gateway gives up, and which connections break. */
function queueOf(chance: Chance): QueuePlan {
  const least = chance.pick([300, 700, 1500]);
  const some = (often: number): number[] =>
    Array.from({ length: 30 }, (_, index) => index + 1).filter(() => chance.happens(often));
  const breaks = chance.pick<() => Partial<QueuePlan>>([
    () => ({}),
    () => ({}),
    () => ({ broken: some(0.2), limit: chance.pick([1000, 30_000]) }),
    () => ({ restarts: chance.pick([2000, 8000]), limit: 30_000 }),
  ])();
  return {
    workers: chance.pick([1, 1, 2, 3]),
    order: chance.pick(['fifo', 'fifo', 'lifo', 'random'] as const),
    cost: [least, chance.pick([least, 2 * least])],
    limit: chance.pick([300, 500, 1000]),
    ...(chance.happens(0.25) ? { reads: chance.pick([20, 100, 300]) } : {}),
    ...(chance.happens(0.4) ? { lost: some(0.15) } : {}),
    ...breaks,
  };
}

/** Up to 24 runs at once, of one user each, at a server with a queue. */
function crowd(chance: Chance, line: (user: string) => string, same = 0): Pick<LicensingPlan, 'runs' | 'queue'> {
  const count = chance.pick([1, 2, 3, 5, 8, 16, 24]);
  const isKilled = chance.happens(0.3);
  const runs = Array.from({ length: count }, (_, index) => ({
    line: line(`user-${chance.happens(same) ? 0 : index}`),
    pause: chance.below(chance.pick([30, 1000, 4000])),
    fate: chance.happens(0.2) ? fateOf(chance, { kill: isKilled, disk: false }, 130) : {},
  }));
  return { runs, queue: queueOf(chance) };
}

/** A roster at a server with a queue, with runs for single users beside it, and again after it. */
function crowdOf(chance: Chance): Pick<LicensingPlan, 'runs' | 'queue' | 'roster'> {
  const roster = rosterOf(1 + chance.below(chance.pick([4, 12])));
  const isKilled = chance.happens(0.3);
  const rows = { line: `${applyRoster} --concurrency ${chance.pick([1, 4, 8])}` };
  const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
    ...(index === 0 || chance.happens(0.4) ? rows : { line: ensureOf(chance.pick(['ada', 'ben']), false) }),
    pause: index === 0 ? 0 : chance.below(6000),
    ...(index > 0 && chance.happens(0.3) ? { after: index - 1 } : {}),
    fate: fateOf(chance, { kill: isKilled, disk: false }, 100 + 20 * roster.length),
  }));
  return { runs, queue: queueOf(chance), roster };
}

/** A long queue, of which each run sees its own place alone; or slow reads in it, of which many have no answer. */
function longQueue(chance: Chance): Pick<LicensingPlan, 'runs' | 'queue'> {
  const isRead = chance.happens(0.4);
  const count = isRead ? 1 + chance.below(3) : 8 + chance.below(6);
  const runs = Array.from({ length: count }, (_, index) => ({ line: ensureOf(`user-${index}`, false) }));
  const order = chance.pick(['fifo', 'fifo', 'lifo'] as const);
  const queue = { workers: 1, order, cost: [2500, 3000], limit: chance.pick([500, 1000]) } as const;
  return { runs, queue: isRead ? { ...queue, reads: 3000, limit: 1000 } : queue };
}

/** A server that takes what waits in any order, and runs that come while the request of another one waits. */
function comingLater(chance: Chance): Pick<LicensingPlan, 'runs' | 'queue'> {
  const later = Array.from({ length: 3 + chance.below(5) }, (_, index) => ({
    ...{ line: ensureOf(`user-${index}`, false), pause: 1200 + chance.below(3000) },
  }));
  const runs = [{ line: ensureOf('ben', false) }, { line: ensureOf('ada', false), pause: 300 }, ...later];
  return { runs, queue: { workers: 1, order: 'random', cost: [4000, 4500], limit: 500 } };
}

/** A run is killed, or stopped, whose requests stand in the queue, and others come behind them. */
function leftBehind(chance: Chance): Pick<LicensingPlan, 'runs' | 'queue' | 'roster'> {
  const roster = rosterOf(6 + chance.below(6));
  const rows = `${applyRoster} --concurrency ${chance.pick([4, 8])}`;
  const next = (): PlannedRun => ({
    line: chance.pick([rows, ensureOf('zed', false), ensureOf('user-5', false)]),
    // Or it has claimed its users when the other one dies.
    ...(chance.happens(0.5) ? { after: 0, pause: chance.below(3000) } : { pause: chance.below(500) }),
  });
  const how = chance.pick(['kill', 'kill', 'zombie', 'power', 'stop'] as const);
  const at = { at: 1 + chance.below(60), since: 'POST' };
  const fate = how === 'stop' ? { stop: { ...at, span: 60_000 } } : { kill: { ...at, how } };
  const queue = { workers: 1, order: 'fifo', cost: [1500, 3000], limit: chance.pick([500, 1000]) } as const;
  const runs = [{ line: rows, fate }, ...Array.from({ length: 1 + chance.below(2) }, next)];
  return { runs: how === 'power' ? afterLongAgo(runs) : runs, queue, roster };
}

/** These runs, after one long before them: the folder of records is there, and no server counts as slow any more. */
function afterLongAgo(runs: readonly PlannedRun[]): PlannedRun[] {
  const later = ({ after, pause = 0, ...run }: PlannedRun): PlannedRun =>
    after === undefined ? { ...run, after: 0, pause: pause + 90_000 } : { ...run, after: after + 1, pause };
  return [{ line: ensureOf('amy', false) }, ...runs.map(later)];
}

/** Resizes stand in the queue before the POST of the same run. */
function behindResizes(chance: Chance): Pick<LicensingPlan, 'runs' | 'queue' | 'roster' | 'others'> {
  const roster = rosterOf(3 + chance.below(6)).reverse();
  const others = roster.slice(0, -1).map(([user]) => ({ user, size: chance.pick([3, 3, 4]), at: 0 }));
  const queue = { workers: 1, order: 'fifo', cost: [2500, 3000], limit: chance.pick([500, 1000]) } as const;
  return { runs: [{ line: `${applyRoster} --concurrency 8 --retries 1` }], roster, others, queue };
}

/** A process stands still for minutes right before, in or after its POST, beside runs for its user and for others. */
function stoppedForLong(chance: Chance): Pick<LicensingPlan, 'runs' | 'queue'> {
  const line = (user: string): string => `${ensureOf(user, false)} --deadline 300000ms`;
  const fate = { stop: { at: 1 + chance.below(30), since: 'POST', span: 180_000 } };
  const others = Array.from({ length: 1 + chance.below(2) }, (_, index) => ({
    line: line(chance.pick(['ada', `user-${index}`, `user-${index}`])),
    pause: 100 + chance.below(5000),
  }));
  return {
    runs: [{ line: line('ada'), fate }, ...others],
    ...(chance.happens(0.5) ? { queue: { ...queueOf(chance), order: 'fifo', reads: 20 } } : {}),
  };
}

/** A run is killed after its POST, and the end of the record of requests is torn or damaged. */
function hurtRecord(chance: Chance): Pick<LicensingPlan, 'runs' | 'mishaps'> {
  const kill = { at: chance.below(3), how: chance.pick(['kill', 'power'] as const), since: 'POST' };
  const hurt = chance.pick(['torn', 'flip'] as const);
  const runs = [
    { line: chance.pick([ensureOf('ben', false), ensureOf('cyd', false)]) },
    { line: ensureAda, after: 0, fate: { kill } },
    { line: ensureAda, after: 1, hurt, pause: chance.below(1000) },
  ];
  return { runs, mishaps: [{ method: 'POST', nth: 2, reply: 'made', commit: chance.pick([2000, 3900]) }] };
}

/** A server that finds parts of names, shows parts of keys, or answers about a license with another one. */
function strange(chance: Chance, users: readonly string[]): Pick<LicensingPlan, 'mishaps' | 'others' | 'habits'> {
  const finds = chance.happens(0.5) ? ({ finds: 'parts' } as const) : {};
  const keys = chance.happens(0.5) ? { keys: chance.pick(['masked', 'ends'] as const) } : {};
  // Nothing can be changed by a part of a key.
  const size = (): number => ('keys' in keys ? 4 : chance.pick([3, 4]));
  const others = users.filter(() => chance.happens(0.4)).map((user) => ({ user, size: size(), at: 0 }));
  const drawn = Array.from({ length: chance.below(3) }, (): Mishap => ({
    method: chance.pick(['POST', 'PATCH', 'PATCH']),
    ...{ nth: 1 + chance.below(2), reply: chance.pick(['other-user', 'other-key', 'dropped']), commit: 0 },
  }));
  // No later list is read: what was answered is all that is known.
  const unread: Mishap[] = [
    { method: 'POST', nth: 1, reply: chance.pick(['other-user', 'empty']), commit: 0 },
    ...[2, 3, 4].map((nth) => ({ method: 'GET', nth, reply: '400' }) as const),
  ];
  return { others, mishaps: chance.happens(0.3) ? unread : drawn, habits: { ...finds, ...keys } };
}

function strangers(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const users = ['ada', 'ad', 'adalbert', 'bad'];
  const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
    line: ensureOf(chance.pick(users), false),
    ...(index > 0 && chance.happens(0.5) ? { after: index - 1 } : {}),
  }));
  return { runs, ...strange(chance, users) };
}

function strangeRoster(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const roster = rosterOf(2 + chance.below(chance.pick([4, 22])));
  const runs = [{ line: applyRoster }];
  return { roster, runs, ...strange(chance, [...roster.map(([user]) => user), 'user-1x']) };
}

/**
 * One run after another at a server whose lists are cut at their newest licenses: what the computers created before is
 * in their history alone, which outlives a power cut.
 */
function cutLists(chance: Chance, lines: readonly string[]): Pick<LicensingPlan, 'runs' | 'habits' | 'mishaps'> {
  const isKilled = chance.happens(0.3);
  const runs = Array.from({ length: 3 + chance.below(6) }, (_, index) => ({
    line: chance.pick(lines),
    ...(index > 0 ? { after: index - 1 } : {}),
    fate: fateOf(chance, { kill: isKilled, disk: false }, 130),
  }));
  const kill = { at: 1 + chance.below(60), how: 'power', loss: 'all' } as const;
  const [first, second = first, ...rest] = runs;
  const cut = first && second ? [first, { ...second, fate: { kill } }, ...rest] : runs;
  const reply = chance.pick(['dropped', '500'] as const);
  const lost = { method: 'POST', nth: 1 + chance.below(4), reply, commit: 0 } as const;
  return {
    runs: chance.happens(0.4) ? cut : runs,
    habits: { newest: 1 + chance.below(3) },
    mishaps: chance.happens(0.3) ? [lost] : [],
  };
}

/** Lists show nothing while the first run creates, and again later; what was answered they show in between. */
function gaps(chance: Chance, lines: readonly string[]): Pick<LicensingPlan, 'runs' | 'habits'> {
  const [shown, hidden] = [chance.pick([0, 500, 8000]), 15_000];
  const runs = Array.from({ length: 3 + chance.below(3) }, (_, index) => ({
    line: chance.pick(lines),
    ...(index > 0 ? { after: index - 1, pause: chance.pick([0, 4000, 9000]) } : {}),
  }));
  return {
    runs,
    habits: {
      gaps: [
        [chance.below(1000), shown],
        [hidden + chance.below(5000), hidden + chance.pick([8000, 60_000])],
      ],
    },
  };
}

function hiding(chance: Chance, users: number): Pick<LicensingPlan, 'runs' | 'habits' | 'mishaps'> {
  const isCut = chance.happens(0.6);
  const lines = usersOf(isCut ? users : 2).map((user) => ensureOf(user, false));
  return isCut ? cutLists(chance, lines) : gaps(chance, lines);
}

function hidingRoster(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const roster = rosterOf(1 + chance.below(chance.pick([4, 25])));
  // Rows that are created meanwhile would hide what a lost POST created.
  const lines = [applyRoster, applyRoster, ensureAda, ensureOf('ben', false)];
  return { roster, ...chance.pick([cutLists, gaps])(chance, lines), mishaps: [] };
}

/** A server that carries each request out later than it promises, so that some come twice. */
function overdue(chance: Chance): Pick<LicensingPlan, 'runs' | 'queue' | 'roster'> {
  const queue = { workers: 3, order: 'fifo', cost: [5500, 20_000], limit: 500 } as const;
  return { runs: [{ line: `${applyRoster} --concurrency 1` }], queue, roster: rosterOf(2 + chance.below(3)) };
}

/** One run at a server that takes what waits in any order, and nearly --settle for each. */
function tight(chance: Chance): Pick<LicensingPlan, 'runs' | 'queue' | 'roster'> {
  const roster = rosterOf(2 + chance.below(5));
  const line = `${applyRoster} --concurrency ${chance.pick([2, 4, 8])}`;
  const order = chance.pick(['lifo', 'random'] as const);
  const [limit, reads] = [chance.pick([300, 1000, 3000, 6000]), chance.pick([undefined, 300, 1500])];
  const queue = { workers: 1, order, cost: [3500, 4900], limit, ...(reads === undefined ? {} : { reads }) } as const;
  return { runs: [{ line }], queue, roster };
}

const createOf = (user: string): string => `license create --remote-user ${user} --size-allowance 4 -o ndjson`;
const createAda = createOf('ada');
const ensureAda = ensureOf('ada', false);

const ensure: SimulatedWorld<LicensingPlan> = {
  about: 'license ensure: one to three users, up to four runs at once, on one or two computers',
  alone: [1, 2, 3, 5, 7, 9, 11, 13, 15],
  draw(seed) {
    const chance = chanceOf(seed);
    if (seed % 16 === 1) return { seed, ...chance.pick([longQueue, longQueue, comingLater])(chance) };
    if (seed % 16 === 2) return { seed, ...stoppedForLong(chance) };
    if (seed % 16 === 5) return { seed, ...hurtRecord(chance) };
    if (seed % 16 === 15) return { seed, ...crowd(chance, (user) => ensureOf(user, false), 0.1) };
    if (seed % 16 === 3) return { seed, ...unmarked(chance) };
    if (seed % 16 === 7) return { seed, ...chance.pick([unwritten, unrecorded, losing])(chance) };
    if (seed % 16 === 9) return { seed, ...strangers(chance) };
    if (seed % 16 === 11) return { seed, ...spelled(chance) };
    if (seed % 16 === 13) return { seed, ...hiding(chance, 4) };
    const isAgain = chance.happens(0.1);
    const users = ['ada', 'ben', 'cyd'].slice(0, isAgain ? 1 : 1 + chance.below(3));
    // Which faults are on at all is drawn first: all of them at once hide what one alone shows.
    const isOn = {
      kill: chance.happens(0.6),
      server: chance.happens(0.6),
      disk: chance.happens(0.2),
      others: chance.happens(0.2),
    };
    const runs = Array.from({ length: 1 + chance.below(4) }, (_, index) => ({
      line: ensureOf(chance.pick(users), isAgain && chance.happens(0.5)),
      ...(index > 0 && chance.happens(0.5) ? { after: chance.below(index) } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000, 9000]),
      fate: { ...earlyDisk(chance, isOn), ...fateOf(chance, isOn, 110) },
    }));
    return {
      ...{ seed, runs },
      mishaps: isAgain ? keptByNobody(chance) : isOn.server ? mishapsOf(chance, runs.length) : [],
      others: isOn.others ? [{ user: 'ada', size: chance.pick([3, 4]), at: 0 }] : [],
      shape: {
        stale: chance.pick([0, 0, 1000, 4000]),
        filters: chance.pick(['changed', 'changed', 'ignored'] as const),
      },
    };
  },
  whole: (isNight, every) =>
    everyKill({ seed: 1, runs: [{ line: ensureAda }, { line: ensureAda, after: 0 }] }, isNight, 'POST', every),
  play: playLicensing,
};

const create: SimulatedWorld<LicensingPlan> = {
  about: 'license create: up to three runs, each of which makes one license at most; up to 24 at a server with a queue',
  alone: [15],
  draw(seed) {
    const chance = chanceOf(seed);
    if (seed % 16 === 15) return { seed, ...crowd(chance, createOf) };
    const isOn = { kill: chance.happens(0.6), disk: chance.happens(0.2) };
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: createAda,
      ...(index > 0 ? { after: index - 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000, 9000]),
      fate: fateOf(chance, isOn, 110),
    }));
    const mishaps = chance.happens(0.8) ? mishapsOf(chance, runs.length) : [];
    return { seed, runs, mishaps, shape: { stale: chance.pick([0, 0, 1000, 4000]) } };
  },
  whole: () => everyKill({ seed: 1, runs: [{ line: createAda }] }, false, 'POST'),
  play: playLicensing,
};

export const applyRoster = 'license apply /home/ada/roster.csv -o ndjson -y';

/** A roster's run dies while a later worker has just sent its first request, and the next run goes on at once. */
function secondWorker(chance: Chance): Omit<LicensingPlan, 'seed'> {
  if (chance.happens(0.5)) return waitedFor(chance);
  const roster = rosterOf(3 + chance.below(6));
  const line = `${applyRoster} --concurrency ${chance.pick([2, 4, 8])}`;
  const kill = { at: 1 + chance.below(40), how: chance.pick(['kill', 'power'] as const), since: 'POST' };
  const commit = chance.pick([500, 2000, 3900]);
  const mishaps = roster.map((_row, index) => ({ method: 'POST', nth: index + 1, reply: 'made', commit }) as const);
  return {
    roster,
    runs: [
      { line, fate: { kill } },
      { line, after: 0 },
    ],
    mishaps,
  };
}

/** It dies while another one waits for its users, and others write records beside both. */
function waitedFor(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const line = `${applyRoster} --concurrency 8`;
  const kill = { at: 40 + chance.below(160), how: 'kill', since: 'POST' } as const;
  const others = Array.from({ length: 2 + chance.below(6) }, (_, index) => ({
    ...{ line: ensureOf(`other-${index}`, false), pause: chance.below(400) },
  }));
  const mishaps = Array.from(
    { length: 24 },
    (_, index) => ({ method: 'POST', nth: index + 2, reply: 'dropped', commit: 3000 + chance.below(1900) }) as const,
  );
  return {
    roster: rosterOf(9),
    runs: [{ line, fate: { kill } }, { line, pause: chance.below(600) }, ...others],
    mishaps,
  };
}

/** A roster right after a run that was killed near its POST, at a server that shows licenses late. */
function asked(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const roster = rosterOf(1 + chance.below(6));
  const fate = { kill: { at: 50 + chance.below(60), how: 'kill' as const } };
  const runs = [
    { line: ensureAda, fate },
    { line: applyRoster, after: 0 },
  ];
  return { roster, runs, shape: { stale: 4000 } };
}

/** Nobody may write the history, and no list shows what was answered for a row, also when the roster is run again. */
function unlisted(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const roster = rosterOf(2 + chance.below(5));
  const disk = { at: 1, code: 'EACCES', path: '/history-', times: 1_000_000 };
  const nth = 1 + chance.below(roster.length);
  return {
    roster,
    runs: [
      { line: applyRoster, fate: { disk } },
      { line: applyRoster, after: 0 },
    ],
    mishaps: [{ method: 'POST', nth, reply: 'made' }],
  };
}

/** Users who are in no row lose their licenses, once each row has its own; the run is killed, and goes on. */
function missing(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const roster = rosterOf(1 + chance.below(6));
  const users = [...usersOf(roster.length).filter(() => chance.happens(0.3)), 'xan', 'yve', 'zed'];
  const isOn = { kill: chance.happens(0.7), disk: chance.happens(0.2) };
  const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
    line: `${applyRoster} --retire-missing --max-retire 3`,
    ...(index > 0 ? { after: index - 1 } : {}),
    fate: fateOf(chance, isOn, 220),
  }));
  const others = users.map((user) => ({ user, size: chance.pick([3, 4]), at: 0 }));
  return { roster, others, runs, mishaps: chance.happens(0.3) ? mishapsOf(chance, roster.length) : [] };
}

/** A plan is written, and carried out, perhaps after another program has made a license of one of its users. */
function reviewed(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const roster = rosterOf(1 + chance.below(6));
  const isOn = { kill: chance.happens(0.7), disk: chance.happens(0.2) };
  const carrying = Array.from({ length: 1 + chance.below(2) }, (_, index) => ({
    ...{ line: 'license apply --plan /home/ada/plan.ndjson -o ndjson -y', after: index },
    ...{ pause: 2000, fate: fateOf(chance, isOn, 140) },
  }));
  const others = usersOf(roster.length).flatMap((user) => {
    const at = chance.pick([undefined, undefined, 0, 1500]);
    return at === undefined ? [] : [{ user, size: chance.pick([3, 4]), at }];
  });
  const planning = {
    line: 'license apply /home/ada/roster.csv --dry-run --write-plan /home/ada/plan.ndjson -o ndjson',
  };
  return { roster, others, runs: [planning, ...carrying] };
}

/** A server that ignores the filter, and a roster for which a list of all is read first. */
function unfiltered(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const roster = rosterOf(30).filter((_row, index) => index > 0 && chance.happens(0.9));
  const others = rosterOf(30)
    .filter(() => chance.happens(0.2))
    .map(([user]) => ({ user, size: chance.pick([3, 4]), at: 0 }));
  const shape = { filters: 'ignored', list_shape: chance.pick(['pages', 'next-path'] as const), page_size: 5 } as const;
  return { runs: [{ line: applyRoster }], roster, others, shape };
}

const apply: SimulatedWorld<LicensingPlan> = {
  about: 'license apply: up to 30 rows, up to three runs, on one computer or two with one state folder',
  alone: [5, 7, 9, 10, 11, 13, 15, 1, 3],
  draw(seed) {
    const chance = chanceOf(seed);
    if (seed % 16 === 15) return { seed, ...crowdOf(chance) };
    if (seed % 16 === 1) return { seed, ...chance.pick([overdue, leftBehind, behindResizes])(chance) };
    if (seed % 16 === 3) return { seed, ...hidingRoster(chance) };
    if (seed % 16 === 5) return { seed, ...secondWorker(chance) };
    if (seed % 16 === 10) return { seed, ...tight(chance) };
    if (seed % 16 === 7) return { seed, ...chance.pick([missing, reviewed])(chance) };
    if (seed % 16 === 9) return { seed, ...unfiltered(chance) };
    if (seed % 16 === 11) return { seed, ...strangeRoster(chance) };
    if (seed % 16 === 13) return { seed, ...chance.pick([asked, unlisted])(chance) };
    const isOn = { kill: chance.happens(0.7), server: chance.happens(0.7), disk: chance.happens(0.2) };
    const roster = rosterOf(1 + (chance.happens(0.5) ? chance.below(4) : chance.below(30)));
    const isShared = chance.happens(0.2);
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: chance.happens(0.15) ? ensureAda : applyRoster,
      ...(index > 0 && chance.happens(0.7) ? { after: index - 1 } : {}),
      ...(isShared && chance.happens(0.5) ? { computer: 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000, 9000]),
      fate: fateOf(chance, isOn, 60 + 10 * roster.length),
    }));
    const others = roster
      .filter(() => chance.happens(0.2))
      .map(([user]) => ({ user, size: chance.pick([3, 4]), at: 0 }));
    return {
      ...{ seed, runs, roster, others, ...(isShared ? { isShared } : {}) },
      mishaps: isOn.server ? mishapsOf(chance, runs.length * roster.length) : [],
      shape: shapeOf(chance),
    };
  },
  whole: (isNight) =>
    everyKill(
      { seed: 1, roster: rosterOf(1), runs: [{ line: applyRoster }, { line: applyRoster, after: 0 }] },
      isNight,
      'POST',
    ),
  play: playLicensing,
};

const shared: SimulatedWorld<LicensingPlan> = {
  about: 'license ensure and apply on up to three computers that share a ledger: up to four runs at once',
  alone: [3, 5, 15],
  draw(seed) {
    const chance = chanceOf(seed);
    if (seed % 16 === 3) {
      const { runs, ...plan } = hidingRoster(chance);
      return { seed, ...plan, runs: runs.map((run) => ({ ...run, computer: chance.below(3) })), ledger: {} };
    }
    if (seed % 16 === 5) return { seed, ...chance.pick([lent, givenUp])(chance) };
    if (seed % 16 === 15) return { seed, ...sharedCrowd(chance) };
    const isOn = { kill: chance.happens(0.6), server: chance.happens(0.5), disk: chance.happens(0.1) };
    const roster = chance.happens(0.5) ? rosterOf(1 + chance.below(chance.pick([4, 25]))) : undefined;
    const users = roster?.map(([user]) => user) ?? ['ada', 'ben'];
    const runs = Array.from({ length: 1 + chance.below(4) }, (_, index) => ({
      line: roster && chance.happens(0.85) ? applyRoster : ensureOf(chance.pick(users.slice(0, 2)), false),
      ...(index > 0 && chance.happens(0.4) ? { after: chance.below(index) } : {}),
      ...{ computer: chance.below(3), pause: chance.pick([0, 0, 20, 300, 1000, 4000, 9000]) },
      fate: fateOf(chance, isOn, 120 + 10 * (roster?.length ?? 0)),
    }));
    const others = users.filter(() => chance.happens(0.1)).map((user) => ({ user, size: chance.pick([3, 4]), at: 0 }));
    return {
      ...{ seed, runs, others, ledger: ledgerOf(chance), clockAhead: chance.pick([0, 0, -3_600_000, 3_600_000]) },
      ...(roster ? { roster } : {}),
      mishaps: isOn.server ? mishapsOf(chance, runs.length * (roster?.length ?? 1)) : [],
      shape: shapeOf(chance),
    };
  },
  whole: (isNight, every) => {
    const runs = [{ line: ensureAda }, { line: ensureAda, computer: 1, after: 0 }];
    return everyKill({ seed: 1, ledger: {}, runs }, isNight, 'POST', every);
  },
  play: playLicensing,
};

/** Two computers ask for a user; one of them is held once it has the lock, which a pooler loses meanwhile. */
function lent(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const stop = { at: 34 + chance.below(16), since: 'SQL', span: 500 + chance.below(1500) };
  const other = { line: ensureAda, computer: 1, pause: chance.below(400) };
  return {
    runs: [{ line: ensureAda, fate: { stop } }, other],
    ledger: { faults: [{ does: 'lend', at: 200 + chance.below(400) }] },
  };
}

/** A request is lost, and its run gives up; another computer asks for the same user. */
function givenUp(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const reply = chance.pick(['dropped', '500', 'cut'] as const);
  return {
    runs: [
      { line: ensureAda, options: '--retries 0' },
      { line: ensureAda, computer: 1, after: 0 },
    ],
    ledger: {},
    mishaps: [{ method: 'POST', nth: 1, reply, ...(chance.happens(0.3) ? { commit: 0 } : {}) }],
  };
}

/** A server with a queue, before which several computers stand. */
function sharedCrowd(chance: Chance): Omit<LicensingPlan, 'seed'> {
  const { runs, ...plan } = chance.pick([
    () => crowdOf(chance),
    () => leftBehind(chance),
    () => crowd(chance, (user) => ensureOf(user, false), 0.1),
  ])();
  // Of a computer that vanished, or a run that is stopped, other computers do not know what is under way.
  const isHidden = runs.some(({ fate }) => fate?.stop ?? fate?.kill?.how === 'power');
  return { ...plan, runs: runs.map((run) => ({ ...run, computer: isHidden ? 0 : chance.below(3) })), ledger: {} };
}

const retireAda = 'license retire OTHER-1 -y -o ndjson';

const retire: SimulatedWorld<LicensingPlan> = {
  about: 'license retire: one license, up to three runs',
  draw(seed) {
    const chance = chanceOf(seed);
    const isOn = { kill: chance.happens(0.7), disk: chance.happens(0.3) };
    const runs = Array.from({ length: 1 + chance.below(3) }, (_, index) => ({
      line: retireAda,
      ...(index > 0 && chance.happens(0.7) ? { after: index - 1 } : {}),
      pause: chance.pick([0, 0, 20, 1000, 4000]),
      fate: fateOf(chance, isOn, 60),
    }));
    return { seed, runs, others: [adaBefore], mishaps: mishapsOf(chance, runs.length) };
  },
  whole: (isNight) =>
    everyKill(
      { seed: 1, others: [adaBefore], runs: [{ line: retireAda }, { line: retireAda, after: 0 }] },
      isNight,
      'PATCH',
    ),
  play: playLicensing,
};

const adaBefore = { user: 'ada', size: 4, at: 0 };

function usersOf(count: number): string[] {
  return Array.from({ length: count }, (_, index) => (index === 0 ? 'ada' : `user-${index}`));
}

function rosterOf(rows: number): (readonly [string, number])[] {
  return usersOf(rows).map((user) => [user, 4]);
}

/** One to three computers that share a ledger, which now and then breaks. */
function ledgerOf(chance: Chance): LedgerPlan {
  const faults = chance.happens(0.5) ? Array.from({ length: 1 + chance.below(2) }, () => ledgerFault(chance)) : [];
  return { clockAhead: chance.pick([0, -600_000, 600_000]), faults };
}

function ledgerFault(chance: Chance): LedgerFault {
  const nth = 1 + chance.below(chance.pick([8, 30]));
  const [at, span] = [chance.below(chance.pick([500, 8000])), chance.pick([0, 300, 4000])];
  return chance.pick<() => LedgerFault>([
    () => ({
      ...{ does: 'cut', nth, isCarriedOut: chance.happens(0.5), isSilent: chance.happens(0.5) },
      noticed: chance.pick([0, 500, 20_000]),
    }),
    () => ({ does: 'full', nth: 1 + chance.below(3) }),
    () => ({ does: 'restart', at, span }),
    () => ({ does: 'failover', at, span, lag: chance.pick([0, 50, 500, 5000]) }),
  ])();
}

function shapeOf(chance: Chance): LicenseShape {
  const paged = { list_shape: chance.pick(['pages', 'next-path'] as const), page_size: chance.pick([2, 5, 10]) };
  return {
    stale: chance.pick([0, 0, 1000, 4000]),
    filters: chance.pick(['changed', 'changed', 'exact', 'ignored'] as const),
    ...(chance.happens(0.4) ? paged : {}),
  };
}

/**
 * Every reply to the first request of that method, every moment at which it is carried out, and every call before which
 * the first run can be killed, interrupted, or lose its computer's power; at night the second run too, at each of its
 * calls. `every`: each so manyth alone, spread over replies and calls.
 */
export async function* everyKill(
  plain: LicensingPlan,
  isNight: boolean,
  method: Mishap['method'],
  every = 1,
): AsyncGenerator<LicensingPlan> {
  const [first, ...others] = plain.runs;
  if (!first) return;
  // Replies and moments of every kind are among them.
  const mishapStep = every > 9 ? 9 : 1;
  const killStep = Math.round(every / mishapStep);
  let number = 0;
  for (const [index, mishaps] of [...everyMishap(method)].entries()) {
    if (index % mishapStep > 0) continue;
    const base = { ...plain, mishaps };
    const { calls } = await playLicensing(base);
    const seconds = isNight ? Array.from({ length: calls[1] ?? 0 }, (_, index) => index + 1) : [undefined];
    for (let at = 1; at <= (calls[0] ?? 0); at += 1)
      for (const how of ['kill', 'power', 'interrupt'] as const)
        for (const second of seconds) {
          number += 1;
          if (number % killStep > 0) continue;
          const fate = second === undefined ? {} : { fate: endAt(second, how) };
          yield {
            ...base,
            runs: [{ ...first, fate: endAt(at, how) }, ...others.map((run) => ({ ...run, ...fate }))],
          };
        }
  }
}

/** An error of the disk while the folders and marks are made, which a run can survive, to be killed later. */
function earlyDisk(chance: Chance, { disk }: { readonly disk: boolean }): Fate {
  if (!disk || !chance.happens(0.3)) return {};
  return { disk: { at: 1 + chance.below(40), code: chance.pick(['ENOSPC', 'EIO', 'EIO', 'EROFS']) } };
}

function endAt(at: number, how: 'kill' | 'power' | 'interrupt'): Fate {
  return how === 'interrupt' ? { interrupt: { at } } : { kill: { at, how } };
}

/** What befalls a process: mostly nothing. */
export function fateOf(chance: Chance, isOn: { readonly kill: boolean; readonly disk: boolean }, calls: number): Fate {
  const at = 1 + chance.below(calls);
  if (isOn.kill && chance.happens(0.5)) {
    if (chance.happens(0.15)) return { stop: { at, span: chance.pick([500, 6000, 20_000]) } };
    if (chance.happens(0.15)) return { interrupt: { at } };
    return {
      kill: { at, how: chance.pick(['kill', 'kill', 'zombie', 'power']), loss: chance.pick(['all', 'none', 'drawn']) },
    };
  }
  if (isOn.disk && chance.happens(0.7)) return { disk: { at, code: chance.pick(['ENOSPC', 'EIO', 'EROFS']) } };
  return {};
}

export function mishapsOf(chance: Chance, runs: number): Mishap[] {
  return Array.from({ length: 1 + chance.below(3) }, () => {
    const method = chance.pick(['POST', 'POST', 'GET', 'PATCH'] as const);
    const reply = chance.pick(replyNames);
    const commit = chance.pick([undefined, 0, 0, 700, 2000, 3900]);
    return { method, nth: 1 + chance.below(runs * 2), ...honest({ method, nth: 1, reply, commit }) };
  });
}

/** An answer whose license no list ever shows: what is sent again after it has no answer. */
function keptByNobody(chance: Chance): Mishap[] {
  const lost = { method: 'POST', nth: 2, reply: chance.pick(['dropped', '500', 'nothing', 'cut'] as const) } as const;
  return [{ method: 'POST', nth: 1, reply: 'made' }, chance.happens(0.5) ? lost : { ...lost, commit: 0 }];
}

/**
 * A refusal carries nothing out, and what is answered is kept: the rest are documented limits, which small worlds
 * count.
 */
function honest({
  reply,
  commit,
}: {
  readonly method: string;
  readonly nth: number;
  readonly reply: Mishap['reply'];
  readonly commit: number | undefined;
}): Pick<Mishap, 'reply' | 'commit'> {
  if (replies[reply].means === 'refused') return { reply };
  return commit === undefined ? { reply } : { reply, commit };
}

/**
 * Every pair of a reply and the moment at which the request is carried out; impossible ones and limits too, which are
 * counted.
 */
function* everyMishap(method: Mishap['method']): Generator<readonly Mishap[]> {
  for (const reply of replyNames)
    for (const commit of [undefined, 0, 2000, 4000])
      yield [{ method, nth: 1, reply, ...(commit === undefined ? {} : { commit }) }];
}

/** Where a plan is only JSON; `vary` adds what befalls runs of every world. */
function erased<Plan>({ play, draw, ...world }: SimulatedWorld<Plan>, vary: (plan: Plan) => Plan): SimulatedWorld {
  return { ...world, draw: (seed) => vary(draw(seed)), play: (plan, trace) => play(plan as Plan, trace) };
}

export const worlds: Readonly<Record<string, SimulatedWorld>> = {
  ensure: erased(ensure, withSurroundings),
  create: erased(create, withSurroundings),
  apply: erased(apply, withSurroundings),
  rosters: erased(rosters, withSurroundings),
  ledger: erased(shared, withSurroundings),
  retire: erased(retire, withSurroundings),
  rename: erased(rename, withSurroundings),
  purge: erased(purge, withCircumstances),
  purges: erased(purges, withCircumstances),
  archive: erased(archive, withCircumstances),
  files: erased(files, withCircumstances),
  'sign-in': erased(signIn, withCircumstances),
};
