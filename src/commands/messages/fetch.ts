import type { ChatApi, Message, MessagePage, MessageQuery } from '../../api/chat.ts';
import { forward, newestMessages } from '../../api/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../api/answer.ts';
import { maxMessages, maxUrlBytes, messageParameters, narrowOperators } from '../../spec/messages.ts';
import { command } from '../command.ts';
import { narrowOf } from './narrow.ts';
import { rangeOf, type Range } from './range.ts';

const { apply_markdown: _, ...parameters } = messageParameters;

export default command({
  name: 'messages fetch',
  summary: 'Fetch messages',
  about: [
    'Which messages: those that match all the selecting options. Without --channel or --channels, only messages that the account ' +
      'itself received are searched.',
    'How many: the newest 100; with --limit N the newest N, or with --anchor the N from there on; with --all every one. --num-before and ' +
      '--num-after are one request of the API as it is. The output is always sorted by id.',
  ],
  options: {
    ...narrowOperators,
    not: {
      kind: 'string',
      many: true,
      placeholder: 'OPERATOR=VALUE',
      help: 'Leave these out, as in --not sender=bot@example.com',
    },
    ...parameters,
    limit: { kind: 'integer', min: 1, placeholder: 'N', help: 'At most so many messages (default: 100)' },
    all: { kind: 'boolean', help: 'Every message that matches, in pages of 1000' },
    raw_content: { kind: 'boolean', help: 'The Markdown source in place of HTML' },
  },
  examples: [
    'chatelaine messages fetch --channel general --topic lunch --raw-content',
    'chatelaine messages fetch --channel general --all -o ndjson',
    'chatelaine messages fetch --search battery --not sender=11 --limit 5',
    'chatelaine messages fetch --anchor first_unread --num-before 10 --num-after 20 -o json',
  ],

  async *run(values, context) {
    const { not = [], narrow: json, client_gravatar, allow_empty_topic_name, raw_content, ...rest } = values;
    const {
      channel,
      channels,
      topic,
      sender,
      dm,
      dm_including,
      search,
      is,
      has,
      in: within,
      id,
      with: joined,
      mentions,
      ...range
    } = rest;
    const operators = dropUndefined({
      channel,
      channels,
      topic,
      sender,
      dm,
      dm_including,
      search,
      is,
      has,
      in: within,
      id,
      with: joined,
      mentions,
    });
    const asked = rangeOf(range);
    const narrow = narrowOf(operators, not, json);
    const query = { narrow, client_gravatar, allow_empty_topic_name, apply_markdown: raw_content ? false : undefined };
    const ignored = new Set<string>();
    let limited = false;
    for await (const page of pagesOf(context.chat(), query, asked)) {
      yield* page.messages;
      for (const name of page.ignored) if (wasTyped(name, values)) ignored.add(name);
      limited ||= page.history_limited;
    }
    if (limited)
      context.warn(
        'the history is cut by the plan of the organization: older messages exist that the server does not show',
      );
    if (ignored.size > 0)
      throw new Failure('rejected', `the server is too old for, and ignored: ${[...ignored].join(', ')}`);
  },

  show: {
    columns: ['id', 'timestamp', 'sender_full_name', 'display_recipient', 'subject', 'content'],
    cell: (message, column) => (column === 'display_recipient' ? recipients(message) : undefined),
  },
});

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function dropUndefined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}

function pagesOf(chat: ChatApi, query: MessageQuery, range: Range): AsyncGenerator<MessagePage> {
  switch (range.kind) {
    case 'newest':
      return newestMessages(chat, query, range.limit);
    case 'ids':
      return byIds(chat, query, range.ids);
    case 'pages':
      return forward(chat, { ...query, include_anchor: range.include_anchor }, range);
    case 'request': {
      const { kind: _kind, ...request } = range;
      return onePage(chat, { ...query, ...request });
    }
  }
}

async function* onePage(chat: ChatApi, query: MessageQuery): AsyncGenerator<MessagePage> {
  yield await chat.messages(query);
}

/** As many requests as the limits of count and URL need; what the server does not show is named at the end. */
async function* byIds(chat: ChatApi, query: MessageQuery, ids: readonly number[]): AsyncGenerator<MessagePage> {
  const found = new Set<number>();
  for (const message_ids of portions(ids)) {
    const page = await chat.messages({ ...query, message_ids });
    for (const { id } of page.messages) found.add(id);
    yield page;
  }
  const missing = ids.filter((id) => !found.has(id));
  if (missing.length > 0) {
    throw new Failure('incomplete', `no such message, or none that you may read: ${missing.join(', ')}`, {
      retryable: false,
    });
  }
}

/** Room for path, narrow and other parameters in the URL. */
const otherBytes = 1000;

function portions(ids: readonly number[]): number[][] {
  const all: number[][] = [];
  let bytes = Infinity;
  for (const id of ids) {
    const size = String(id).length + '%2C'.length;
    const last = all.at(-1);
    if (last && last.length < maxMessages && bytes + size < maxUrlBytes) {
      last.push(id);
      bytes += size;
    } else {
      all.push([id]);
      bytes = otherBytes + size;
    }
  }
  return all;
}

/** Paging sends parameters of its own: only what the user set is worth a word. */
function wasTyped(name: string, values: Readonly<Record<string, unknown>>): boolean {
  return values[name] !== undefined || (name === 'apply_markdown' && values['raw_content'] !== undefined);
}

function recipients({ display_recipient }: Message): unknown {
  if (!Array.isArray(display_recipient)) return undefined;
  return display_recipient
    .map((user: unknown) => (isObject(user) ? String(user['full_name'] ?? user['email']) : String(user)))
    .join(', ');
}
