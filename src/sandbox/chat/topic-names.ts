/** The server compares whole names without regard to case (facts page, section 6). */
export function sameTopic(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

interface TopicOfUser {
  readonly user_id: number;
  readonly stream_id: number;
  readonly topic: string;
}

/** The key of a row of `topicPolicies`. */
export function policyKey({ user_id, stream_id, topic }: TopicOfUser): string {
  return `${user_id}/${stream_id}/${topic.toLowerCase()}`;
}
