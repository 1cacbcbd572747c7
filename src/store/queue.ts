import { inSequence, once } from '../core/batch.ts';
import type { Milliseconds } from '../core/duration.ts';
import { ifAnswered, orWarn } from '../core/failure.ts';
import { isObject } from '../core/json.ts';
import type { Clock } from '../core/system.ts';

/**
 * The requests for licenses that a server may still carry out, of all runs (docs/exactly-once.md, A server has a
 * queue); moments are on the clock `elapsed`.
 */
export interface Queue {
  /** POSTs without an answer. While there is one, no other is sent to that server. */
  readonly pending: number;
  /** Before that moment none of them counts as not carried out. */
  readonly until: Milliseconds;
  /** A run has one request under way, and the POSTs of all runs go one at a time. */
  readonly isSlow: boolean;
}

/** What is kept of a queue where other runs see it, by the clock of that place. */
export interface QueueState {
  readonly left: readonly LeftRequests[];
  /** The later of the last end of one of them, and the last moment at which one was shown. */
  readonly since: Milliseconds;
  /** When it was last decided what became of one. */
  readonly decided: Milliseconds;
}

/** The requests of one run without an answer: POSTs, and others that wait in the same queue. */
export interface LeftRequests {
  readonly by: string;
  readonly posts: number;
  readonly others: number;
  readonly settle: Milliseconds;
}

export const emptyQueue: QueueState = { left: [], since: 0, decided: 0 };

const slowFor: Milliseconds = 60_000;

/**
 * Of n requests none counts as not carried out before n times `settle`: they may be served in any order.
 * @param underWay the POSTs for whose answers other runs still wait
 */
export function queueAt(state: QueueState, now: Milliseconds, settle: Milliseconds, underWay = 0): Queue {
  const { left, since, decided } = state;
  const posts = left.reduce((sum, one) => sum + one.posts, 0);
  const all = left.reduce((sum, one) => sum + one.others, posts + underWay);
  const until = since + all * Math.max(settle, ...left.map((one) => one.settle));
  const last = Math.max(decided, posts > 0 ? until : -Infinity);
  return { pending: now < until ? posts : 0, until, isSlow: now < last + slowFor };
}

/**
 * After something became known of the requests of one run; `own` is what it has left now. `more` of them are no POSTs:
 * they count in the number and move no moment, else a network that loses some lookups would keep a run without an end.
 */
export function queueAfter(
  state: QueueState,
  now: Milliseconds,
  own: LeftRequests,
  what: 'left' | 'more' | 'shown' | 'not carried out',
): QueueState {
  const known = queueAt(state, now, own.settle).pending > 0 ? state.left : [];
  const others = known.filter(({ by }) => by !== own.by);
  return {
    left: own.posts + own.others > 0 ? [...others, own] : others,
    since: what === 'not carried out' || what === 'more' ? Math.min(state.since, now) : now,
    decided: what === 'left' || what === 'more' ? Math.min(state.decided, now) : now,
  };
}

export function isQueueState(value: unknown): value is QueueState {
  if (!isObject(value) || !Array.isArray(value['left']) || !value['left'].every(isLeft)) return false;
  return Number.isFinite(value['since']) && Number.isFinite(value['decided']);
}

function isLeft(value: unknown): value is LeftRequests {
  if (!isObject(value) || typeof value['by'] !== 'string') return false;
  return [value['posts'], value['others'], value['settle']].every((one) => Number.isFinite(one));
}

/** A place that other runs see: a file of this computer, or a row of the ledger. */
export interface QueuePlace {
  /** What is kept, and the moment by its clock. @throws Failure */
  read(): Promise<KeptQueue>;
  change(next: (state: QueueState, now: Milliseconds) => QueueState): Promise<KeptQueue>;
  /** Undefined while another run has the turn; else what gives it back. */
  takeTurn(): Promise<(() => Promise<void>) | undefined>;
  /** Counts what dead runs have left that nobody has seen yet. */
  findDead(settle: Milliseconds): Promise<void>;
}

export interface KeptQueue {
  readonly state: QueueState;
  readonly now: Milliseconds;
}

/** Runs of this computer that wait for answers: one that is stopped does not know that it has none. */
export interface UnderWay {
  /** Meanwhile others know that this run has POSTs under way. @throws Failure where they cannot: nothing is sent */
  during<T>(send: () => Promise<T>): Promise<T>;
  /** Others do not know what this run has left: it counts as under way until it ends. */
  stay(): void;
  /** How many POSTs others have under way at most. */
  ofOthers(): Promise<number>;
}

export interface OriginQueue {
  /** @throws Failure where it cannot be read: then nothing may be sent */
  look(): Promise<Queue>;
  /** As of the last look. */
  isSlow(): boolean;
  /** While a POST of this run is pending, how many of its requests count in n. */
  own(): number;
  /** What `look` says of the end, from this run's memory where no place can be read. */
  until(): Promise<Milliseconds>;
  /** Works alone among all runs once none is pending. @param work `hasWaited`: what was looked up may be old by now */
  turn<T>(work: (hasWaited: boolean) => Promise<T>): Promise<T>;
  /** Sends a POST; until that is decided, or pending, other runs know that it is under way. */
  send<T>(work: () => Promise<T>): Promise<T>;
  /** A POST of this run ended without an answer; other runs know of it when this resolves. */
  pend(): Promise<void>;
  /** What became of a pending POST of this run. */
  decided(how: 'shown' | 'not carried out'): Promise<void>;
  /** This run does not look any more: what it leaves counts from now. */
  left(): Promise<void>;
  /** Another request of this run had no answer. */
  unanswered(): void;
  /** How many of those there were. */
  silences(): number;
}

/** Keeps many runs that wait for one turn from busy polling. */
const longestPause: Milliseconds = 250;

const unknown = 'other runs may not know that the server has a request without an answer';

export interface Queueing extends Pick<Clock, 'elapsed'> {
  readonly by: string;
  readonly settle: Milliseconds;
  /** None where the queue is of this run alone. */
  readonly underWay?: UnderWay | undefined;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** The queue of a server as one run sees it, in its own memory and in the places that it shares with others. */
export function openQueue(shared: readonly QueuePlace[], queueing: Queueing): OriginQueue {
  const { by, settle, underWay, elapsed, sleep, note, warn } = queueing;
  const places = [memoryPlace(elapsed), ...shared];
  /** Requests of this run without an answer: `load` before a POST, one less in each `settle`; `others` beside one. */
  const silent = { load: 0, at: 0, others: 0, all: 0, isNew: false };
  /** `last`: what was said last of the end counts for a place that cannot be read. */
  let [posts, isSlow, last] = [0, false, -Infinity];
  const [oneTurn, oneChange] = [inSequence(), inSequence()];

  const read = async (place: Pick<QueuePlace, 'read'>, count: () => Promise<number>): Promise<Queue> => {
    const { state, now } = await place.read();
    const counted = state.left.length > 0 ? count() : Promise.resolve(0);
    const others = (await (place === places[0] ? ifAnswered(counted) : counted)) ?? 0;
    // A place that could not be written lacks what this run has left.
    const lacking = state.left.some((one) => one.by === by) ? 0 : posts;
    const queue = queueAt(state, now, settle, others + lacking);
    return { ...queue, until: queue.until - now + elapsed() };
  };
  const readAll = (count = once(async () => underWay?.ofOthers() ?? 0)) => places.map((place) => read(place, count));
  const look = async (): Promise<Queue> => {
    const seen = await Promise.all(readAll());
    isSlow = seen.some((one) => one.isSlow);
    const [pending, until] = [seen.map((one) => one.pending), seen.map((one) => one.until)];
    return { pending: Math.max(...pending), until: Math.max(...until), isSlow };
  };
  const load = (): number => Math.max(0, silent.load - (elapsed() - silent.at) / settle);
  const add = (more: object): void => void Object.assign(silent, { load: load() + 1, at: elapsed(), ...more });
  const change = async (what: Parameters<typeof queueAfter>[3]): Promise<void> => {
    const own = { by, posts, others: posts > 0 ? silent.others : load(), settle };
    [isSlow, silent.isNew] = [true, false];
    const after = (state: QueueState, now: Milliseconds) => queueAfter(state, now, own, what);
    for (const place of places)
      if (!(await orWarn(place.change(after), warn, unknown)) && what === 'left') underWay?.stay();
  };
  /** Tries until something is there, and says what it waits for. */
  const wait = async <T>(attempt: () => Promise<T | undefined>): Promise<T> => {
    for (let round = 1, told = elapsed(); ; round += 1) {
      const found = await attempt();
      if (found !== undefined) return found;
      if (elapsed() - told >= 10_000) {
        note('waiting for a request without an answer, which the server may still carry out');
        told = elapsed();
      }
      await sleep(Math.min(20 * round, longestPause));
    }
  };
  const inTurn = async <T>(work: (hasWaited: boolean) => Promise<T>, begun: Milliseconds): Promise<T> => {
    const ends: (() => Promise<void>)[] = [];
    try {
      for (const place of shared) ends.unshift(await wait(() => place.takeTurn()));
      const { pending } = await look();
      if (pending > 0) await wait(async () => ((await look()).pending > 0 ? undefined : true));
      return await work(pending > 0 || elapsed() - begun > settle);
    } finally {
      for (const end of ends) await orWarn(end(), warn);
    }
  };

  return {
    look,
    isSlow: () => isSlow,
    own: () => posts + silent.others,
    async until() {
      if (posts > 0 && silent.isNew) await oneChange(() => change('more'));
      const known = await Promise.allSettled(readAll());
      return (last = Math.max(...known.map((one) => (one.status === 'fulfilled' ? one.value.until : last))));
    },
    turn(work) {
      const begun = elapsed();
      return oneTurn(() => inTurn(work, begun));
    },
    send: (work) => underWay?.during(work) ?? work(),
    async pend() {
      add(posts === 0 ? { others: load() } : {});
      posts += 1;
      await oneChange(async () => {
        await change('left');
        for (const place of shared) await orWarn(place.findDead(settle), warn, unknown);
      });
    },
    decided(how) {
      posts -= 1;
      return oneChange(() => change(how));
    },
    left: () => oneChange(() => change('left')),
    unanswered: () => add({ others: silent.others + 1, all: silent.all + 1, isNew: true }),
    silences: () => silent.all,
  };
}

function memoryPlace(elapsed: Clock['elapsed']): Pick<QueuePlace, 'read' | 'change'> {
  let state: QueueState = { left: [], since: -Infinity, decided: -Infinity };
  const kept = async (): Promise<KeptQueue> => ({ state, now: elapsed() });
  return {
    read: kept,
    change(next) {
      state = next(state, elapsed());
      return kept();
    },
  };
}
