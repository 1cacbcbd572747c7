// The messages of a purge: what it would delete, how it failed, what is left, and what its archive may lack.
import type { ChatApi } from '../../api/chat/chat.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { utcText } from '../../core/moment.ts';
import { leftIn, type PurgeState, type PurgeStatus, type StateCounts } from './purge-state.ts';
import type { PurgePlace, TopicSurvey } from './survey-topics.ts';

export interface PurgeOutcome {
  readonly status: PurgeStatus | 'held';
  /** Messages of the survey and of earlier, interrupted runs, and those that came later. */
  readonly counts: StateCounts;
  readonly total: number;
  /** Messages that came into the topic during this run. */
  readonly arrived: number;
  /** Messages that calls deleted, although the look right before had not reached them. */
  readonly deeper: number;
  /** True if no look followed the last call: more may be deleted. */
  readonly isLeast: boolean;
}

/** Says what would be deleted and where, in lines for a person. */
export async function describeTopics(
  chat: ChatApi,
  { site, account, maxFileSize }: PurgePlace,
  surveys: readonly TopicSurvey[],
  say: (text: string) => void,
): Promise<void> {
  const { host } = new URL(site);
  const organization = await chat.organization();
  const server = `${organization === undefined ? host : `${organization} (${host})`}, as ${account}`;
  const kept = maxFileSize === undefined ? 'not archived without --files' : 'archived too';
  const attached = (count: number): string => (count === 0 ? '' : `; ${quantity(count, 'attached file')}, ${kept}`);
  const sumOf = (count: (survey: TopicSurvey) => number) => surveys.reduce((sum, one) => sum + count(one), 0);
  const channels = new Map(surveys.map(({ channel }) => [channel.stream_id, channel]));
  for (const [stream_id, { name }] of channels) {
    const some = surveys.filter(({ channel }) => channel.stream_id === stream_id);
    const channel = name === undefined ? `channel ${stream_id}` : `channel '${name}' (id ${stream_id})`;
    say(`${server}, ${channel}:`);
    for (const survey of some) say(describeTopic(survey) + attached(survey.files));
  }
  if (surveys.length < 2) return;
  const [messages, all] = [sumOf(({ ids }) => ids.length), attached(sumOf(({ files }) => files))];
  say(`channels: ${channels.size}, topics: ${surveys.length}, messages: ${messages}${all}`);
}

function describeTopic(survey: TopicSurvey): string {
  const { topic_name, ids, first_timestamp, last_timestamp, spellings, isLimited, isBegun } = survey;
  const day = (seconds: number | null): string => utcText(seconds)?.slice(0, 10) ?? '?';
  const [first, last] = [day(first_timestamp), day(last_timestamp)];
  const days = first === last ? ` on ${first}` : ` from ${first} to ${last}`;
  const isSpelled = spellings.some((name) => name !== topic_name);
  const parts = [
    `topic '${topic_name}': ${quantity(ids.length, 'message')}`,
    ids.length === 0 ? '' : days,
    isSpelled ? `; spelled ${spellings.map((name) => `'${name}'`).join(', ')}` : '',
    isLimited ? '; and older ones that the plan hides' : '',
    isBegun ? '; an earlier run began to delete it' : '',
  ];
  return parts.join('');
}

/** Adds to a failure in the middle how many messages were left when the topic was last seen. */
export function inPart(
  cause: Failure,
  { ids, label }: TopicSurvey,
  { left, isServerAtWork }: { readonly left: number; readonly isServerAtWork: boolean },
  again: string,
): Failure {
  const atWork = isServerAtWork ? ', and the server continues the delete request that it received' : '';
  const seen = `${left} of ${Math.max(left, ids.length)} messages of '${label}' were left when last seen${atWork}`;
  const message = `${cause.message}; ${seen}`;
  const hint = `To continue: ${again}`;
  if (cause.isInterruption) return cause.as(cause.kind, message, { hint });
  if (cause.kind === 'unavailable' || cause.kind === 'config')
    return cause.as('incomplete', message, { hint, retryable: true });
  if (cause.kind === 'auth' || isAccepted(cause)) return cause.as(cause.kind, message);
  // After a deletion, a check that is refused makes the purge incomplete, and not rejected.
  const isCheck = (cause.kind === 'rejected' || cause.kind === 'not_found') && left < ids.length;
  return isCheck ? cause.as('incomplete', message, { hint, retryable: false }) : cause;
}

/** True if the server said that it deletes, although it ignored a part of the request. */
export function isAccepted({ details: { http } }: Failure): boolean {
  return http?.status !== undefined && http.status < 300;
}

/** Messages that a purge, of this run and earlier ones, has deleted or would delete with its next call. */
export function deletable({ present, deleted, unseen }: StateCounts): number {
  return present + deleted + unseen;
}

/** `left`: original messages that are left, once a call was sent. @throws Failure for more than may be deleted */
export function refuseMore({ label }: TopicSurvey, counts: StateCounts, most: number, left: number | undefined): void {
  if (deletable(counts) <= most) return;
  const gone = counts.deleted + counts.unseen;
  const earlier = gone > 0 ? `, ${gone} of them before` : '';
  const more = `${quantity(deletable(counts), 'message')} of '${label}' would be deleted${earlier}, more than the ${most} that --max-messages allows`;
  if (left === undefined) throw usage(`${more}: nothing ${gone > 0 ? 'more ' : ''}of it was deleted`);
  throw new Failure('incomplete', `${more}; ${left} of the original messages are left`, { retryable: false });
}

/** The failure of a purge without progress. `failed`: the last call's, if it failed. */
export function stuck({ ids, label }: TopicSurvey, left: number, failed: Failure | undefined): Failure {
  const what = `the server makes no progress; ${left} of ${Math.max(left, ids.length)} messages are left in '${label}'`;
  const details = { hint: 'Run the same command again later: it continues.' };
  if (!failed) return new Failure('incomplete', what, details);
  return failed.as('incomplete', `${what}: ${failed.message}`, details);
}

/** The failure of a purge that ended; undefined where all is deleted. `places`: where some messages still are. */
export function leftOver(
  { ids, label }: TopicSurvey,
  state: PurgeState,
  { counts, status, total }: PurgeOutcome,
  { places, isSample }: { readonly places: ReadonlySet<string>; readonly isSample: boolean },
): Failure | undefined {
  if (status === 'deleted') return undefined;
  const { deleted, unseen, elsewhere, present } = counts;
  const failure = (text: string, hint: string): Failure =>
    new Failure('incomplete', `topic '${label}': ${text}`, { hint, retryable: present > 0 && elsewhere === 0 });
  if (elsewhere > 0) {
    const few = [...places].slice(0, 10).map((place) => `'${place}'`);
    const more = places.size > 10 ? ` and ${places.size - 10} other topics` : '';
    const gone = `; ${deleted} were deleted${unseen > 0 ? `, ${unseen} are no longer visible to this account` : ''}`;
    const where = `${elsewhere} of ${total} messages were not deleted and are in ${few.join(', ')}${more}`;
    const hint = 'They were renamed or moved during the deletion: delete them under that name.';
    return failure(isSample ? `at least ${where}` : where + gone, hint);
  }
  if (status === 'unseen')
    return failure(
      `${unseen} of ${total} messages are no longer visible to this account, and nothing proves that they were deleted: ${whyUnseen(state)}${deleted > 0 ? `; at least ${deleted} were deleted` : ''}`,
      'Look for them with an account that sees more channels. The same command checks again; with --missing-ok it ends the deletion.',
    );
  const left = leftIn(state);
  const newer = quantity(present - left, 'newer message is', 'newer messages are');
  const arrived = present > left ? `; ${newer} left, which arrived during the deletion` : '';
  const start =
    left > 0
      ? `${left} of the ${Math.max(left, ids.length)} original messages are left`
      : `the ${ids.length} original messages are gone`;
  return failure(start + arrived, 'Look at them; the same command deletes them too.');
}

function whyUnseen({ call }: PurgeState): string {
  const isFailed = call?.end === 'failed' || call?.end === 'broken';
  const left = isFailed || call?.end === 'asked' ? call.before.size : call?.leftBeforeKilled;
  if (call?.end === 'part') return 'the last delete call said that messages are left';
  if (left === undefined) return 'they may have been moved out of sight';
  const how = isFailed ? 'the last delete call failed' : 'the last delete call of an earlier run had no response';
  return `${how}; ${left} messages were left before it`;
}

/** Warnings of messages that the archive may lack, if there is one, or that are in no count. */
export function warningsOf({ label, isLimited }: TopicSurvey, { arrived, deeper, counts }: PurgeOutcome): string[] {
  const further = `a delete call went further than the last read, by ${quantity(deeper, 'message')}: what was edited there, or moved in, since the topic was last read as a whole was deleted without being archived`;
  const hidden = `at least ${quantity(counts.deleted, 'message was', 'messages were')} deleted; those that the plan hid are in no count and no archive`;
  const came = `${quantity(arrived, 'message')} arrived during the deletion; what was written, moved, edited or attached during a delete call may have been deleted without being archived`;
  const all = [
    ...(deeper > 0 ? [further] : []),
    ...(isLimited ? [hidden] : []),
    ...(arrived > 0 && counts.deleted > 0 ? [came] : []),
  ];
  return all.map((text) => `topic '${label}': ${text}`);
}

/** @throws Failure incomplete where a younger message than --older-than has come */
export function refuseNewer({ label, last_timestamp }: TopicSurvey, before = Infinity): void {
  if (last_timestamp === null || last_timestamp * 1000 < before) return;
  const message = `topic '${label}' has a message of ${utcText(last_timestamp)}, which is younger than --older-than`;
  const hint = 'Look at it; the topic can be deleted by its name.';
  throw new Failure('incomplete', `${message}: nothing more of it is deleted`, { hint, retryable: false });
}

export type PurgeRow = ReturnType<typeof rowOf>;

export function rowOf(
  survey: TopicSurvey,
  status: PurgeOutcome['status'] | 'missing' | 'would be deleted',
  outcome?: PurgeOutcome,
) {
  const { channel, topic_name, ids } = survey;
  const { counts, arrived = 0, deeper = 0, isLeast = false } = outcome ?? {};
  const deleted = counts?.deleted ?? 0;
  const place = { stream_id: channel.stream_id, channel: channel.name, topic_name, messages: ids.length, deleted };
  const doubts = { arrived, deeper, at_least: isLeast || status === 'unseen' };
  return { ...place, ...doubts, status };
}
