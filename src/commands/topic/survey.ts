import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure } from '../../core/failure.ts';
import type { Channel } from '../../jobs/topic/find-channel.ts';
import { nearTopics } from '../../jobs/topic/list-topics.ts';
import { surveyTopic, type TopicSurvey } from '../../jobs/topic/survey-topic.ts';
import { foldName } from '../../schema/topic.ts';

export interface Allowed {
  readonly missing_ok?: boolean | undefined;
  readonly include_hidden?: boolean | undefined;
  /** Of a topic whose purge was interrupted no message may be left. */
  readonly interrupted: (topic: TopicSurvey) => Promise<boolean>;
}

/**
 * Surveys each topic once: two spellings of one topic are one.
 * @throws Failure not_found where one has no messages, with the nearest names; rejected where messages are hidden
 */
export async function surveyTopics(
  chat: ChatApi,
  channel: Channel,
  names: readonly string[],
  { missing_ok, include_hidden, interrupted }: Allowed,
): Promise<TopicSurvey[]> {
  const surveys: TopicSurvey[] = [];
  for (const topic_name of distinct(names)) surveys.push(await surveyTopic(chat, { channel, topic_name }));
  const hidden = surveys.filter(({ isLimited }) => isLimited);
  if (hidden.length > 0 && !include_hidden) throw hiddenMessages(hidden);
  if (missing_ok) return surveys;
  const missing: TopicSurvey[] = [];
  for (const survey of surveys) {
    const isEmpty = survey.ids.length === 0 && !survey.isLimited;
    if (isEmpty && !(await interrupted(survey))) missing.push(survey);
  }
  if (missing.length > 0) throw await notFound(chat, channel, missing);
  return surveys;
}

function distinct(names: readonly string[]): string[] {
  const folded = names.map(foldName);
  return names.filter((_, index) => folded.indexOf(folded[index] ?? '') === index);
}

function hiddenMessages(hidden: readonly TopicSurvey[]): Failure {
  return new Failure(
    'rejected',
    `the plan of the organization hides older messages of ${listed(hidden)}, which would be deleted unseen: nothing was deleted`,
    { hint: 'Give --include-hidden to delete them too.' },
  );
}

async function notFound(chat: ChatApi, channel: Channel, missing: readonly TopicSurvey[]): Promise<Failure> {
  const near: string[] = [];
  for (const { topic_name } of missing) near.push(...(await nearTopics(chat, channel, topic_name)));
  const names = [...new Set(near)].map((name) => `'${name}'`).join(', ');
  return new Failure('not_found', `no messages in ${listed(missing)}: nothing was deleted`, {
    hint:
      names === ''
        ? `List the topics: chatelaine topic list ${channel.stream_id}.`
        : `Near names: ${names}. --missing-ok accepts a topic without messages.`,
  });
}

function listed(surveys: readonly TopicSurvey[]): string {
  const names = surveys.map(({ topic_name }) => `'${topic_name}'`).join(', ');
  return `${surveys.length === 1 ? 'the topic' : 'the topics'} ${names}`;
}
