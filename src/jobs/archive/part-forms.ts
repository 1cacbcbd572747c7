import type { ChatApi } from '../../api/chat/chat.ts';
import type { Message } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import type { ArchiveForm } from '../../store/archive/archive-head.ts';
import type { MessageSelection } from '../messages/selection.ts';

/** A part of an archive: the same messages in each of its forms. */
export type Forms = { readonly [F in ArchiveForm]?: readonly Message[] };

/** Times that a page is fetched again because its messages changed between the requests of the two forms. */
const maxRounds = 5;

/**
 * The messages of a page in the forms of an archive. The page has the first of the forms; where there are two, the other one is
 * fetched, and both again until they hold the same versions of the same messages.
 * @throws Failure unavailable where they never do
 */
export async function formsOf(
  chat: Pick<ChatApi, 'messages'>,
  selection: MessageSelection,
  page: readonly Message[],
  [form = 'rendered', other]: readonly ArchiveForm[],
): Promise<Forms> {
  if (other === undefined) return { [form]: page };
  let messages = page;
  for (let round = 0; round < maxRounds; round += 1) {
    if (round > 0) messages = await sameRange(chat, selection, page, form);
    const others = await sameRange(chat, selection, page, other);
    if (isSame(messages, others)) return { [form]: messages, [other]: others };
  }
  const [first, last] = [page[0], page.at(-1)];
  throw new Failure(
    'unavailable',
    `messages ${first?.id} to ${last?.id} changed between each two requests for their two forms`,
    { hint: 'Run the same command again: it continues.' },
  );
}

/** The messages that are now between the first and the last of a page. A page may leave out some, such as those of another time. */
async function sameRange(
  chat: Pick<ChatApi, 'messages'>,
  selection: MessageSelection,
  page: readonly Message[],
  form: ArchiveForm,
): Promise<Message[]> {
  const ids = page.map(({ id }) => id);
  const wanted = new Set(ids);
  const messages = await messagesBetween(chat, selection, [ids[0] ?? 0, ids.at(-1) ?? 0], form);
  return messages.filter(({ id }) => wanted.has(id));
}

/** The messages of a narrow from one id to another, both included, in one form. */
export async function messagesBetween(
  chat: Pick<ChatApi, 'messages'>,
  { narrow, form: given }: MessageSelection,
  [first, last]: readonly [number, number],
  form: ArchiveForm,
): Promise<Message[]> {
  const query = { narrow, ...given, ...markdownOf(form) };
  const walk = {
    anchor: String(first),
    isWanted: ({ id }: Message) => first <= id && id <= last,
    isEnd: ({ id }: Message) => id >= last,
  };
  const found: Message[] = [];
  for await (const { messages } of forward(chat, query, walk)) found.push(...messages);
  return found;
}

/** The parameter that asks for a form. */
export function markdownOf(form: ArchiveForm): { readonly apply_markdown?: false } {
  return form === 'source' ? { apply_markdown: false } : {};
}

/** Edits and moves are compared too: two forms of two versions would contradict each other. */
function isSame(one: readonly Message[], other: readonly Message[]): boolean {
  if (one.length !== other.length) return false;
  return one.every((message, index) =>
    ['id', 'last_edit_timestamp', 'last_moved_timestamp', 'subject', 'stream_id'].every(
      (name) => message[name] === other[index]?.[name],
    ),
  );
}
