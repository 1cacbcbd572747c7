import { countBefore } from '../../core/halving.ts';
import type { CallEnd, LookStep, PurgeStep } from '../../store/archive/line-file.ts';

/** What is known of one message of a purge (docs/apis.md, What a purge knows of a message). */
export type Standing = 'waiting' | 'present' | 'gone' | 'deleted' | 'goneOutOfOrder' | 'elsewhere';

export type PurgeStatus = 'deleted' | 'incomplete' | 'unseen';

export type StandingCounts = Readonly<Record<Standing, number>>;

/** What became of all messages together: the worst of them decides. */
export function statusOf({ waiting, present, elsewhere, gone, goneOutOfOrder }: StandingCounts): PurgeStatus {
  if (waiting + present + elsewhere > 0) return 'incomplete';
  return gone + goneOutOfOrder > 0 ? 'unseen' : 'deleted';
}

/** Messages that a purge, of this run and earlier ones, has deleted or would delete with its next call. */
export function deletable({ present, gone, deleted }: StandingCounts): number {
  return present + gone + deleted;
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
  let present: readonly number[] = [];
  /** Most that went between two looks; those of the survey that went before the last; size of the last whole look. */
  const sizes = { mostGone: 0, lastGone: 0, lastWhole: 0 };
  /** The last call, and one whose run ended before the answer. */
  let [lastCall, unanswered]: (LastCall | undefined)[] = [];
  /** Messages that went in a call of another end; no later answer proves what went in one without an end. */
  const provable = new Set<number>();
  let fate: 'gone' | 'deleted' | 'goneOutOfOrder' = 'gone';
  /** Whether a call ended with a 500, and none was answered since. */
  let isCrossed = false;

  const isPresent = (id: number): boolean => of.get(id) === 'present';
  /** The lowest id that the last look reached; -Infinity where it read all, or there was none. */
  const lastReach = (): number => looks.at(-1)?.from ?? -Infinity;
  const counts = (): StandingCounts => countStandings(of.values());
  /** A look is followed by another call. */
  const change = ({ look, from, there, taken, lost }: LookStep): void => {
    for (const id of there) of.set(id, 'present');
    for (const id of taken) of.set(id, fate);
    if (lastCall?.end === 'asked' && taken.length > 0) unanswered = lastCall;
    for (const id of taken) provable[lastCall?.end === 'asked' ? 'delete' : 'add'](id);
    for (const id of lost) of.set(id, 'goneOutOfOrder');
    fate = 'gone';
    sizes.mostGone = Math.max(sizes.mostGone, taken.length);
    looks.push({ time: look, from: from ?? -Infinity });
  };
  /** An answer proves what went since the look before its call; the first one after a 500 only what went before it. */
  const ended = (end: CallEnd): void => {
    const isAnswer = end === 'whole' || end === 'part';
    lastCall = { end, left: end === 'asked' || !lastCall ? counts().present : lastCall.left };
    fate = !isAnswer ? 'gone' : isCrossed ? 'goneOutOfOrder' : 'deleted';
    isCrossed = end === 'crossed' || (isCrossed && !isAnswer);
    if (isAnswer) for (const [id, standing] of of) if (standing === 'gone' && provable.has(id)) of.set(id, 'deleted');
  };

  return {
    ...{ of, arrived, deeper, sizes, ended, counts },
    get present() {
      return present;
    },
    lastCall: () => unanswered ?? lastCall,
    left: () => present.length - [...arrived].filter(isPresent).length,
    expect(ids: readonly number[]): void {
      for (const id of ids) if (!isPresent(id)) of.set(id, 'waiting');
      present = ascending([...present, ...ids]);
    },
    /** Messages that are in the topic if so many have an id of at least `from`. */
    countWith: (count: number, from: number): number => placeOf(present, from) + count,
    /** Whether none of these, the newest, is one that the last look read: what it had not read may be gone too. */
    wentDeeper: (ids: readonly number[]): boolean =>
      lastReach() > -Infinity && !ids.some((id) => id >= lastReach() && isPresent(id)),
    /** Takes what a look read, ascending: all messages of the topic, or those with an id of at least `from`. */
    look({ time, from, ids }: { time: string; from: number | null; ids: readonly number[] }): LookStep {
      const place = from === null ? 0 : placeOf(present, from);
      const [shown, expected] = [new Set(ids), present.slice(place)];
      const survivor = expected.findLast((id) => shown.has(id) && isPresent(id)) ?? -Infinity;
      const missing = expected.filter((id) => !shown.has(id));
      const taken = missing.filter((id) => id > survivor && isPresent(id));
      const lost = missing.filter((id) => id < survivor || !isPresent(id));
      const there = ids.filter((id) => !isPresent(id));
      for (const id of there) if (!of.has(id)) arrived.add(id);
      const unread = taken.slice(0, placeOf(taken, lastReach()));
      const [first, last] = [unread[0], unread.at(-1)];
      if (first !== undefined && last !== undefined)
        deeper.push({ first, last, seen: looks.findLast((one) => one.from <= first)?.time ?? time });
      sizes.lastGone = taken.filter((id) => !arrived.has(id)).length;
      const step = { look: time, from, there, taken, lost };
      change(step);
      present = [...present.slice(0, place), ...ids];
      if (from === null) sizes.lastWhole = ids.length;
      return step;
    },
    /** Messages newer than all of the last look, which came before the call. */
    arrive(ids: readonly number[]): void {
      for (const id of ids) if (!of.has(id)) arrived.add(id);
      for (const id of ids) of.set(id, 'present');
      present = [...present, ...ids];
    },
    /** Messages that a last look found under another name, and those of which it then knows nothing. */
    found(ids: Iterable<number>, untested: Iterable<number>): void {
      for (const id of untested) of.set(id, 'goneOutOfOrder');
      for (const id of ids) of.set(id, 'elsewhere');
    },
    /** Repeats the steps of an earlier run. */
    replay(steps: readonly PurgeStep[]): void {
      for (const step of steps) {
        if ('call' in step) ended(step.call);
        else change(step);
      }
      present = ascending([...of.keys()].filter(isPresent));
    },
  };
}

function countStandings(standings: Iterable<Standing>): StandingCounts {
  const tally = { waiting: 0, present: 0, gone: 0, deleted: 0, goneOutOfOrder: 0, elsewhere: 0 };
  for (const standing of standings) tally[standing] += 1;
  return tally;
}

export function ascending(ids: Iterable<number>): number[] {
  return [...new Set(ids)].sort((one, other) => one - other);
}

/** The place of the first of ascending ids that is not below a number. */
function placeOf(ids: readonly number[], least: number): number {
  return countBefore(ids, (id) => id < least);
}
