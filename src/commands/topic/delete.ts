import type { ChatApi } from '../../api/chat/chat.ts';
import { Planned } from '../../api/http/call.ts';
import { Failure, usage } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { purgeTopic, surveyTopic, type TopicContent } from '../../jobs/topic/purge-topic.ts';
import { topicLevels } from '../../schema/topic.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';

export default command({
  name: 'topic delete',
  summary: 'Delete topics with all their messages',
  about: [
    'Shows what would be deleted, asks for the name, and deletes until nothing is left: the server deletes in batches and may stop ' +
      'in between. The server matches the topic without regard to case; every spelling that it will delete is shown first. ' +
      'Only an administrator of the organization may do this, and it cannot be undone.',
    'Without a terminal --confirm must give the name of the topic, or their number where there are several; --yes never answers this question.',
  ],
  args: {
    channel: {
      kind: 'string',
      required: true,
      nonempty: true,
      placeholder: 'CHANNEL',
      help: 'Id or name of the channel',
    },
    topic: {
      kind: 'string',
      required: true,
      many: true,
      placeholder: 'TOPIC',
      help: "Name of the topic; '' is the empty topic (level 334)",
    },
  },
  options: {
    confirm: {
      kind: 'string',
      placeholder: 'NAME',
      help: 'The name of the topic, or the number of several topics, in place of the question',
    },
    max_messages: {
      kind: 'integer',
      min: 0,
      placeholder: 'N',
      help: 'Delete nothing where more messages than this would go',
    },
    archive: {
      kind: 'boolean',
      negatable: true,
      help: 'Reserved for the archive before deletion, which this version does not make',
    },
  },
  examples: [
    "chatelaine topic delete general 'calibration log' --dry-run",
    "chatelaine topic delete general 'calibration log' --confirm 'calibration log' --no-archive",
  ],

  async *run({ channel, topic: names, confirm, max_messages, archive }, context) {
    const chat = context.chat();
    if (names.includes('')) await checkEmptyTopic(chat);
    const stream_id = await channelId(chat, channel);
    const contents = await survey(chat, stream_id, [...new Set(names)]);
    for (const content of contents) context.note(told(content));
    checkMost(contents, max_messages);
    if (context.options.dry_run !== true) {
      if (archive !== false)
        context.warn('this version keeps no archive: what is deleted is gone (--no-archive takes note of it)');
      await confirmed(contents, confirm, context);
    }
    const purging = { sleep: (span: number) => context.sleep(span), note: (text: string) => context.note(text) };
    yield* each(
      contents,
      ({ topic_name }) => topic_name,
      async (content) => {
        if (context.options.dry_run) return planned(chat, content);
        await purgeTopic(chat, content, purging);
        return { ...content, status: 'deleted' as const };
      },
    );
  },

  show: {
    toTheEnd: true,
    known: ['spellings'],
    columns: ['stream_id', 'topic_name', 'messages', 'first_timestamp', 'last_timestamp', 'status'],
    line: ({ topic_name, messages, status }) => `Topic '${topic_name}': ${messages} messages ${status}`,
  },
});

/** A dry run asks for the request that would be sent first. */
async function planned(chat: ChatApi, { stream_id, topic_name }: TopicContent): Promise<never> {
  await chat.deleteTopic(stream_id, topic_name);
  throw new Planned();
}

async function checkEmptyTopic(chat: ChatApi): Promise<void> {
  const level = await chat.level();
  if (level === undefined || level >= topicLevels.emptyTopic) return;
  throw new Failure('rejected', `the empty topic needs level ${topicLevels.emptyTopic}; this server has ${level}`);
}

/** A channel's id: digits as they are, else read from one of its messages. @throws Failure not_found */
async function channelId(chat: ChatApi, channel: string): Promise<number> {
  if (/^(0|[1-9]\d{0,14})$/.test(channel)) return Number(channel);
  const narrow = [{ operator: 'channel', operand: channel }];
  const { messages } = await knownChannel(
    channel,
    chat.messages({ narrow, anchor: 'newest', num_before: 1, num_after: 0 }),
  );
  const id = messages[0]?.['stream_id'];
  if (typeof id === 'number') return id;
  throw new Failure('not_found', `no message of the channel '${channel}' tells its id`, {
    hint: 'Give the id of the channel.',
  });
}

/** The server's word for a channel that is not there, or that the account may not see, is a narrow that it cannot read. */
async function knownChannel<T>(channel: string, look: Promise<T>): Promise<T> {
  try {
    return await look;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.details.server?.code !== 'BAD_NARROW') throw cause;
    throw new Failure('not_found', `no channel '${channel}': ${cause.message}`, {
      ...cause.details,
      hint: 'Give the name or the id of a channel that the account can see.',
      cause,
    });
  }
}

async function survey(chat: ChatApi, stream_id: number, names: readonly string[]): Promise<TopicContent[]> {
  const contents: TopicContent[] = [];
  for (const topic_name of names)
    contents.push(await knownChannel(String(stream_id), surveyTopic(chat, { stream_id, topic_name })));
  const empty = contents.filter(({ messages }) => messages === 0).map(({ topic_name }) => `'${topic_name}'`);
  if (empty.length > 0) {
    throw new Failure(
      'not_found',
      `no messages in ${empty.length === 1 ? 'the topic' : 'the topics'} ${empty.join(', ')}: nothing was deleted`,
      {
        hint: 'Look for the right name: chatelaine messages fetch --channel ID.',
      },
    );
  }
  return contents;
}

function told({ topic_name, messages, first_timestamp, last_timestamp, spellings }: TopicContent): string {
  const day = (seconds: number | null): string =>
    seconds === null ? '?' : new Date(seconds * 1000).toISOString().slice(0, 10);
  const others = spellings.length > 1 ? `; spelled ${spellings.map((name) => `'${name}'`).join(', ')}` : '';
  return `topic '${topic_name}': ${messages} messages from ${day(first_timestamp)} to ${day(last_timestamp)}${others}`;
}

function checkMost(contents: readonly TopicContent[], most: number | undefined): void {
  const count = contents.reduce((sum, { messages }) => sum + messages, 0);
  if (most !== undefined && count > most) {
    throw usage(`${count} messages would be deleted, more than --max-messages ${most}: nothing was deleted`);
  }
}

/** The typed name is the only yes: --yes does not count here. */
async function confirmed(
  contents: readonly TopicContent[],
  typed: string | undefined,
  context: Context,
): Promise<void> {
  const [first, ...others] = contents;
  const expected = others.length === 0 ? (first?.topic_name ?? '') : String(contents.length);
  const what = others.length === 0 ? 'the name of the topic' : `the number of topics`;
  if (typed === undefined && !context.interactive())
    throw usage(`deleting needs --confirm with ${what}: nothing was deleted`);
  const answer = typed ?? (await context.ask(`Type ${what} to delete it for ever:`));
  if (answer === expected) return;
  if (typed !== undefined) throw usage(`--confirm '${typed}' is not ${what}: nothing was deleted`);
  throw new Failure('cancelled', `cancelled: '${answer}' is not ${what}; nothing was deleted`);
}
