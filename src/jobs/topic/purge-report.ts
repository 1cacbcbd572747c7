// What is said of a purge: how it failed, what is left, and what its archive may lack.
import type { ChatApi } from '../../api/chat/chat.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { utcText } from '../../core/moment.ts';
import { isAccepted } from './purge-requests.ts';
import { shownName } from './find-channel.ts';
import { leftIn, type Deeper, type PurgeState, type PurgeStatus, type StateCounts } from './purge-state.ts';
import { earlierCount, isOpen, mostNamed, type Doomed, type TopicSurvey } from './survey-topics.ts';

export interface PurgeOutcome {
  readonly status: PurgeStatus | 'held';
  /** Messages of the survey and of earlier, interrupted runs, and those that came later. */
  readonly counts: StateCounts;
  readonly total: number;
  /** Messages that came into the topic during this run. */
  readonly arrived: number;
  readonly deeper: readonly Deeper[];
  /** Whether nobody looked after the last call: more may be deleted. */
  readonly isLeast: boolean;
}

/** Says what would be deleted and where, in lines for a person. */
export async function describeTopics(
  chat: Pick<ChatApi, 'organization'>,
  { site, email }: { readonly site: string; readonly email: string },
  surveys: readonly Doomed[],
  /** What becomes of attached files. */
  files: 'archived too' | 'not archived without --files',
  note: (text: string) => void,
): Promise<void> {
  const { host: full, hostname } = new URL(site);
  // The port of a sandbox is another one in each run.
  const host = hostname === '127.0.0.1' ? hostname : full;
  const organization = await chat.organization();
  const server = `${organization === undefined ? host : `${organization} (${host})`}, as ${email}`;
  const attached = (count: number): string => (count === 0 ? '' : `; ${quantity(count, 'attached file')}, ${files}`);
  const totals = (some: readonly Doomed[]): string => {
    const [messages, all] = [sum(some, ({ ids }) => ids.length), sum(some, (survey) => survey.files)];
    return `topics: ${some.length}, messages: ${messages}${attached(all)}`;
  };
  const channels = new Map(surveys.map(({ channel }) => [channel.stream_id, channel]));
  const isLong = surveys.length > mostNamed;
  for (const [stream_id, { name }] of channels) {
    const some = surveys.filter(({ channel }) => channel.stream_id === stream_id);
    const channel = name === undefined ? `channel ${stream_id}` : `channel '${name}' (id ${stream_id})`;
    note(`${server}, ${channel}:${isLong ? ` ${totals(some)}` : ''}`);
    for (const survey of isLong ? [] : some) note(describeTopic(survey) + attached(survey.files));
  }
  if (surveys.length > 1) note(`channels: ${channels.size}, ${totals(surveys)}`);
}

function sum<T>(values: readonly T[], count: (value: T) => number): number {
  return values.reduce((total, value) => total + count(value), 0);
}

function describeTopic(survey: Doomed): string {
  const { topic_name, ids, first_timestamp, last_timestamp, spellings, isLimited, isBegun } = survey;
  const day = (seconds: number | null): string => utcText(seconds)?.slice(0, 10) ?? '?';
  const [first, last] = [day(first_timestamp), day(last_timestamp)];
  const days = first === last ? ` on ${first}` : ` from ${first} to ${last}`;
  const dates = ids.length === 0 ? '' : days;
  const others = spellings.some((name) => name !== topic_name)
    ? `; spelled ${spellings.map((name) => `'${name}'`).join(', ')}`
    : '';
  const hidden = isLimited ? '; and older ones that the plan hides' : '';
  const earlier = isBegun ? '; an earlier run began to delete it' : '';
  const deleted = earlierCount(survey) > 0 ? `; an earlier run deleted ${earlierCount(survey)}` : '';
  return `topic '${topic_name}': ${quantity(ids.length, 'message')}${dates}${others}${hidden}${earlier}${deleted}`;
}

/** A failure in the middle says how many messages were left when the topic was last seen. */
export function inPart(
  cause: Failure,
  survey: TopicSurvey,
  { left, isServerAtWork }: { readonly left: number; readonly isServerAtWork: boolean },
  again: string,
): Failure {
  const total = Math.max(left, survey.ids.length);
  const atWork = isServerAtWork ? ', and the server continues the delete request that it received' : '';
  const message = `${cause.message}; ${left} of ${total} messages of '${shownName(survey)}' were left when last seen${atWork}`;
  const hint = `To continue: ${again}`;
  if (cause.isInterruption) return cause.as(cause.kind, message, { hint });
  switch (cause.kind) {
    case 'unavailable':
    case 'config':
      return cause.as('incomplete', message, { hint, retryable: true });
    case 'rejected':
    case 'not_found':
      if (isAccepted(cause)) return cause.as(cause.kind, message);
      // A refused check is no refused deletion.
      return left < survey.ids.length ? cause.as('incomplete', message, { hint, retryable: false }) : cause;
    case 'auth':
      return cause.as(cause.kind, message);
    default:
      return cause;
  }
}

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
  const total = Math.max(left, survey.ids.length);
  const what = `the server makes no progress; ${left} of ${total} messages are left in '${shownName(survey)}'`;
  const details = { hint: 'Run the same command again later: it continues.' };
  if (!failed) return new Failure('incomplete', what, details);
  return failed.as('incomplete', `${what}: ${failed.message}`, details);
}

/** The failure of a purge that came to its end; undefined where all is deleted. `places`: where some live on. */
export function leftOver(
  survey: TopicSurvey,
  state: PurgeState,
  { counts, status, total }: PurgeOutcome,
  { places, isSample }: { readonly places: ReadonlySet<string>; readonly isSample: boolean },
): Failure | undefined {
  const { deleted, unseen, elsewhere } = counts;
  const failure = (text: string, hint: string, retryable?: false): Failure =>
    new Failure('incomplete', `topic '${shownName(survey)}': ${text}`, {
      hint,
      ...(retryable === false && { retryable }),
    });
  if (elsewhere > 0) {
    const few = [...places]
      .slice(0, 10)
      .map((place) => `'${place}'`)
      .join(', ');
    const more = places.size > 10 ? ` and ${places.size - 10} other topics` : '';
    const gone = `; ${deleted} were deleted${unseen > 0 ? `, ${unseen} are no longer visible to this account` : ''}`;
    return failure(
      `${isSample ? 'at least ' : ''}${elsewhere} of ${total} messages were not deleted and are in ${few}${more}${isSample ? '' : gone}`,
      'They were renamed or moved during the deletion: delete them under that name.',
      false,
    );
  }
  if (status === 'unseen')
    return failure(
      `${unseen} of ${total} messages are no longer visible to this account, and nothing proves that they were deleted: ${whyUnseen(state)}${deleted > 0 ? `; at least ${deleted} were deleted` : ''}`,
      'Look for them with an account that sees more channels. The same command checks again; with --missing-ok it ends the deletion.',
      false,
    );
  if (status === 'deleted') return undefined;
  const [left, present] = [leftIn(state), counts.present];
  const newer = quantity(present - left, 'newer message is', 'newer messages are');
  const arrived = present > left ? `; ${newer} left, which arrived during the deletion` : '';
  const start =
    left > 0
      ? `${left} of the ${Math.max(left, survey.ids.length)} original messages are left`
      : `the ${survey.ids.length} original messages are gone`;
  return failure(`${start}${arrived}`, 'Look at them; the same command deletes them too.');
}

function whyUnseen({ call }: PurgeState): string {
  const isFailed = call?.end === 'failed' || call?.end === 'broken';
  const left = isFailed || call?.end === 'asked' ? call.before.size : call?.leftBeforeKilled;
  if (left === undefined) return 'they may have been moved out of sight';
  const how = isFailed ? 'the last delete call failed' : 'the last delete call of an earlier run had no response';
  return `${how}; ${left} messages were left before it`;
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

/** @throws Failure incomplete where a younger message than --older-than has come */
export function refuseNewer(survey: TopicSurvey, before = Infinity): void {
  const { last_timestamp } = survey;
  if (last_timestamp === null || last_timestamp * 1000 < before) return;
  throw new Failure(
    'incomplete',
    `topic '${shownName(survey)}' has a message of ${utcText(last_timestamp)}, which is younger than --older-than: nothing more of it is deleted`,
    { hint: 'Look at it; the topic can be deleted by its name.', retryable: false },
  );
}

export type PurgeRow = ReturnType<typeof rowOf>;

/** Of a topic that is gone, with what its last purge deleted. */
export function rowOf(
  survey: Doomed,
  status: PurgeOutcome['status'] | 'missing' | 'would be deleted',
  outcome?: PurgeOutcome,
) {
  const { channel, topic_name, ids, first_timestamp, last_timestamp, spellings, ended } = survey;
  const { counts, arrived = 0, deeper = [], isLeast = false } = outcome ?? {};
  const isEarlier = status === 'missing' && ended !== undefined && !isOpen(survey);
  const earlier = isEarlier && (ended.unseen > 0 ? 'unseen' : 'deleted');
  const times = { first_time: utcText(first_timestamp), last_time: utcText(last_timestamp) };
  const deleted = counts?.deleted ?? earlierCount(survey);
  const place = { stream_id: channel.stream_id, channel: channel.name, topic_name, messages: ids.length, deleted };
  const doubts = { arrived, deeper, at_least: isLeast || (earlier || status) === 'unseen' };
  return { ...place, ...times, spellings, ...doubts, status: earlier || status };
}
