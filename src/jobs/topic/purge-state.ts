// What a purge knows of the messages of its topic: a fold of its surveys, looks and calls (docs/apis.md, What a purge
// knows of a message). It lives as long as a run; the next run folds the steps of purge.ndjson again.
import { countBefore } from '../../core/halving.ts';
import type { CallEnd, LookStep, PurgeStep } from '../../store/archive/line-file.ts';

export type PurgedState = 'present' | 'deleted' | 'unseen' | 'elsewhere';

/** A recorded step, the survey that a run begins with, or its search in other places at the end. */
export type FoldedEvent = PurgeStep | { readonly survey: readonly number[] } | TopicSearch;

/** The messages that left the topic and were found in other places. */
interface TopicSearch {
  readonly elsewhere: readonly number[];
  readonly asked: 'all' | 'sample';
}

interface LastCall {
  readonly end: CallEnd;
  /** The messages that the look right before it showed, ascending. */
  readonly before: ReadonlySet<number>;
  readonly hasLook: boolean;
  readonly isOfEarlierRun: boolean;
  /** True if an earlier call broke with a 500, and no call was answered since. */
  readonly isAfterBroken: boolean;
  /** The call before, which is the last one again where this one turns out not to be sent. */
  readonly earlier: LastCall | undefined;
  /** Unseen messages that went in calls which failed: the next call that is answered proves them deleted. */
  readonly unproven: ReadonlySet<number>;
  /** How many messages were left before the call of a killed run, which has no end. */
  readonly leftBeforeKilled: number | undefined;
  /** Calls of this run in a row that removed no original message; this one counts once the topic was read after it. */
  readonly withoutProgress: number;
}

interface LastLook {
  readonly isOfEarlierRun: boolean;
  /** The lowest id that it reached; -Infinity where it read the whole topic. */
  readonly from: number;
  /** How many messages the last look at the whole topic showed. */
  readonly wholeSize: number;
  /** The most messages that went from one look to the next so far. */
  readonly mostGone: number;
}

export interface PurgeState {
  readonly messages: ReadonlyMap<number, PurgedState>;
  /** The original messages, which were known when the run began; all others arrived since. */
  readonly start: ReadonlySet<number>;
  readonly call: LastCall | undefined;
  readonly look: LastLook | undefined;
  /** How many messages calls of this run deleted which the look right before had not reached. */
  readonly deeper: number;
}

// prettier-ignore
export const nothingKnown: PurgeState = {
  messages: new Map(), start: new Set(), call: undefined, look: undefined, deeper: 0,
};

export function after(state: PurgeState, event: FoldedEvent): PurgeState {
  if ('survey' in event) return afterSurvey(state, event.survey);
  if ('elsewhere' in event) return afterSearch(state, event);
  return 'call' in event ? afterCall(state, event.call) : afterLook(state, event);
}

function afterSurvey({ messages: known, call, look }: PurgeState, survey: readonly number[]): PurgeState {
  const messages = withStates(known, [survey, 'present']);
  return {
    messages,
    start: new Set(messages.keys()),
    call: call && { ...call, unproven: unprovenBeside(call, survey), isOfEarlierRun: true, withoutProgress: 0 },
    look: look && { ...look, isOfEarlierRun: true },
    deeper: 0,
  };
}

function afterLook(state: PurgeState, { from, there, missing }: LookStep): PurgeState {
  const { messages: known, start, call, look } = state;
  const isGone = new Set(missing);
  // The server deletes the newest first: a message that is older than one that stayed went in another way.
  const stays = (id: number): boolean => known.get(id) === 'present' && !isGone.has(id);
  const stayed = call ? ([...call.before].findLast(stays) ?? -Infinity) : Infinity;
  // The server may still be working on a call that failed.
  const isOpen = call !== undefined && (!call.hasLook || (isFailed(call.end) && !call.isOfEarlierRun));
  const inCall = isOpen ? missing.filter((id) => id > stayed && call.before.has(id)) : [];
  const seen = withStates(known, [missing, 'unseen'], [there, 'present']);
  const present = presentIn({ messages: seen });
  // The server said that messages are left, and shows none: nobody knows which it deleted.
  const isDoubtful = call?.end === 'part' && !call.isAfterBroken && present.length === 0;
  const isProof = call && isAnswered(call.end) && !call.isAfterBroken && !isDoubtful;
  const messages = isProof ? withStates(seen, [inCall, 'deleted'], [there, 'present']) : seen;
  const deeper = inCall.filter((id) => id < (look?.from ?? -Infinity));
  const isProgress = missing.some((id) => start.has(id));
  return {
    messages,
    start,
    call: call && {
      ...call,
      hasLook: true,
      unproven: new Set([...unprovenBeside(call, there), ...(isFailed(call.end) || isDoubtful ? inCall : [])]),
      withoutProgress: isProgress ? 0 : call.withoutProgress + (call.hasLook || call.isOfEarlierRun ? 0 : 1),
    },
    look: {
      isOfEarlierRun: false,
      from: from ?? -Infinity,
      wholeSize: from === null || !look ? present.length : look.wholeSize,
      mostGone: Math.max(missing.length, look?.mostGone ?? 0),
    },
    deeper: state.deeper + deeper.length,
  };
}

/** The server deletes the newest first: where one is shown again, no call has deleted those that are older. */
function unprovenBeside({ unproven }: LastCall, there: readonly number[]): ReadonlySet<number> {
  const back = there.findLast((id) => unproven.has(id));
  return back === undefined ? unproven : new Set([...unproven].filter((id) => id > back));
}

function afterCall(state: PurgeState, end: CallEnd): PurgeState {
  const { messages, call: last } = state;
  if (end === 'unsent') return { ...state, call: last?.earlier };
  if (end !== 'asked') {
    const proven = isAnswered(end) && last ? [...last.unproven].filter((id) => messages.get(id) === 'unseen') : [];
    const unproven: ReadonlySet<number> = isAnswered(end) ? new Set() : (last?.unproven ?? new Set());
    return { ...state, messages: withStates(messages, [proven, 'deleted']), call: last && { ...last, end, unproven } };
  }
  const isBroken = last !== undefined && !isAnswered(last.end) && (last.end === 'broken' || last.isAfterBroken);
  return {
    ...state,
    call: {
      end,
      before: new Set(presentIn(state)),
      hasLook: false,
      isOfEarlierRun: false,
      isAfterBroken: isBroken,
      earlier: last && { ...last, earlier: undefined },
      unproven: last?.unproven ?? new Set(),
      leftBeforeKilled: last?.end === 'asked' ? last.before.size : last?.leftBeforeKilled,
      withoutProgress: last?.withoutProgress ?? 0,
    },
  };
}

/** If a message of a sample was not deleted, nobody knows about the messages outside the sample. */
function afterSearch(state: PurgeState, { elsewhere, asked }: TopicSearch): PurgeState {
  const gone = goneIn(state);
  const shown = new Set(elsewhere);
  const found = gone.filter((id) => shown.has(id));
  const unseen = found.length > 0 && asked === 'sample' ? gone : [];
  return { ...state, messages: withStates(state.messages, [unseen, 'unseen'], [found, 'elsewhere']) };
}

export function isAnswered(end: CallEnd): boolean {
  return end === 'whole' || end === 'part';
}

function isFailed(end: CallEnd): boolean {
  return end === 'failed' || end === 'broken';
}

function withStates(
  messages: PurgeState['messages'],
  ...changes: readonly (readonly [ids: Iterable<number>, state: PurgedState])[]
): PurgeState['messages'] {
  const next = new Map(messages);
  for (const [ids, state] of changes) for (const id of ids) next.set(id, state);
  return next;
}

/** Decides the step after a read; `isLimited`: the plan hides messages, and nobody sees how many are left. */
export function nextStep(
  state: PurgeState,
  { isLimited }: { readonly isLimited: boolean },
): 'call' | 'end' | 'give up' {
  const { call } = state;
  const isEmpty = presentIn(state).length === 0;
  if (isEmpty && !isLimited) return 'end';
  if (!call || call.isOfEarlierRun) return 'call';
  const left = leftIn(state);
  if (left === 0 && call.end === 'whole') return 'end';
  const isAmongHidden = left === 0 && isLimited && call.end === 'part';
  if (call.withoutProgress < (isAmongHidden ? mostHiddenRounds : mostRounds)) return 'call';
  return left === 0 && !isLimited ? 'end' : 'give up';
}

/** The purge gives up after this many rounds that removed no original message. */
const mostRounds = 2;
const mostHiddenRounds = 50;

/**
 * The step to record after a read of these ids, ascending: all of the topic, or those of at least `from`. The
 * first look of a run names all messages, since no survey is recorded.
 */
export function lookStep(state: PurgeState, time: string, from: number | null, ids: readonly number[]): LookStep {
  const shown = new Set(ids);
  const isFirst = state.look?.isOfEarlierRun ?? true;
  const there = ids.filter((id) => isFirst || state.messages.get(id) !== 'present');
  const missing = presentIn(state).filter((id) => id >= (from ?? -Infinity) && !shown.has(id));
  return { look: time, from, there, missing };
}

/** The newest messages that a look before a call reads at least (docs/apis.md, Looks). */
const leastNewest = 5000;

/** True if these newest messages of a topic, ascending, are enough for the look before the next call. */
export function isEnough(state: PurgeState, ids: readonly number[]): boolean {
  const { look } = state;
  const lowest = ids[0] ?? Infinity;
  const present = presentIn(state);
  const total = countBefore(present, (id) => id < lowest) + ids.length;
  const gone = present.length - total;
  if (!look || look.isOfEarlierRun || gone <= 0 || 2 * total <= look.wholeSize) return false;
  if (ids.length < Math.max(leastNewest, 3 * Math.max(gone, look.mostGone))) return false;
  // If none of the messages that the last look read is left, the call may have gone deeper.
  return look.from === -Infinity || ids.some((id) => id >= look.from && state.messages.get(id) === 'present');
}

export type StateCounts = Readonly<Record<PurgedState, number>>;

export function countsOf({ messages }: Pick<PurgeState, 'messages'>): StateCounts {
  const counts = { present: 0, deleted: 0, unseen: 0, elsewhere: 0 };
  for (const state of messages.values()) counts[state] += 1;
  return counts;
}

export type PurgeStatus = 'deleted' | 'incomplete' | 'unseen';

/** The status of the purge: the worst state of a message decides. */
export function statusOf({ present, elsewhere, unseen }: StateCounts): PurgeStatus {
  if (present + elsewhere > 0) return 'incomplete';
  return unseen > 0 ? 'unseen' : 'deleted';
}

/** The messages that are in the topic as far as the looks have shown, ascending. */
export function presentIn({ messages }: Pick<PurgeState, 'messages'>): readonly number[] {
  return [...messages.keys()].filter((id) => messages.get(id) === 'present').sort((one, other) => one - other);
}

/** The messages that left the topic, ascending. */
export function goneIn({ messages }: Pick<PurgeState, 'messages'>): readonly number[] {
  return [...messages.keys()].filter((id) => messages.get(id) !== 'present').sort((one, other) => one - other);
}

/** How many original messages are left in the topic. */
export function leftIn(state: PurgeState): number {
  return presentIn(state).filter((id) => state.start.has(id)).length;
}
