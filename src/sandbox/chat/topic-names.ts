import { emptyTopicName } from '../../schema/topic.ts';
import type { TopicPolicy } from '../records.ts';
import { levels } from './levels.ts';

/** The server compares whole names by the database's folding of case (docs/apis.md, Topics). */
export function sameTopic(one: string, other: string): boolean {
  return one === other || foldCase(one) === foldCase(other);
}

/** Upper case joins what the database joins (ſ and s, ς and σ, µ and μ); ß stays apart from ss. */
function foldCase(name: string): string {
  return name.replace(/[^ßẞ]+/g, (part) => part.toUpperCase());
}

/** The topic that a name means: the server's name of the empty topic is the empty topic. Nothing is trimmed. */
export function storedTopic(level: number, name: string): string {
  return level >= levels.emptyTopic && name === emptyTopicName ? '' : name;
}

/** The name that a client sees: the empty topic has a placeholder, unless the client allows empty names. */
export function shownTopic(
  level: number,
  subject: string,
  { allow_empty_topic_name = false }: { readonly allow_empty_topic_name?: boolean | undefined },
): string {
  if (subject !== '' || allow_empty_topic_name) return subject;
  return level >= levels.emptyTopic ? emptyTopicName : '(no topic)';
}

/** The key of a row of `topicPolicies`. */
export function policyKey({ user_id, stream_id, topic }: Omit<TopicPolicy, 'policy'>): string {
  return `${user_id}/${stream_id}/${foldCase(topic)}`;
}
