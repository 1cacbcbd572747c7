import type { RawMessage, MessagePage, MessageSource } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import type { ArchiveForm, PartMessages } from '../../store/archive/part.ts';
import { pagesOf } from '../messages/fetch-messages.ts';
import type { MessageChat } from '../messages/messages-by-ids.ts';
import { messagesByTime, within } from '../messages/messages-by-time.ts';
import type { MessageSelection, Range } from '../messages/selection.ts';

/** The pages of a selection, ascending; one without messages is only the sign of a limited history. */
export async function* firstPages(chat: MessageChat, selection: MessageSelection) {
  const { range } = selection;
  const isBackward = range.kind === 'newest' || (range.kind === 'times' && range.since === undefined && range.limit);
  if (!isBackward) {
    const seen = new Set<number>();
    let isUnordered = false;
    for await (const page of pagesOf(chat, selection)) {
      yield page;
      isUnordered ||= page.unordered === true;
      if (range.kind === 'times') for (const { id } of page.messages) seen.add(id);
    }
    if (!isUnordered || range.kind !== 'times') return;
    // All are read: a time has no place among such ids.
    const { isWanted } = within(range);
    const query = { narrow: selection.narrow, ...selection.form };
    yield* forward(chat, query, { anchor: 'oldest', isWanted: (one) => isWanted(one) && !seen.has(one.id) });
    return;
  }
  // These are found backward. An archive grows forward only: the first one is looked up, the rest fetched from there.
  let start: RawMessage | undefined;
  for await (const page of pagesOf(chat, selection)) {
    start ??= page.messages[0];
    if (page.history_limited) yield { ...page, messages: [] };
  }
  if (start) yield* forward(chat, { narrow: selection.narrow, ...selection.form }, walkFrom(range, start.id));
}

/** What is archived: its lowest id and its highest; `isWhole`: it is compared with the whole selection. */
interface Begun {
  readonly first: number;
  readonly last: number;
  readonly isWhole: boolean;
}

/** Ids up to the last one that a pull looks at again: for seconds messages become visible out of order. */
const outOfOrder = 1000;

/** The pages of a selection in which there may be messages that are not archived. */
export async function* laterPages(
  chat: MessageChat,
  { narrow, form, range }: MessageSelection,
  { first, last, isWhole }: Begun,
): AsyncGenerator<MessagePage> {
  const query = { narrow, ...form };
  const start = startOf(range) ?? first;
  if (isWhole && range.kind === 'times' && range.since !== undefined)
    yield* messagesByTime(chat, query, { ...range, limit: undefined });
  else yield* forward(chat, query, walkFrom(range, isWhole ? start : Math.max(start, last - outOfOrder + 1)));
}

function walkFrom(range: Range, id: number) {
  return { anchor: id <= 1 ? 'oldest' : String(id), ...(range.kind === 'times' ? within(range) : {}) };
}

/** The lowest id that a range may have; undefined where its first pull has found that out. */
export function startOf(range: Range): number | undefined {
  const isLast = range.kind === 'newest' || (range.kind === 'times' && range.since === undefined && range.limit);
  return isLast ? undefined : 1;
}

/** How many messages a limit leaves room for, beside those that are archived. */
export function roomIn(range: Range, count: number): number {
  return 'limit' in range && range.kind !== 'newest' && range.limit !== undefined ? range.limit - count : Infinity;
}

/** Times that a page is fetched again because its messages changed between the requests of the two forms. */
const maxRounds = 5;

/** Two forms are fetched until they hold the same versions. @throws Failure unavailable where they never do */
export async function formsOf(
  chat: MessageSource,
  selection: MessageSelection,
  page: readonly RawMessage[],
  [form = 'rendered', other]: readonly ArchiveForm[],
): Promise<PartMessages<RawMessage>> {
  if (other === undefined) return { [form]: page };
  const ids = page.map(({ id }) => id);
  let messages = page;
  for (let round = 0; round < maxRounds; round += 1) {
    if (round > 0) messages = await messagesAmong(chat, selection, ids, form);
    const others = await messagesAmong(chat, selection, ids, other);
    // Edits and moves are compared too: two forms of two versions would contradict each other.
    const isSame = messages.length === others.length && messages.every((one, at) => isSameVersion(one, others[at]));
    if (isSame) return { [form]: messages, [other]: others };
  }
  const what = `messages ${ids[0]} to ${ids.at(-1)} changed each time between fetching HTML and Markdown`;
  throw new Failure('unavailable', what, { hint: 'Run the same command again: it continues.' });
}

/** Those of the ascending ids that a narrow has now, in one form, read as a range of ids. */
export async function messagesAmong(
  chat: MessageSource,
  { narrow, form: given }: MessageSelection,
  ids: readonly number[],
  form: ArchiveForm,
) {
  const [first = 0, last = 0] = [ids[0], ids.at(-1)];
  const wanted = new Set(ids);
  const isWanted = ({ id }: RawMessage): boolean => wanted.has(id);
  const walk = { anchor: String(first), isWanted, isEnd: ({ id }: RawMessage) => id >= last };
  const found: RawMessage[] = [];
  for await (const { messages } of forward(chat, { narrow, ...given, ...markdownOf(form) }, walk))
    found.push(...messages);
  return found;
}

export function markdownOf(form: ArchiveForm): { readonly apply_markdown?: false } {
  return form === 'source' ? { apply_markdown: false } : {};
}

function isSameVersion(one: RawMessage, other: RawMessage | undefined): boolean {
  return versionParts.every((name) => one[name] === other?.[name]);
}

const versionParts = ['id', 'last_edit_timestamp', 'last_moved_timestamp', 'subject', 'stream_id'] as const;
