import type { ChatApi } from '../../api/chat/chat.ts';
import type { RawMessage } from '../../api/chat/chat-messages.ts';
import { backoff } from '../../api/http/retry.ts';
import { quantity, type Milliseconds } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';
import type { OpenArchive } from '../../store/archive/archive.ts';
import type { CallEnd, LookStep } from '../../store/archive/line-file.ts';
import type { PurgeEvent } from '../../store/record/history.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import type { Keeper } from './keep-topic.ts';
import {
  afterStep,
  countsOf,
  deletable,
  leftIn,
  lookStep,
  placeOf,
  presentIn,
  wentDeeper,
  withStandings,
  type Standings,
} from './standings.ts';
import { newerPages, newestPage, newestPages, shownName, type TopicSurvey } from './survey-topic.ts';

/** What a purge uses of its run. */
export interface PurgeParts extends WorkMessages {
  /** Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  interactive(): boolean;
  /** The line that continues the purge. */
  again(): string;
  now(): Milliseconds;
  sleep(span: Milliseconds): Promise<void>;
  archive(folder: string): Promise<OpenArchive>;
  record(event: PurgeEvent): Promise<void>;
}

export interface PurgeWork extends Pick<PurgeParts, 'sleep' | 'now' | 'note' | 'again' | 'signal'> {
  readonly chat: Pick<ChatApi, 'messages' | 'raw' | 'level' | 'channels' | 'topics' | 'deleteTopic'>;
  readonly survey: TopicSurvey;
  readonly state: PurgeState;
  /** Called before the first round and after each with the number of surveyed messages that are left. */
  left(count: number): void;
  readonly maxMessages: number;
  /** Called with the messages that the topic shows. @throws Failure where one of them is held */
  refuseHeld(ids: readonly number[]): void;
}

/** How far a purge is; the rounds keep it current, for whoever reports a failure. */
interface PurgeState {
  standings: Standings;
  /** What is known of this run's last call, if there was one: without an answer the server may go on with it. */
  last?: 'open' | 'answered' | 'seen';
  /** Undefined with --no-archive, and before it is open. */
  keeper?: Keeper;
}

/** Rounds in which no message of the survey went, after which the purge gives up (docs/apis.md, Deleting a topic). */
const maxVisibleRounds = 2;
/** The same where hidden messages are deleted, whose number nobody sees. */
const maxHiddenRounds = 50;

/**
 * Calls delete_topic until no message of the survey is left, through `complete: false`, `partially_completed`, timeouts
 * and errors of old servers; not where the look before shows nothing, unless the plan hides messages.
 * @throws Failure auth, rejected; usage or incomplete above `maxMessages`; incomplete where there is no progress
 */
export async function deleteRounds(purge: PurgeWork): Promise<void> {
  const { chat, survey, state, left, note, sleep, signal } = purge;
  const { keeper } = state;
  const level = await chat.level();
  const isAtomic = level !== undefined && level < topicLevels.batches;
  let looked = await lookAt(purge, 'whole');
  for (let roundsWithoutProgress = 0; presentIn(state.standings).length > 0 || survey.isLimited;) {
    left(leftIn(state.standings));
    const came = await keepSeen(purge, looked);
    state.standings = withStandings(state.standings, [came, 'present']);
    refuseMore(purge);
    purge.refuseHeld(presentIn(state.standings));
    await keeper?.record({ ...looked.step, there: [...looked.step.there, ...came] });
    const ending = await deleteOnce(purge);
    const end = ending instanceof Failure ? (isCrossing(ending) ? 'crossed' : 'failed') : ending;
    await recordCall(purge, end);
    if (signal.aborted) await lookOnce(purge);
    if (ending instanceof Failure) {
      if (!(await isRepeatable(chat, ending))) throw ending;
      // The server is left alone for a moment.
      note(`${ending.message}; checking what is left`);
      await sleep(backoff(roundsWithoutProgress, 1));
    }
    looked = await lookAt(purge, isAtomic ? 'whole' : 'newest');
    if (leftIn(state.standings) === 0 && end === 'whole') break;
    const hasProgress = looked.step.taken.some((id) => state.standings.start.has(id));
    roundsWithoutProgress = hasProgress ? 0 : roundsWithoutProgress + 1;
    if (roundsWithoutProgress >= maxRounds(purge, end)) throw stuck(purge, ending);
  }
  // No call follows this look.
  await keeper?.record({ ...looked.step, there: [] });
}

async function recordCall({ state }: PurgeWork, call: CallEnd): Promise<void> {
  state.standings = afterStep(state.standings, { call });
  await state.keeper?.record({ call });
}

function maxRounds({ survey: { isLimited }, state: { standings } }: PurgeWork, end: CallEnd): number {
  if (leftIn(standings) > 0) return maxVisibleRounds;
  if (presentIn(standings).length === 0 && !isLimited) return Infinity;
  return isLimited && end === 'part' ? maxHiddenRounds : maxVisibleRounds;
}

interface Looked {
  readonly step: LookStep;
  /** Of the newest message; 0 where there is none. */
  readonly newest: number;
  readonly pages: number;
  /** Messages of which the archive lacks the version that was seen, ascending. */
  readonly unkept: readonly RawMessage[];
}

/** The newest messages that a look before a call reads at least (docs/apis.md, Looks). */
const leastNewest = 5000;

/**
 * Reads the topic from its newest message downward into the standings. `newest` reads it whole all the same where
 * nothing went, or half of the last whole look, and where the last call went deeper than the look before it.
 */
export async function lookAt(
  { chat, survey, state, now }: PurgeWork,
  extent: 'whole' | 'newest' | 'one page',
): Promise<Looked> {
  const pages: (readonly number[])[] = [];
  const unkept: RawMessage[] = [];
  const time = new Date(now()).toISOString();
  let from: number | null = null;
  const read = extent === 'one page' ? newestPage : newestPages;
  for await (const { messages, found_oldest } of read(chat, survey)) {
    pages.unshift(messages.map(({ id }) => id));
    unkept.unshift(...messages.filter((message) => state.keeper?.lacks(message)));
    const isLast = extent === 'one page' || (extent === 'newest' && isEnough(state.standings, pages.flat()));
    if (found_oldest || !isLast) continue;
    from = messages[0]?.id ?? Infinity;
    break;
  }
  const ids = pages.flat();
  const step = lookStep(state.standings, time, from, ids);
  state.standings = afterStep(state.standings, step);
  if (state.last === 'answered') state.last = 'seen';
  return { step, newest: ids.at(-1) ?? 0, pages: pages.length, unkept };
}

/** After Ctrl-C: how many went, as one request shows. Its failure does not hide the interruption. */
async function lookOnce(purge: PurgeWork): Promise<void> {
  const looked = await lookAt(purge, 'one page').catch(() => undefined);
  if (looked) await purge.state.keeper?.record({ ...looked.step, there: [] });
}

/** Whether these, the newest messages of a topic, are enough before the next call. */
function isEnough(standings: Standings, ids: readonly number[]): boolean {
  const present = presentIn(standings);
  const total = placeOf(present, ids[0] ?? Infinity) + ids.length;
  const gone = present.length - total;
  const mostGone = Math.max(gone, ...standings.looks.map(({ went }) => went));
  const { size: whole = 0 } = standings.looks.findLast(({ from }) => from === -Infinity) ?? {};
  if (gone <= 0 || ids.length < Math.max(leastNewest, 3 * mostGone) || 2 * total <= whole) return false;
  return !wentDeeper(standings, ids);
}

/** Times that what has come during the archiving is looked for. */
const maxCatchUps = 3;

/** Keeps what a look showed, and newer messages, for which the last request before the call is. Returns their ids. */
async function keepSeen(
  { chat, survey, state: { keeper } }: PurgeWork,
  { newest, pages, unkept }: Looked,
): Promise<readonly number[]> {
  await keeper?.add(unkept);
  const came: number[] = [];
  if (newest === 0 || (pages === 1 && unkept.length === 0)) return came;
  for (let round = 0; round < maxCatchUps; round += 1) {
    const fresh: RawMessage[] = [];
    for await (const { messages } of newerPages(chat, survey, came.at(-1) ?? newest)) fresh.push(...messages);
    if (fresh.length === 0) break;
    await keeper?.add(fresh.filter((message) => keeper.lacks(message)));
    came.push(...fresh.map(({ id }) => id));
  }
  return came;
}

function refuseMore({ survey, state, maxMessages }: PurgeWork): void {
  const tally = countsOf(state.standings);
  const [count, gone] = [deletable(tally), tally.gone + tally.deleted];
  if (count <= maxMessages) return;
  const earlier = gone > 0 ? `, ${gone} of them before` : '';
  const more = `${quantity(count, 'message')} of '${shownName(survey)}' would be deleted${earlier}, more than the ${maxMessages} that --max-messages allows`;
  if (!state.last) throw usage(`${more}: nothing ${gone > 0 ? 'more ' : ''}was deleted`);
  throw new Failure('incomplete', `${more}; ${leftIn(state.standings)} of the messages of the start are left`, {
    retryable: false,
  });
}

/** How a call ended; Ctrl-C waits for its answer. @throws Failure of a signal or the deadline */
async function deleteOnce(purge: PurgeWork): Promise<'whole' | 'part' | Failure> {
  const { chat, survey, state, signal, note } = purge;
  // A call that a read-only profile or an unverified server refuses, or before which the disk fails, is not sent.
  const call = { isSent: false };
  const before = async (): Promise<void> => {
    await state.keeper?.confirm();
    await recordCall(purge, 'asked');
    state.last = 'open';
    call.isSent = true;
  };
  const say = (): void => note('waiting for the answer of the delete call under way; Ctrl-C again leaves at once');
  signal.addEventListener('abort', say);
  try {
    const { complete } = await chat.deleteTopic(survey.channel.stream_id, survey.topic_name, before);
    state.last = 'answered';
    return complete ? 'whole' : 'part';
  } catch (cause) {
    if (!call.isSent || !(cause instanceof Failure) || cause.isInterruption) throw cause;
    if (cause.details.http?.status !== undefined) state.last = 'seen';
    return cause;
  } finally {
    signal.removeEventListener('abort', say);
  }
}

/** Whether the server broke in the call, as where somebody else writes to the messages; a timeout is no such sign. */
function isCrossing({ details: { http, server } }: Failure): boolean {
  return http?.status === 500 && server?.code !== 'REQUEST_TIMEOUT';
}

/** Below level 154 any error but a refusal of the account may be a timeout that kept what it had deleted. */
async function isRepeatable(chat: Pick<ChatApi, 'level'>, { kind, details }: Failure): Promise<boolean> {
  const { server, http } = details;
  if (kind === 'unavailable' || server?.code === 'REQUEST_TIMEOUT') return true;
  if (http?.status === undefined || http.status < 400 || http.status === 401) return false;
  if (server?.code === 'UNAUTHORIZED_PRINCIPAL') return false;
  const level = await chat.level();
  return level !== undefined && level < topicLevels.partial;
}

function stuck({ survey, state: { standings } }: PurgeWork, ending: CallEnd | Failure): Failure {
  const left = leftIn(standings);
  const what = `the server makes no progress; ${left} of ${Math.max(left, survey.ids.length)} messages are left in '${shownName(survey)}'`;
  const details = { hint: 'Run the same command again later: it continues.' };
  if (!(ending instanceof Failure)) return new Failure('incomplete', what, details);
  return ending.as('incomplete', `${what}: ${ending.message}`, details);
}
