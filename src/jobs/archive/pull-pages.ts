import { forward } from '../../api/chat/message-pages.ts';
import { pagesOf } from '../messages/fetch-messages.ts';
import type { MessageChat } from '../messages/messages-by-ids.ts';
import { within } from '../messages/messages-by-time.ts';
import type { MessageSelection } from '../messages/selection.ts';

/** All pages of a selection, ascending; one without messages is only the sign of a limited history. */
export async function* wholePages(chat: MessageChat, selection: MessageSelection) {
  const { narrow, form, range } = selection;
  const seen = new Set<number>();
  let isUnordered = false;
  for await (const page of pagesOf(chat, selection)) {
    yield page;
    isUnordered ||= page.unordered === true;
    if (range.kind === 'times') for (const { id } of page.messages) seen.add(id);
  }
  if (!isUnordered || range.kind !== 'times') return;
  // A time has no place among such ids: all are read.
  const { isWanted } = within(range);
  yield* forward(
    chat,
    { narrow, ...form },
    { anchor: 'oldest', isWanted: (one) => isWanted(one) && !seen.has(one.id) },
  );
}

/** Ids up to the last one that a pull looks at again: for seconds messages become visible out of order. */
const outOfOrder = 1000;

/** The pages of a selection from shortly before the last archived id. */
export function newPages(chat: MessageChat, { narrow, form, range }: MessageSelection, last: number) {
  const start = last - outOfOrder + 1;
  const anchor = start <= 1 ? 'oldest' : String(start);
  return forward(chat, { narrow, ...form }, { anchor, ...(range.kind === 'times' ? within(range) : {}) });
}
