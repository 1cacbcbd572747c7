import { countBefore } from '../../core/halving.ts';
import type { CallEnd, LookStep, PurgeStep } from '../../store/archive/line-file.ts';

/** What is known of one message of a purge (docs/apis.md, What a purge knows of a message). */
export type Standing = 'waiting' | 'present' | 'gone' | 'unanswered' | 'deleted' | 'goneOutOfOrder' | 'elsewhere';

export type PurgeStatus = 'deleted' | 'incomplete' | 'unseen';

export type StandingCounts = Readonly<Record<Exclude<Standing, 'unanswered'>, number>>;

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

/** A delete call, and how many messages were in the topic before it. */
export interface LastCall {
  readonly end: CallEnd;
  readonly left: number;
}

/** What a purge knows: the fold of its looks and calls. */
export interface Standings {
  readonly of: ReadonlyMap<number, Standing>;
  /** Those of the survey and of earlier runs; all others arrived since. */
  readonly start: ReadonlySet<number>;
  /** Each with the lowest id that it reached, messages that went before it, and messages that were there. */
  readonly looks: readonly {
    readonly time: string;
    readonly from: number;
    readonly went: number;
    readonly size: number;
  }[];
  readonly deeper: readonly Deeper[];
  /** The last call; one whose run ended before the answer while messages that went in it are nowhere else. */
  readonly lastCall: LastCall | undefined;
  /** The standing of what the next look finds missing. */
  readonly fate: 'gone' | 'unanswered' | 'deleted' | 'goneOutOfOrder';
  /** Whether a call ended with a 500, and none was answered since. */
  readonly isCrossed: boolean;
}

// prettier-ignore
const nothing: Standings = {
  of: new Map(), start: new Set(), looks: [], deeper: [], lastCall: undefined, fate: 'gone', isCrossed: false,
};

/** At the begin of a run, after what earlier ones did, these are expected in the topic. */
export function expecting(ids: readonly number[], known = nothing): Standings {
  const next = withStandings(known, [ids.filter((id) => known.of.get(id) !== 'present'), 'waiting']);
  return { ...next, start: new Set(next.of.keys()), deeper: [] };
}

/** What is known after a step; a look is followed by another call. */
export function afterStep(known: Standings, step: PurgeStep): Standings {
  if ('call' in step) return afterCall(known, step.call);
  const { look: time, from, there, taken, lost } = step;
  const next = withStandings(known, [there, 'present'], [taken, known.fate], [lost, 'goneOutOfOrder']);
  const unread = taken.slice(0, placeOf(taken, reachOf(known)));
  const [first, last] = [unread[0], unread.at(-1)];
  const isDeeper = first !== undefined && last !== undefined;
  const seen = known.looks.findLast((one) => one.from <= (first ?? 0))?.time ?? time;
  return {
    ...next,
    // No call follows yet, and the server does not go on with one that was answered.
    fate: isOpen(known.lastCall) ? 'gone' : 'goneOutOfOrder',
    deeper: isDeeper ? [...known.deeper, { first, last, seen }] : known.deeper,
    looks: [...known.looks, { time, from: from ?? -Infinity, went: taken.length, size: presentIn(next).length }],
  };
}

function isOpen(call: LastCall | undefined): boolean {
  return call !== undefined && call.end !== 'whole' && call.end !== 'part';
}

/** An answer proves what went since the look before its call; the first one after a 500 only what went before it. */
function afterCall(known: Standings, end: CallEnd): Standings {
  const { of, lastCall, isCrossed } = known;
  const isAnswer = end === 'whole' || end === 'part';
  const proven = isAnswer ? [...of].flatMap(([id, standing]) => (standing === 'gone' ? [id] : [])) : [];
  const left = end === 'asked' || !lastCall ? countsOf(known).present : lastCall.left;
  return {
    ...withStandings(known, [proven, 'deleted']),
    lastCall: [...of.values()].includes('unanswered') ? lastCall : { end, left },
    // No later answer proves what went in a call without an end.
    fate: end === 'asked' ? 'unanswered' : !isAnswer ? 'gone' : isCrossed ? 'goneOutOfOrder' : 'deleted',
    isCrossed: end === 'crossed' || (isCrossed && !isAnswer),
  };
}

/** The step of a look that read these, ascending: all messages of the topic, or those with an id of at least `from`. */
export function lookStep(known: Standings, time: string, from: number | null, ids: readonly number[]): LookStep {
  const isPresent = (id: number): boolean => known.of.get(id) === 'present';
  const present = presentIn(known);
  const [shown, expected] = [new Set(ids), present.slice(from === null ? 0 : placeOf(present, from))];
  const survivor = expected.findLast((id) => shown.has(id) && isPresent(id)) ?? -Infinity;
  const missing = expected.filter((id) => !shown.has(id));
  const isTaken = (id: number): boolean => id > survivor && isPresent(id);
  return {
    look: time,
    from,
    there: ids.filter((id) => !isPresent(id)),
    taken: missing.filter(isTaken),
    lost: missing.filter((id) => !isTaken(id)),
  };
}

/** Each of these has that standing now. */
export function withStandings(
  known: Standings,
  ...changes: readonly (readonly [ids: Iterable<number>, standing: Standing])[]
): Standings {
  const of = new Map(known.of);
  for (const [ids, standing] of changes) for (const id of ids) of.set(id, standing);
  return { ...known, of };
}

export function countsOf({ of }: Standings): StandingCounts {
  const tally = { waiting: 0, present: 0, gone: 0, deleted: 0, goneOutOfOrder: 0, elsewhere: 0 };
  for (const standing of of.values()) tally[standing === 'unanswered' ? 'gone' : standing] += 1;
  return tally;
}

/** The messages that are in the topic as far as the looks have shown, ascending. */
export function presentIn({ of }: Standings): readonly number[] {
  const ids = [...of].flatMap(([id, standing]) => (standing === 'waiting' || standing === 'present' ? [id] : []));
  return ascending(ids);
}

/** How many messages of the start are left in the topic. */
export function leftIn(known: Standings): number {
  return presentIn(known).filter((id) => known.start.has(id)).length;
}

/** Whether none of these, the newest, is one that the last look read: what it had not read may be gone too. */
export function wentDeeper(known: Standings, ids: readonly number[]): boolean {
  const reach = reachOf(known);
  return reach > -Infinity && !ids.some((id) => id >= reach && known.of.get(id) === 'present');
}

/** The lowest id that the last look reached; -Infinity where it read all, or there was none. */
function reachOf({ looks }: Standings): number {
  return looks.at(-1)?.from ?? -Infinity;
}

export function ascending(ids: Iterable<number>): number[] {
  return [...new Set(ids)].sort((one, other) => one - other);
}

/** The place of the first of ascending ids that is not below a number. */
export function placeOf(ids: readonly number[], least: number): number {
  return countBefore(ids, (id) => id < least);
}
