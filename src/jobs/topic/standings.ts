import { countBefore } from '../../core/halving.ts';
import type { CallEnd, LookStep, PurgeStep } from '../../store/archive/line-file.ts';

/**
 * What is known of one message of a purge (docs/apis.md, What a purge knows of a message):
 * - `waiting`: it was surveyed, and no look right before a delete call has shown it yet
 * - `there`: the last look that reached it, right before a delete call, showed it in the topic
 * - `taken`: it left the topic in the order in which the server deletes, and no call since that look was answered
 * - `deleted`: the same, and a call since was answered
 * - `lost`: it left the topic in another way, or while somebody else was writing to it
 * - `elsewhere`: the last look found it under another name
 */
export type Standing = 'waiting' | 'there' | 'taken' | 'deleted' | 'lost' | 'elsewhere';

export type PurgeStatus = 'deleted' | 'incomplete' | 'unseen';

export type StandingCounts = Readonly<Record<Standing, number>>;

/** What became of all messages together: the worst of them decides. */
export function statusOf({ waiting, there, elsewhere, taken, lost }: StandingCounts): PurgeStatus {
  if (waiting + there + elsewhere > 0) return 'incomplete';
  return taken + lost > 0 ? 'unseen' : 'deleted';
}

/** Messages that a purge, of this run and earlier ones, has deleted or would delete with its next call. */
export function deletable({ there, taken, deleted }: StandingCounts): number {
  return there + taken + deleted;
}

/** Messages that a call deleted although the look right before it had not reached them. */
export interface Deeper {
  readonly first: number;
  readonly last: number;
  /** When they were last looked at, RFC 3339. */
  readonly seen: string;
}

/** The last delete call, and how many messages were in the topic before it. */
export interface LastCall {
  readonly end: CallEnd;
  readonly left: number;
}

/** The standings of a purge's messages; looks and calls change them. */
export type Standings = ReturnType<typeof openStandings>;

export function openStandings() {
  const of = new Map<number, Standing>();
  const arrived = new Set<number>();
  const deeper: Deeper[] = [];
  const looks: { readonly time: string; readonly from: number }[] = [];
  /** The messages that are in the topic as far as the looks have shown, ascending. */
  const there: number[] = [];
  /**
   * The most messages that went from one look to the next, those of the survey that went before the last look, and the messages of the
   * last whole look.
   */
  const sizes = { mostTaken: 0, lastTaken: 0, lastWhole: 0 };
  let count = 0;
  const calls = openCalls();

  const isThere = (id: number): boolean => of.get(id) === 'there';
  /** A look is followed by another call. */
  const change = (
    { look, from }: Pick<LookStep, 'look' | 'from'>,
    { came, taken, lost }: Readonly<Record<'came' | 'taken' | 'lost', readonly number[]>>,
  ): void => {
    for (const id of came) of.set(id, 'there');
    const gone = calls.next();
    for (const id of taken) of.set(id, gone);
    for (const id of lost) of.set(id, 'lost');
    count += came.length - taken.length - lost.length;
    sizes.mostTaken = Math.max(sizes.mostTaken, taken.length);
    looks.push({ time: look, from: from ?? -Infinity });
  };
  const ended = (end: CallEnd): void => {
    calls.ended(end, count);
    if (isAnswer(end)) for (const [id, standing] of of) if (standing === 'taken') of.set(id, 'deleted');
  };

  return {
    ...{ of, there, arrived, deeper, sizes, ended },
    lastCall: calls.last,
    left: () => there.length - [...arrived].filter(isThere).length,
    expect(ids: readonly number[]): void {
      for (const id of ids) if (!isThere(id)) of.set(id, 'waiting');
      refill(there, ascending([...there, ...ids]));
    },
    /** Messages that are in the topic if so many have an id of at least `from`. */
    countWith: (count: number, from: number): number => placeOf(there, from) + count,
    /** Whether among these, the newest of the topic, is none that the last look read: what it had not read may be gone too. */
    wentDeeper(ids: readonly number[]): boolean {
      const reached = looks.at(-1)?.from ?? -Infinity;
      return reached > -Infinity && !ids.some((id) => id >= reached && isThere(id));
    },
    /** Takes what a look read, ascending: all messages of the topic with an id of at least `from`, or of the whole topic. */
    look({ time, from, ids }: { time: string; from: number | null; ids: readonly number[] }): LookStep {
      const place = from === null ? 0 : placeOf(there, from);
      const { both, first: gone, second: fresh } = compared(there.slice(place), ids);
      const survivor = both.findLast(isThere) ?? -Infinity;
      const taken = gone.filter((id) => id > survivor && isThere(id));
      const lost = gone.filter((id) => id < survivor || !isThere(id));
      const came = ascending([...both.filter((id) => !isThere(id)), ...fresh]);
      for (const id of came) if (!of.has(id)) arrived.add(id);
      const unread = taken.slice(0, placeOf(taken, looks.at(-1)?.from ?? -Infinity));
      const [first, last] = [unread[0], unread.at(-1)];
      if (first !== undefined && last !== undefined)
        deeper.push({ first, last, seen: looks.findLast((one) => one.from <= first)?.time ?? time });
      sizes.lastTaken = taken.filter((id) => !arrived.has(id)).length;
      const step = { look: time, from };
      change(step, { came, taken, lost });
      there.length = place;
      for (const id of ids) there.push(id);
      if (from === null) sizes.lastWhole = ids.length;
      return { ...step, there: came, taken, lost };
    },
    /** Messages newer than all of the last look, which came before the call. */
    came(ids: readonly number[]): void {
      for (const id of ids) {
        if (!of.has(id)) arrived.add(id);
        of.set(id, 'there');
        there.push(id);
        count += 1;
      }
    },
    /** Messages that a last look found under another name, and those of which it then knows nothing. */
    found(ids: Iterable<number>, untested: Iterable<number>): void {
      for (const id of untested) of.set(id, 'lost');
      for (const id of ids) of.set(id, 'elsewhere');
    },
    /** Repeats the steps of an earlier run. */
    replay(steps: readonly PurgeStep[]): void {
      for (const step of steps) {
        if ('call' in step) ended(step.call);
        else change(step, { came: step.there, taken: step.taken, lost: step.lost });
      }
      refill(there, ascending([...of.keys()].filter(isThere)));
    },
    counts: (): StandingCounts => counted(of.values()),
  };
}

/** What calls prove: an answer what went since the look before its call, the first one after a 500 only what had gone before that look. */
function openCalls() {
  let last: LastCall | undefined;
  let gone: 'taken' | 'deleted' | 'lost' = 'taken';
  let isCrossed = false;
  return {
    last: () => last,
    /** A call after a look that showed so many messages. */
    ended(end: CallEnd, shown: number): void {
      last = { end, left: end === 'asked' ? shown : (last?.left ?? shown) };
      gone = !isAnswer(end) ? 'taken' : isCrossed ? 'lost' : 'deleted';
      isCrossed = end === 'crossed' || (isCrossed && !isAnswer(end));
    },
    /** What becomes of messages that the look after the last call does not show any more. */
    next(): typeof gone {
      const standing = gone;
      gone = 'taken';
      return standing;
    },
  };
}

function isAnswer(end: CallEnd): boolean {
  return end === 'whole' || end === 'part';
}

function counted(standings: Iterable<Standing>): StandingCounts {
  const tally = { waiting: 0, there: 0, taken: 0, deleted: 0, lost: 0, elsewhere: 0 };
  for (const standing of standings) tally[standing] += 1;
  return tally;
}

function refill(list: number[], ids: readonly number[]): void {
  list.length = 0;
  for (const id of ids) list.push(id);
}

function ascending(ids: Iterable<number>): number[] {
  return [...new Set(ids)].sort((one, other) => one - other);
}

/** What two lists of ascending ids have in common, and what only one of them has. */
function compared(one: readonly number[], other: readonly number[]) {
  const [both, first, second]: [number[], number[], number[]] = [[], [], []];
  let place = 0;
  for (const id of one) {
    for (; (other[place] ?? Infinity) < id; place += 1) second.push(other[place] ?? 0);
    const isShared = other[place] === id;
    (isShared ? both : first).push(id);
    if (isShared) place += 1;
  }
  return { both, first, second: second.concat(other.slice(place)) };
}

/** The place of the first of ascending ids that is not below a number. */
function placeOf(ids: readonly number[], least: number): number {
  return countBefore(ids, (id) => id < least);
}
