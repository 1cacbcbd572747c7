import { usage } from '../../core/failure.ts';
import { isUrl, readLink } from '../../schema/link.ts';
import type { Accounts } from '../context.ts';

export const channelArgument = {
  kind: 'string',
  required: true,
  nonempty: true,
  placeholder: 'CHANNEL',
  suggest: 'channels',
  help: 'The channel: id, name, #name or a pasted link; id:7 or name:2024 if both fit',
} as const;

export interface NamedPlace {
  readonly channel: string;
  /** The topic of a link. */
  readonly topic?: string | undefined;
}

/**
 * A channel as typed, or the link of one, or of a topic. The account is read only where a URL has to be of its site.
 * @throws Failure usage for a link to something else, and for a URL of another host
 */
export async function readPlace(text: string, { chatAccount }: Accounts): Promise<NamedPlace> {
  const link = readLink(text, isUrl(text) ? (await chatAccount()).site : undefined);
  if (!link) return { channel: text };
  const named = (wanted: string) =>
    link.terms.find(({ operator, negated }) => operator === wanted && !negated)?.operand;
  const [channel, topic] = [named('channel'), named('topic')];
  if (channel === undefined) throw usage('the link leads to no channel', 'Copy it while a channel or topic is shown.');
  return {
    channel: `${typeof channel === 'number' ? 'id' : 'name'}:${String(channel)}`,
    topic: topic === undefined ? undefined : String(topic),
  };
}
