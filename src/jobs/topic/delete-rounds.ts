import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import { backoff } from '../../api/http/retry.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';
import { topicPages, type TopicSurvey } from './survey-topic.ts';

/** What a purge needs beside the server. */
export interface Purging {
  sleep(span: Milliseconds): Promise<void>;
  note(text: string): void;
  /** Called before the first round and after each with the number of surveyed messages that are left. */
  left?(count: number): void;
  /** Maximum number of messages that may be deleted; any number without it. */
  readonly maxMessages?: number | undefined;
  readonly keeper: Keeper;
}

/** What is kept of the messages before they are deleted. Each call resolves when it is safe on disk; a failure ends the purge. */
export interface Keeper {
  /** Before the first delete call: keeps the surveyed messages, reads them back and verifies them. Returns the ids that earlier runs have kept, and may have deleted. */
  begin(survey: TopicSurvey): Promise<readonly number[]>;
  /** Whether this version of a message is not kept yet: the message is new, or was edited since. */
  lacks(message: Message): boolean;
  /** Before every delete call: the messages of the topic that it lacks; may be none. */
  add(messages: readonly Message[]): Promise<void>;
}

/** What a purge has done so far; the rounds keep it current, for whoever reports a failure. */
export interface PurgeState {
  /** Messages that this run or an earlier one deletes. */
  readonly known: Set<number>;
  /** Those of this run: the survey, and what came into the topic later. */
  readonly seen: Set<number>;
  /** Messages of the survey that are still in the topic. */
  left: number;
  /** delete_topic calls that were sent. */
  calls: number;
  /** Every message of the survey is gone from the topic; the last check may follow. */
  isDeleted: boolean;
}

/** Rounds in which no message of the survey was deleted, after which the purge gives up (docs/apis.md, Deleting a topic). */
const maxIdleRounds = 2;
/** The same where hidden messages are deleted, whose number nobody sees. */
const maxHiddenRounds = 50;

/**
 * Calls delete_topic until no message of the survey is left in the topic, through `complete: false`, `partially_completed`,
 * timeouts and the errors of old servers.
 * @throws Failure auth, rejected; usage or incomplete above `maxMessages`; incomplete where the server makes no progress
 */
export async function deleteRounds(
  chat: Pick<ChatApi, 'messages' | 'level' | 'deleteTopic'>,
  survey: TopicSurvey,
  purging: Purging,
  state: PurgeState,
): Promise<void> {
  const { sleep, note, keeper, left } = purging;
  left?.(state.left);
  for (let idle = 0, look = await lookAt(chat, survey, purging); ;) {
    learn(state, look);
    refuseMore(survey, purging, state);
    await keeper.add(look.unkept);
    state.calls += 1;
    const ending = await deleteOnce(chat, survey);
    if (ending instanceof Failure) {
      note(`${ending.message}: looking at what is left`);
      await sleep(backoff(idle, 1));
    }
    const before = state.left;
    look = await lookAt(chat, survey, purging);
    state.left = look.left;
    if (isDeleted(survey, state, ending)) break;
    idle = state.left < before ? 0 : idle + 1;
    if (idle >= maxIdle(survey, state, ending)) throw stuck(survey, state, ending);
    note(`topic '${survey.topic_name}': ${state.left} of ${survey.ids.length} messages are left; continuing`);
    // After the note, which takes a line of progress away.
    left?.(state.left);
  }
  left?.(0);
}

/** `part` for a call that only began; a failure after which the rest may be tried again. */
type CallEnding = 'complete' | 'part' | Failure;

function isDeleted({ isLimited }: TopicSurvey, { left }: PurgeState, ending: CallEnding): boolean {
  return left === 0 && (ending === 'complete' || !isLimited);
}

function maxIdle({ isLimited }: TopicSurvey, { left }: PurgeState, ending: CallEnding): number {
  return isLimited && left === 0 && ending === 'part' ? maxHiddenRounds : maxIdleRounds;
}

interface TopicLook {
  /** How many of the surveyed messages are left. */
  readonly left: number;
  readonly ids: readonly number[];
  /** Messages of which the archive lacks the version that was seen. */
  readonly unkept: readonly Message[];
}

function learn({ known, seen }: PurgeState, { ids }: TopicLook): void {
  for (const id of ids) {
    known.add(id);
    seen.add(id);
  }
}

/** Every message that the topic has now: one that was moved in may be older than all that are known (docs/apis.md, Deleting a topic). */
async function lookAt(
  chat: Pick<ChatApi, 'messages' | 'level' | 'deleteTopic'>,
  survey: TopicSurvey,
  { keeper }: Pick<Purging, 'keeper'>,
): Promise<TopicLook> {
  const start = new Set(survey.ids);
  const ids: number[] = [];
  const unkept: Message[] = [];
  let left = 0;
  for await (const { messages } of topicPages(chat, survey, { anchor: 'oldest' })) {
    left += messages.filter(({ id }) => start.has(id)).length;
    ids.push(...messages.map(({ id }) => id));
    unkept.push(...messages.filter((message) => keeper.lacks(message)));
  }
  return { left, ids, unkept };
}

function refuseMore({ topic_name }: TopicSurvey, { maxMessages = Infinity }: Purging, state: PurgeState): void {
  const { seen, calls, left } = state;
  if (seen.size <= maxMessages) return;
  const more = `${seen.size} messages of '${topic_name}' would be deleted, more than the ${maxMessages} that --max-messages allows`;
  if (calls === 0) throw usage(`${more}: nothing was deleted`);
  throw new Failure('incomplete', `${more}; ${left} of the messages of the start are left`, { retryable: false });
}

async function deleteOnce(
  chat: Pick<ChatApi, 'messages' | 'level' | 'deleteTopic'>,
  { channel, topic_name }: TopicSurvey,
): Promise<CallEnding> {
  try {
    const { complete } = await chat.deleteTopic(channel.stream_id, topic_name);
    return complete ? 'complete' : 'part';
  } catch (cause) {
    if (cause instanceof Failure && (await isRepeatable(chat, cause))) return cause;
    throw cause;
  }
}

/** Below level 154 any error but a refusal of the account may be a timeout that kept what it had deleted. */
async function isRepeatable(
  chat: Pick<ChatApi, 'messages' | 'level' | 'deleteTopic'>,
  { kind, details }: Failure,
): Promise<boolean> {
  const { server, http } = details;
  if (kind === 'unavailable' || server?.code === 'REQUEST_TIMEOUT') return true;
  if (http?.status === undefined || http.status < 400 || http.status === 401) return false;
  if (server?.code === 'UNAUTHORIZED_PRINCIPAL') return false;
  const level = await chat.level();
  return level !== undefined && level < topicLevels.partial;
}

function stuck({ topic_name, ids }: TopicSurvey, { left }: PurgeState, ending: CallEnding): Failure {
  const what = `the server makes no progress; ${left} of ${ids.length} messages are left in '${topic_name}'`;
  const hint = 'Run the same command again later: it continues.';
  return ending instanceof Failure
    ? ending.as('incomplete', `${what}: ${ending.message}`, { hint })
    : new Failure('incomplete', what, { hint });
}
