import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { deleteRounds, type PurgeState, type Purging } from './delete-rounds.ts';
import { lookElsewhere, refuseSurvivors } from './look-elsewhere.ts';
import { newestOfTopic, topicPages, type Topic, type TopicSurvey } from './survey-topic.ts';

/** How many messages a purge deleted. */
export interface Purged {
  /** Those of earlier, interrupted runs included. */
  readonly deleted: number;
  /** By this run. */
  readonly now: number;
}

/**
 * Deletes a surveyed topic: keeps its messages, deletes in rounds, and looks at the end whether it is empty and none of its
 * messages exists under another name.
 * @throws Failure auth with what is deleted; rejected, usage; incomplete with what is left or where it is
 */
export async function purgeTopic(
  chat: Pick<ChatApi, 'messages' | 'level' | 'deleteTopic'>,
  survey: TopicSurvey,
  purging: Purging,
): Promise<Purged> {
  const { ids } = survey;
  const state: PurgeState = {
    known: new Set(ids),
    seen: new Set(ids),
    left: ids.length,
    calls: 0,
    isDeleted: false,
  };
  try {
    // An interrupted purge has deleted some of what its archive holds: they are looked for at the end too.
    for (const id of await purging.keeper.begin(survey)) state.known.add(id);
    await deleteRounds(chat, survey, purging, state);
    state.isDeleted = true;
    await finalLook(chat, survey, state);
  } catch (cause) {
    throw inPart(cause, survey, state);
  }
  return { deleted: state.known.size, now: state.seen.size };
}

/**
 * Ends a purge whose topic is empty already, because the last run was interrupted after the last deletion.
 * @throws Failure incomplete where its messages exist under another name
 */
export async function endPurge(
  chat: Pick<ChatApi, 'messages' | 'level'>,
  { channel, topic_name }: Topic,
  ids: readonly number[],
): Promise<number> {
  refuseSurvivors(topic_name, ids.length, await lookElsewhere(chat, channel, ids));
  return ids.length;
}

/** A failure of a purge of which messages are deleted, or may be, says so. */
function inPart(cause: unknown, survey: TopicSurvey, state: PurgeState): unknown {
  if (!(cause instanceof Failure)) return cause;
  const { topic_name, ids } = survey;
  const gone = ids.length - state.left;
  const rest = state.left > 0 ? `${state.left} are left` : 'the last check was not made';
  const deleted = `${gone} of the ${ids.length} messages of '${topic_name}' are deleted, ${rest}: ${cause.message}`;
  switch (cause.kind) {
    case 'unavailable':
      return state.calls > 0 ? cutShort(survey, state, cause) : cause;
    case 'auth':
      return gone > 0 ? cause.as('auth', deleted) : cause;
    case 'rejected':
    case 'not_found':
      // A refused check is no refused deletion.
      return gone > 0 || state.isDeleted
        ? cause.as('incomplete', deleted, { hint: continues, retryable: false })
        : cause;
    default:
      return cause;
  }
}

const continues = 'Run the same command again: it continues.';

/** The deadline, or a server that went away, after messages may have been deleted. */
function cutShort({ topic_name, ids }: TopicSurvey, { left }: PurgeState, cause: Failure): Failure {
  const rest = left > 0 ? `at most ${left} of ${ids.length} messages are left` : 'the last check was not made';
  return cause.as('incomplete', `the topic '${topic_name}' may be deleted in part, ${rest}: ${cause.message}`, {
    hint: continues,
    retryable: true,
  });
}

async function finalLook(
  chat: Pick<ChatApi, 'messages' | 'level' | 'deleteTopic'>,
  survey: TopicSurvey,
  { known }: PurgeState,
): Promise<void> {
  const ids = [...known].sort((one, other) => one - other);
  const survivors = await lookElsewhere(chat, survey.channel, ids);
  refuseSurvivors(survey.topic_name, ids.length, survivors);
  if ((await newestOfTopic(chat, survey)) === undefined) return;
  let left = 0;
  for await (const { messages } of topicPages(chat, survey, { anchor: 'oldest' })) left += messages.length;
  throw new Failure(
    'incomplete',
    `topic '${survey.topic_name}': the ${survey.ids.length} messages of the start are deleted; ` +
      `${left} newer ${left === 1 ? 'message is' : 'messages are'} left, which arrived during the deletion`,
    { hint: 'Look at them; the same command deletes them too.' },
  );
}
