// A pull brings an archive up to date: it adds, part by part, what the archive lacks of its selection. A recheck reads
// all of the selection, and compares what the archive holds.
import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { incompleteWith } from '../../api/http/answer.ts';
import { quantity } from '../../core/duration.ts';
import type { OpenArchive, CheckExtent } from '../../store/archive/open-archive.ts';
import { damagedFile, type ArchiveHead } from '../../store/archive/archive-head.ts';
import { lastIdOf } from '../../store/archive/part.ts';
import { pagesOf } from '../messages/fetch-messages.ts';
import { within } from '../messages/messages-by-time.ts';
import { changedView } from '../messages/places.ts';
import { operandsIn, type MessageSelection } from '../../schema/selection.ts';
import { ahead } from '../work/pool.ts';
import { formsOf, markdownOf } from './message-forms.ts';
import { headFor, type PullOrder } from './pull-order.ts';
import { Recheck, type RecheckParts } from './recheck-archive.ts';
import { checkSelection } from './visibility.ts';

interface PullRun extends RecheckParts {
  readonly isRecheck: boolean;
  /** True in a pull of all channels, some of which may not have what is selected. */
  readonly isOfAll: boolean;
}

/**
 * Returns how many messages it added, and what a recheck found. @throws Failure config for the archive of another site
 * or account, or a damaged file; usage for another selection; unavailable where the server ignored the narrow or the
 * disk is full; not_found for a new archive of a channel of which nothing is visible; incomplete where a later page
 * fails
 */
export async function pullArchive(chat: ChatApi, archive: OpenArchive, order: PullOrder, parts: PullRun) {
  const head = await headFor(chat, archive, order);
  await checkParts(archive, head, parts.isRecheck ? 'all' : 'changed');
  const last = lastIdOf(archive.parts);
  const held = new Set(archive.parts.flatMap(({ ids }) => ids));
  const recheck = parts.isRecheck ? new Recheck(chat, archive, head, parts) : undefined;
  const { selection } = head;
  // The pages are in the form that the recheck compares: the source, where it is archived.
  const forms = recheck ? head.forms.toReversed() : head.forms;
  const asked = { ...selection, form: { ...selection.form, ...markdownOf(forms[0]) } };
  let [added, isVisible, isLastVisible, isLimited] = [0, false, false, false];
  try {
    const pages = last === 0 || recheck ? pagesOf(chat, asked) : newPages(chat, asked, last);
    for await (const page of ahead(pages)) {
      const { messages, history_limited } = page;
      if (page.view_changed) parts.warn(`${changedView}; archive pull --recheck fetches them`);
      isVisible ||= messages.length > 0;
      isLastVisible ||= messages.some(({ id }) => id === last);
      isLimited ||= history_limited;
      const now = archive.head ?? head;
      if ((history_limited && !now.history_limited) || (!archive.head && messages.length > 0))
        await archive.setHead({ ...now, history_limited: now.history_limited || history_limited });
      await recheck?.compare(messages.filter(({ id }) => held.has(id)));
      const lacking = messages.filter(({ id }) => !held.has(id));
      for (const { id } of lacking) held.add(id);
      const rows = lacking.length > 0 ? await formsOf(chat, selection, lacking, forms) : {};
      if (Object.values(rows).every((some) => some.length === 0)) continue;
      archive.mark({ complete: false });
      added += (await archive.add(rows)).count;
    }
  } catch (cause) {
    const what = `${quantity(added, 'message was', 'messages were')} archived, then`;
    throw added > 0 ? incompleteWith(what, cause) : cause;
  }
  if (!isVisible) await checkSelection(chat, head, { ...parts, isBegun: archive.head !== undefined });
  // A topic that was renamed or resolved gets no more messages.
  if (last > 0 && !recheck && !isLastVisible && operandsIn(selection.narrow, 'topic').length > 0)
    parts.warn(`the last archived message, ${last}, is no longer in the topic: archive pull --recheck records where`);
  if (!archive.head) await archive.setHead(head);
  if (recheck && !isLimited && archive.head?.history_limited)
    await archive.setHead({ ...archive.head, history_limited: false });
  archive.mark({ complete: true });
  return { added, rechecked: await recheck?.finish() };
}

/** A pull reads this many ids up to the last one again, since for seconds messages become visible out of order. */
const outOfOrder = 1000;

/** The pages of a selection from shortly before the last archived id. */
function newPages(chat: ChatApi, { narrow, form, range }: MessageSelection, last: number) {
  const start = last - outOfOrder + 1;
  const anchor = start <= 1 ? 'oldest' : String(start);
  return forward(chat, { narrow, ...form }, { anchor, ...(range.kind === 'times' ? within(range) : {}) });
}

/** @throws Failure config for a file that is damaged */
async function checkParts(archive: OpenArchive, { forms }: ArchiveHead, which: CheckExtent): Promise<void> {
  for (const part of archive.parts)
    for (const form of forms) {
      const problem = await archive.check(part, form, which);
      if (problem !== undefined) throw damagedFile(archive.folder, { file: part[form]?.file ?? form, problem });
    }
}
