import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { backoff } from '../../api/http/retry.ts';
import { Failure } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';

export interface Topic {
  readonly stream_id: number;
  readonly topic_name: string;
}

/** What stands under a topic's name now. */
export interface TopicContent extends Topic {
  readonly messages: number;
  /** UTC seconds of the oldest and of the newest message; null where there is none. */
  readonly first_timestamp: number | null;
  readonly last_timestamp: number | null;
  /** The spellings that the server matches without regard to case. */
  readonly spellings: readonly string[];
}

/** Counts the messages of a topic (contract, section 1.2, step 1). */
export async function surveyTopic(chat: ChatApi, topic: Topic): Promise<TopicContent> {
  let messages = 0;
  let first: number | null = null;
  let last: number | null = null;
  const spellings = new Set<string>();
  for await (const page of forward(chat, queryOf(topic), { anchor: 'oldest' })) {
    messages += page.messages.length;
    first ??= timeOf(page.messages[0]);
    last = timeOf(page.messages.at(-1)) ?? last;
    for (const message of page.messages) spellings.add(String(message['subject']));
  }
  return { ...topic, messages, first_timestamp: first, last_timestamp: last, spellings: [...spellings] };
}

function queryOf({ stream_id, topic_name }: Topic): Parameters<ChatApi['messages']>[0] {
  const narrow = [
    { operator: 'channel', operand: stream_id },
    { operator: 'topic', operand: topic_name },
  ];
  return { narrow, apply_markdown: false, ...(topic_name === '' ? { allow_empty_topic_name: true } : {}) };
}

function timeOf(message: Message | undefined): number | null {
  const time = message?.['timestamp'];
  return typeof time === 'number' ? time : null;
}

export interface Purging {
  readonly sleep: (span: number) => Promise<void>;
  readonly note: (text: string) => void;
}

/** Rounds in which the newest message left may stay the same before the purge gives up (contract, section 1.2, step 4). */
const mostIdleRounds = 2;

/**
 * Deletes a topic, repeating through `complete: false`, `partially_completed`, time-outs and the errors of old servers, until a
 * last look shows it empty.
 * @throws Failure auth, rejected; incomplete with what is left
 */
export async function purgeTopic(chat: ChatApi, topic: Topic, purging: Purging): Promise<void> {
  const newest = (await newestOf(chat, topic))?.id;
  if (newest === undefined) return;
  try {
    await deleteDown(chat, topic, newest, purging);
  } catch (cause) {
    throw cause instanceof Failure && cause.kind === 'unavailable' ? cutOff(topic, cause) : cause;
  }
}

/** The deadline, or a server that is away for good, once messages may have been deleted. */
function cutOff({ topic_name }: Topic, cause: Failure): Failure {
  return new Failure('incomplete', `the topic '${topic_name}' may be deleted in part: ${cause.message}`, {
    ...cause.details,
    hint: 'Run the same command again: it goes on.',
    retryable: true,
    cause,
  });
}

async function deleteDown(chat: ChatApi, topic: Topic, from: number, { sleep, note }: Purging): Promise<void> {
  let newest = from;
  for (let idle = 0, troubles = 0; ;) {
    const trouble = await deleteOnce(chat, topic);
    if (trouble === 'complete') return checkEmpty(chat, topic);
    if (trouble) {
      note(`${trouble.message}: looking what is left`);
      await sleep(backoff(troubles++, 1));
    }
    const left = (await newestOf(chat, topic))?.id;
    if (left === undefined) return;
    idle = left < newest ? 0 : idle + 1;
    newest = left;
    if (idle === mostIdleRounds) throw await stuck(chat, topic, trouble);
    note(`topic '${topic.topic_name}': messages up to id ${left} are left: going on`);
  }
}

async function newestOf(chat: ChatApi, topic: Topic): Promise<Message | undefined> {
  const { messages } = await chat.messages({ ...queryOf(topic), anchor: 'newest', num_before: 1, num_after: 0 });
  return messages.at(-1);
}

/** `complete`, nothing for a round that only began, or the trouble after which the rest may be tried again. */
async function deleteOnce(chat: ChatApi, { stream_id, topic_name }: Topic): Promise<'complete' | Failure | undefined> {
  try {
    const { complete } = await chat.deleteTopic(stream_id, topic_name);
    return complete ? 'complete' : undefined;
  } catch (cause) {
    if (cause instanceof Failure && (await mayGoOn(chat, cause))) return cause;
    throw cause;
  }
}

/** Below level 154 any error but a refusal may be a time-out that kept what it had deleted (facts page, section 6). */
async function mayGoOn(chat: ChatApi, { kind, details }: Failure): Promise<boolean> {
  if (kind === 'unavailable' || details.server?.code === 'REQUEST_TIMEOUT') return true;
  if (kind !== 'rejected' && kind !== 'not_found') return false;
  const level = await chat.level();
  return level !== undefined && level < topicLevels.partial;
}

async function stuck(chat: ChatApi, topic: Topic, trouble: Failure | undefined): Promise<Failure> {
  const { messages } = await surveyTopic(chat, topic);
  const why = trouble ? `: ${trouble.message}` : '';
  return new Failure(
    'incomplete',
    `the server makes no progress; ${messages} messages are left in '${topic.topic_name}'${why}`,
    {
      ...trouble?.details,
      hint: 'Run the same command again later: it goes on.',
      cause: trouble,
    },
  );
}

async function checkEmpty(chat: ChatApi, topic: Topic): Promise<void> {
  if ((await newestOf(chat, topic)) === undefined) return;
  const { messages } = await surveyTopic(chat, topic);
  throw new Failure(
    'incomplete',
    `the server says that all is deleted, and ${messages} messages stand in '${topic.topic_name}': they may be new`,
    {
      hint: 'Look at them; the same command deletes them too.',
    },
  );
}
