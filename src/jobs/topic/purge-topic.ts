import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import { deleteRounds, type PurgeState, type Purging } from './delete-rounds.ts';
import { lookElsewhere, refuseSurvivors } from './look-elsewhere.ts';
import { newestOfTopic, topicPages, type Topic, type TopicSurvey } from './survey-topic.ts';

/**
 * Deletes a surveyed topic: keeps its messages, deletes in rounds, and looks at the end whether it is empty and none of its
 * messages exists under another name. Returns the number of messages that were deleted.
 * @throws Failure auth, rejected, usage; incomplete with what is left or where it is
 */
export async function purgeTopic(
  chat: Pick<ChatApi, 'messages' | 'level' | 'deleteTopic'>,
  survey: TopicSurvey,
  purging: Purging,
): Promise<number> {
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
    throw cause instanceof Failure && isCutShort(cause, state) ? cutShort(survey, state, cause) : cause;
  }
  return state.known.size;
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

/** A refused check is not a refused deletion. */
function isCutShort({ kind }: Failure, { calls, isDeleted }: PurgeState): boolean {
  return (kind === 'unavailable' && calls > 0) || (kind === 'rejected' && isDeleted);
}

/** The deadline, or a server that went away, after messages may have been deleted. */
function cutShort({ topic_name, ids }: TopicSurvey, { left }: PurgeState, cause: Failure): Failure {
  const rest = left > 0 ? `at most ${left} of ${ids.length} messages are left` : 'the last check was not made';
  return cause.as('incomplete', `the topic '${topic_name}' may be deleted in part, ${rest}: ${cause.message}`, {
    hint: 'Run the same command again: it continues.',
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
