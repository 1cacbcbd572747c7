// What is said of a purge: how it failed, what is left, and what its archive may lack.
import { quantity } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import type { Progress, WorkMessages } from '../work/work-messages.ts';
import { isAccepted } from './purge-requests.ts';
import { shownName } from './find-channel.ts';
import { leftIn, presentIn, type Deeper, type PurgeState, type PurgeStatus, type StateCounts } from './purge-state.ts';
import type { TopicSurvey } from './survey-topics.ts';

export interface PurgeOutcome {
  readonly status: PurgeStatus | 'held';
  /** Messages of the survey and of earlier, interrupted runs, and those that came later. */
  readonly counts: StateCounts;
  readonly deleted: number;
  /** Messages that came into the topic during this run. */
  readonly arrived: number;
  readonly deeper: readonly Deeper[];
  /** Whether nobody looked after the last call: more may be deleted. */
  readonly isLeast: boolean;
}

interface InPart {
  readonly left: number;
  readonly last: keyof typeof sinceThen;
  readonly again: string;
}

/** A failure in the middle says how many messages were left when the topic was last seen. */
export function inPart(cause: Failure, survey: TopicSurvey, { left, last, again }: InPart): Failure {
  const { ids } = survey;
  const message = `${cause.message}; ${left} of ${Math.max(left, ids.length)} messages of '${shownName(survey)}' were left ${sinceThen[last]}`;
  const hint = `To continue: ${again}`;
  switch (cause.kind) {
    case 'unavailable':
    case 'config':
      return cause.as('incomplete', message, { hint, retryable: true });
    case 'rejected':
    case 'not_found':
      if (isAccepted(cause)) return cause.as(cause.kind, message);
      // A refused check is no refused deletion.
      return left < ids.length ? cause.as('incomplete', message, { hint, retryable: false }) : cause;
    case 'hangup':
    case 'cancelled':
    case 'terminated':
      return cause.as(cause.kind, message, { hint });
    case 'auth':
      return cause.as(cause.kind, message);
    default:
      return cause;
  }
}

const sinceThen = {
  open: 'when last seen, and the server continues the delete request that it received',
  answered: 'when last seen, before the last call, which was answered',
  seen: 'when last seen',
};

/** Messages that a purge, of this run and earlier ones, has deleted or would delete with its next call. */
export function deletable({ present, deleted, unseen }: StateCounts): number {
  return present + deleted + unseen;
}

/** `left`: messages of the start, once a call was sent. */
export function tooMany(
  survey: TopicSurvey,
  { present, deleted, unseen }: StateCounts,
  maxMessages: number,
  left: number | undefined,
): Failure {
  const gone = deleted + unseen;
  const earlier = gone > 0 ? `, ${gone} of them before` : '';
  const more = `${quantity(present + gone, 'message')} of '${shownName(survey)}' would be deleted${earlier}, more than the ${maxMessages} that --max-messages allows`;
  if (left === undefined) return usage(`${more}: nothing ${gone > 0 ? 'more ' : ''}was deleted`);
  return new Failure('incomplete', `${more}; ${left} of the original messages are left`, { retryable: false });
}

/** `failed`: how the last call ended, if it failed. */
export function stuck(survey: TopicSurvey, left: number, failed: Failure | undefined): Failure {
  const what = `the server makes no progress; ${left} of ${Math.max(left, survey.ids.length)} messages are left in '${shownName(survey)}'`;
  const details = { hint: 'Run the same command again later: it continues.' };
  return failed
    ? failed.as('incomplete', `${what}: ${failed.message}`, details)
    : new Failure('incomplete', what, details);
}

/** The failure of a purge that came to its end; undefined where all is deleted. */
export function leftOver(
  survey: TopicSurvey,
  state: PurgeState,
  { counts, status }: Pick<PurgeOutcome, 'counts' | 'status'>,
  where: { readonly places: ReadonlySet<string>; readonly isSample: boolean },
): Failure | undefined {
  if (counts.elsewhere > 0) return survivors(survey, counts, where);
  if (status === 'unseen') return unseen(survey, counts, state.call);
  return status === 'deleted' ? undefined : remaining(survey, state);
}

function survivors(
  survey: TopicSurvey,
  counts: StateCounts,
  { places, isSample }: { readonly places: ReadonlySet<string>; readonly isSample: boolean },
): Failure {
  const few = [...places].slice(0, 10).map((place) => `'${place}'`);
  const more = places.size > few.length ? ` and ${places.size - few.length} other topics` : '';
  const others = `; ${counts.deleted} were deleted${counts.unseen > 0 ? `, ${counts.unseen} are no longer visible to this account` : ''}`;
  return new Failure(
    'incomplete',
    `topic '${shownName(survey)}': ${isSample ? 'at least ' : ''}${counts.elsewhere} of ${countOf(counts)} messages were not deleted and are in ${few.join(', ')}${more}${isSample ? '' : others}`,
    { hint: 'They were renamed or moved during the deletion: delete them under that name.', retryable: false },
  );
}

function unseen(survey: TopicSurvey, counts: StateCounts, call: PurgeState['call']): Failure {
  const isKilled = call?.end === 'asked' || call?.leftBeforeKilled !== undefined;
  const isFailed = call?.end === 'failed' || call?.end === 'broken';
  const left = call?.end === 'asked' || isFailed ? call.before.size : call?.leftBeforeKilled;
  const how = isFailed ? 'the last delete call failed' : 'the last delete call of an earlier run had no response';
  const reason =
    isFailed || isKilled ? `${how}; ${left} messages were left before it` : 'they may have been moved out of sight';
  const deleted = counts.deleted > 0 ? `; at least ${counts.deleted} were deleted` : '';
  return new Failure(
    'incomplete',
    `topic '${shownName(survey)}': ${counts.unseen} of ${countOf(counts)} messages are no longer visible to this account, and nothing proves that they were deleted: ${reason}${deleted}`,
    {
      hint: 'Look for them with an account that sees more channels. The same command checks again; with --missing-ok it ends the deletion.',
      retryable: false,
    },
  );
}

function remaining(survey: TopicSurvey, state: PurgeState): Failure {
  const left = leftIn(state);
  const newer = presentIn(state).length - left;
  const start =
    left > 0
      ? `${left} of the ${Math.max(left, survey.ids.length)} original messages are left`
      : `the ${survey.ids.length} original messages are gone`;
  const arrived =
    newer > 0
      ? `; ${newer} newer ${newer === 1 ? 'message is' : 'messages are'} left, which arrived during the deletion`
      : '';
  return new Failure('incomplete', `topic '${shownName(survey)}': ${start}${arrived}`, {
    hint: 'Look at them; the same command deletes them too.',
  });
}

function countOf(counts: StateCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Tells what the archive may lack, if there is one, and what is in no count. */
export function warningsOf(survey: TopicSurvey, { arrived, deeper, counts }: PurgeOutcome): string[] {
  const topic = `topic '${shownName(survey)}'`;
  const texts = deeper.map(
    ({ first, last, seen }) =>
      `${topic}: a delete call went further than the last read: messages ${first} to ${last} were last read ${seen}; ` +
      'what was edited, or moved in between them, since then was deleted without being archived',
  );
  if (survey.isLimited)
    texts.push(
      `${topic}: at least ${quantity(counts.deleted, 'message was', 'messages were')} deleted; those that the plan hid are in no count and no archive`,
    );
  if (arrived > 0)
    texts.push(
      `${topic}: ${quantity(arrived, 'message')} arrived during the deletion; what was written, moved, edited or attached during a delete call may have been deleted without being archived`,
    );
  return texts;
}

interface PurgeTerminal extends WorkMessages {
  interactive(): boolean;
}

/** How many messages are archived, and are left: a line of progress, or without a person a note of each number. */
export class PurgeProgress {
  readonly #survey: TopicSurvey;
  readonly #isKept: boolean;
  readonly #parts: PurgeTerminal;
  #shown: { readonly label: string; readonly line: Progress } | undefined;
  #last: number;

  constructor(survey: TopicSurvey, { isKept }: { readonly isKept: boolean }, parts: PurgeTerminal) {
    this.#survey = survey;
    this.#isKept = isKept;
    this.#parts = parts;
    this.#last = survey.ids.length;
  }

  archived(count: number): void {
    this.#upTo('archived', count);
  }

  left(count: number): void {
    const total = this.#survey.ids.length;
    if (this.#parts.interactive()) this.#upTo(this.#isKept ? `archived ${total}, gone` : 'gone', total - count);
    else if (count !== this.#last && count > 0)
      this.#parts.note(`topic '${shownName(this.#survey)}': ${count} of ${Math.max(total, count)} messages are left`);
    this.#last = count;
  }

  readonly note = (text: string): void => {
    this.end();
    this.#parts.note(text);
  };

  end(): void {
    this.#shown?.line.end();
    this.#shown = undefined;
  }

  // The time of a line counts from its first number on.
  #upTo(label: string, count: number): void {
    if (this.#shown?.label !== label) this.end();
    this.#shown ??= { label, line: this.#parts.progress(label, this.#survey.ids.length) };
    this.#shown.line.upTo(count);
  }
}
