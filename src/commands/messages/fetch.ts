import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message, MessagePage, MessageQuery } from '../../api/chat/chat-messages.ts';
import { forward, newestMessages } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { incompleteAfter, isObject } from '../../api/http/answer.ts';
import { maxMessages, maxUrlBytes, messageFields, messageParameters, narrowOperators } from '../../schema/messages.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { narrowOf } from './narrow.ts';
import { rangeOf, type Range } from './range.ts';

const { apply_markdown: _, ...parameters } = messageParameters;
const idsLevel = messageParameters.message_ids.level;

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

  run({ not = [], narrow: json, raw_content, ...values }, context) {
    const operators = Object.keys(narrowOperators) as (keyof typeof narrowOperators)[];
    const range = rangeOf(values);
    const narrow = narrowOf(subset(values, operators), not, json);
    const { client_gravatar, allow_empty_topic_name } = values;
    const query = { narrow, client_gravatar, allow_empty_topic_name, apply_markdown: raw_content ? false : undefined };
    return messagesOf(pagesOf(context.chat(), query, range), { ...values, apply_markdown: raw_content }, context);
  },

  show: {
    known: messageFields,
    columns: ['id', 'timestamp', 'sender_full_name', 'display_recipient', 'subject', 'content'],
    cell: (message, column) => (column === 'display_recipient' ? recipients(message) : undefined),
  },
});

function subset<T extends object, K extends keyof T>(values: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  ) as Pick<T, K>;
}

/**
 * The messages of the pages; what the server ignored of what the user typed is told at the end.
 * @throws Failure incomplete where a later page fails
 */
async function* messagesOf(
  pages: AsyncIterable<MessagePage>,
  typed: object,
  context: Context,
): AsyncGenerator<Message> {
  const ignored = new Set<string>();
  let count = 0;
  let limited = false;
  try {
    for await (const page of pages) {
      yield* page.messages;
      count += 1;
      for (const name of page.ignored) if (isTyped(name, typed)) ignored.add(name);
      limited ||= page.history_limited;
    }
  } catch (cause) {
    throw count > 0 ? incompleteAfter(count, cause) : cause;
  }
  if (limited)
    context.warn(
      'the history is cut by the plan of the organization: older messages exist that the server does not show',
    );
  if (ignored.size > 0)
    throw new Failure('rejected', `the server is too old for, and ignored: ${[...ignored].join(', ')}`);
}

/** Paging sends parameters of its own: only what the user set is worth a word. */
function isTyped(name: string, typed: object): boolean {
  return Object.entries(typed).some(([known, value]) => known === name && value !== undefined);
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
  for (const message_ids of portions(ids, otherBytes(query))) {
    const page = await explained(chat, chat.messages({ ...query, message_ids }));
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

/** Room in the URL for origin, path, narrow and other parameters. */
function otherBytes({ narrow }: MessageQuery): number {
  return 1000 + encodeURIComponent(writeJson(narrow)).length;
}

/** Older servers do not know message_ids, and miss the anchor. */
async function explained<T>(chat: ChatApi, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (cause) {
    const level = cause instanceof Failure && cause.kind === 'rejected' ? await chat.level() : undefined;
    if (level === undefined || level >= idsLevel || !(cause instanceof Failure)) throw cause;
    throw new Failure('rejected', `--ids needs level ${idsLevel}; this server has ${level}`, {
      ...cause.details,
      cause,
    });
  }
}

function portions(ids: readonly number[], others: number): number[][] {
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
      bytes = others + size;
    }
  }
  return all;
}

function recipients({ display_recipient }: Message): unknown {
  if (!Array.isArray(display_recipient)) return undefined;
  return display_recipient
    .map((user: unknown) => (isObject(user) ? String(user['full_name'] ?? user['email']) : String(user)))
    .join(', ');
}
