import type { MessageSource, RawMessage } from '../../api/chat/chat-messages.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import type { ArchiveForm, PartMessages } from '../../store/archive/part.ts';
import type { MessageSelection } from '../../schema/selection.ts';

/** Times that a page is fetched again because its messages changed between the requests of the two forms. */
const maxRounds = 5;

/** Fetches two forms until both have the same versions. @throws Failure unavailable where they never have */
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
    const isSame = (one: RawMessage, at: number): boolean =>
      versionParts.every((name) => one.read(name) === others[at]?.read(name));
    if (messages.length === others.length && messages.every(isSame)) return { [form]: messages, [other]: others };
  }
  const what = `messages ${ids[0]} to ${ids.at(-1)} changed each time between fetching HTML and Markdown`;
  throw new Failure('unavailable', what, { hint: 'Run the same command again: it continues.' });
}

/** Fetches those of the ascending ids that a narrow still has, in one form, as a range of ids. */
async function messagesAmong(
  chat: MessageSource,
  { narrow, form: given }: MessageSelection,
  ids: readonly number[],
  form: ArchiveForm,
) {
  const last = Number(ids.at(-1));
  const wanted = new Set(ids);
  const isWanted = ({ id }: RawMessage): boolean => wanted.has(id);
  const walk = { anchor: String(ids[0]), isWanted, isEnd: ({ id }: RawMessage) => id >= last };
  const found: RawMessage[] = [];
  for await (const { messages } of forward(chat, { narrow, ...given, ...markdownOf(form) }, walk))
    found.push(...messages);
  return found;
}

export function markdownOf(form: ArchiveForm | undefined): { readonly apply_markdown?: false } {
  return form === 'source' ? { apply_markdown: false } : {};
}

const versionParts = ['id', 'last_edit_timestamp', 'last_moved_timestamp', 'subject', 'stream_id'];
