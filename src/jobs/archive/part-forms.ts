import type { MessageHead, MessageSource } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import type { ArchiveForm, PartMessages } from '../../store/archive/part.ts';
import type { MessageSelection } from '../messages/selection.ts';

/** Times that a page is fetched again because its messages changed between the requests of the two forms. */
const maxRounds = 5;

/** Two forms are fetched until they hold the same versions. @throws Failure unavailable where they never do */
export async function formsOf<M extends MessageHead>(
  chat: MessageSource<M>,
  selection: MessageSelection,
  page: readonly M[],
  [form = 'rendered', other]: readonly ArchiveForm[],
): Promise<PartMessages<M>> {
  if (other === undefined) return { [form]: page };
  let messages = page;
  for (let round = 0; round < maxRounds; round += 1) {
    if (round > 0) messages = await sameRange(chat, selection, page, form);
    const others = await sameRange(chat, selection, page, other);
    // Edits and moves are compared too: two forms of two versions would contradict each other.
    const isSame = messages.length === others.length && messages.every((one, at) => isSameVersion(one, others[at]));
    if (isSame) return { [form]: messages, [other]: others };
  }
  const [first, last] = [page[0], page.at(-1)];
  throw new Failure(
    'unavailable',
    `messages ${first?.id} to ${last?.id} changed each time between fetching HTML and Markdown`,
    { hint: 'Run the same command again: it continues.' },
  );
}

/** The messages that are now between the first and the last of a page, some of which the page may leave out. */
async function sameRange<M extends MessageHead>(
  chat: MessageSource<M>,
  selection: MessageSelection,
  page: readonly M[],
  form: ArchiveForm,
): Promise<M[]> {
  const ids = page.map(({ id }) => id);
  const wanted = new Set(ids);
  const messages = await messagesBetween(chat, selection, [ids[0] ?? 0, ids.at(-1) ?? 0], form);
  return messages.filter(({ id }) => wanted.has(id));
}

/** The messages of a narrow from one id to another, both included, in one form. */
export async function messagesBetween<M extends MessageHead>(
  chat: MessageSource<M>,
  { narrow, form: given }: MessageSelection,
  [first, last]: readonly [number, number],
  form: ArchiveForm,
): Promise<M[]> {
  const query = { narrow, ...given, ...markdownOf(form) };
  const walk = {
    anchor: String(first),
    isWanted: ({ id }: M) => first <= id && id <= last,
    isEnd: ({ id }: M) => id >= last,
  };
  const found: M[] = [];
  for await (const { messages } of forward(chat, query, walk)) found.push(...messages);
  return found;
}

export function markdownOf(form: ArchiveForm): { readonly apply_markdown?: false } {
  return form === 'source' ? { apply_markdown: false } : {};
}

function isSameVersion(one: MessageHead, other: MessageHead | undefined): boolean {
  return versionParts.every((name) => one[name] === other?.[name]);
}

const versionParts = ['id', 'last_edit_timestamp', 'last_moved_timestamp', 'subject', 'stream_id'] as const;
