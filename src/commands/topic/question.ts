import { Failure, usage } from '../../core/failure.ts';
import type { Channel } from '../../jobs/topic/find-channel.ts';
import type { TopicSurvey } from '../../jobs/topic/survey-topic.ts';
import type { Terminal } from '../context/terminal.ts';
import { timeText } from './fields.ts';

export interface ChatPlace {
  readonly site: string;
  readonly email: string;
  readonly organization: string | undefined;
}

/** What would be deleted and where, in lines for a person. */
export function describeTopics(
  place: ChatPlace,
  { stream_id, name }: Channel,
  surveys: readonly TopicSurvey[],
): string[] {
  const { site, email, organization } = place;
  const { host: full, hostname } = new URL(site);
  // The port of a sandbox is another one in each run.
  const host = hostname === '127.0.0.1' ? hostname : full;
  const channel = name === undefined ? `channel ${stream_id}` : `channel '${name}' (id ${stream_id})`;
  return [`${organization === undefined ? host : `${organization} (${host})`}, as ${email}, ${channel}:`].concat(
    surveys.map(describeTopic),
  );
}

function describeTopic({
  topic_name,
  ids,
  first_timestamp,
  last_timestamp,
  spellings,
  isLimited,
}: TopicSurvey): string {
  const day = (seconds: number | null): string => timeText(seconds)?.slice(0, 10) ?? '?';
  const dates = ids.length === 0 ? '' : ` from ${day(first_timestamp)} to ${day(last_timestamp)}`;
  const others = spellings.some((name) => name !== topic_name)
    ? `; spelled ${spellings.map((name) => `'${name}'`).join(', ')}`
    : '';
  const hidden = isLimited ? '; and older ones that the plan hides' : '';
  return `topic '${topic_name}': ${ids.length} ${ids.length === 1 ? 'message' : 'messages'}${dates}${others}${hidden}`;
}

/**
 * The typed name is the only yes: --yes does not count here.
 * @throws Failure usage, cancelled
 */
export async function confirmTopics(
  surveys: readonly TopicSurvey[],
  by: 'name' | 'number',
  typed: string | undefined,
  { interactive, ask }: Pick<Terminal, 'interactive' | 'ask'>,
): Promise<void> {
  const expected = by === 'name' ? (surveys[0]?.topic_name ?? '') : String(surveys.length);
  const what = by === 'name' ? "the topic's name" : 'the number of topics';
  if (typed === undefined && !interactive()) throw usage(`deleting needs --confirm with ${what}: nothing was deleted`);
  const answer = typed ?? (await ask(`Type ${what} to delete ${by === 'name' ? 'it' : 'them'} permanently:`));
  if (answer === expected) return;
  if (typed !== undefined) throw usage(`--confirm '${typed}' is not ${what}: nothing was deleted`);
  throw new Failure('cancelled', `cancelled: '${answer}' is not ${what}; nothing was deleted`);
}
