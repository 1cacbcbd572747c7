// What is asked before a purge: whether the account may delete, and whether the person means it.
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, usage } from '../../core/failure.ts';
import type { TopicSurvey } from '../../jobs/topic/survey-topics.ts';
import { topicLevels } from '../../schema/topic.ts';
import type { ChatCredential } from '../../store/account/credentials.ts';
import type { Terminal } from '../context.ts';
import type { NamedTopics } from './named-topics.ts';

/** The typed name is the only yes: --yes does not count here. @throws Failure usage, cancelled */
export async function confirmTopics(
  surveys: readonly TopicSurvey[],
  by: 'name' | 'number',
  typed: string | undefined,
  { interactive, terminal }: Terminal,
): Promise<void> {
  const expected = by === 'name' ? (surveys[0]?.topic_name ?? '') : String(surveys.length);
  const what = by === 'name' ? "the topic's name" : 'the number of topics';
  if (typed === undefined && !interactive()) throw usage(`give ${what} with --confirm: nothing was deleted`);
  const answer = typed ?? (await terminal.ask(`Type ${what} to delete ${by === 'name' ? 'it' : 'them'} permanently:`));
  if (answer === expected) return;
  if (typed !== undefined) throw usage(`--confirm '${typed}' is not ${what}: nothing was deleted`);
  throw new Failure('cancelled', `cancelled: '${answer}' is not ${what}; nothing was deleted`);
}

/** The role, where known, refuses before anything is archived. @throws Failure auth; rejected for the empty topic */
export async function checkAllowed(chat: ChatApi, { topic }: NamedTopics, { email }: ChatCredential): Promise<void> {
  const level = topic?.includes('') ? await chat.level() : undefined;
  if (level !== undefined && level < topicLevels.emptyTopic)
    throw new Failure('rejected', `the empty topic needs level ${topicLevels.emptyTopic}; this server has ${level}`);
  if ((await chat.ownUser())?.['is_admin'] !== false) return;
  const what = `${email} is not an administrator of the organization; only administrators may delete topics`;
  throw new Failure('auth', `${what}: nothing was archived or deleted`, {
    hint: 'Choose the profile of an administrator with --profile.',
  });
}
