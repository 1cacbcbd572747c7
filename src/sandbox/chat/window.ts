import { newestAnchor } from '../../schema/messages.ts';
import type { Anchor } from './anchor.ts';
import type { UserCall } from './routes.ts';
import { isUnread } from './flags.ts';
import type { Narrowed } from './narrow.ts';
import { isMuted } from './muted.ts';
import type { Message } from '../records.ts';

interface Range {
  readonly anchor: Anchor;
  readonly num_before: number;
  readonly num_after: number;
  readonly include_anchor: boolean;
}

interface Window {
  readonly rows: readonly Message[];
  readonly anchor: number;
  readonly found_anchor: boolean;
  readonly found_oldest: boolean;
  readonly found_newest: boolean;
  readonly history_limited: boolean;
}

/** The rows around the anchor, and the flags exactly as the server computes them (facts page, 1.3: anchor semantics, flags). */
export function window(call: UserCall, found: Narrowed, range: Range): Window {
  const anchor = resolve(call, found, range.anchor);
  if (anchor === undefined) return emptyByDate;
  const [atStart, atEnd] = [anchor === 0, anchor >= newestAnchor];
  const before = atStart ? 0 : range.num_before;
  const after = atEnd ? 0 : range.num_after;
  const oneRow = before === 0 && after === 0;
  const visible = call.organization.first_visible_message_id;
  const all = take(found, firstAbove(found.rows, anchor - 1) - 1, -1, before).reverse();
  const older = all.filter(({ id }) => id >= visible);
  const newer = take(found, firstAbove(found.rows, Math.max(anchor, visible - 1)), 1, after);
  const own = range.include_anchor || oneRow || (before > 0 && after > 0) ? rowAt(found, anchor, visible) : [];
  const found_oldest = atStart || older.length < range.num_before;
  return {
    rows: [...older, ...own, ...newer],
    anchor,
    found_anchor: own.length > 0,
    found_oldest,
    found_newest: atEnd || newer.length < range.num_after,
    history_limited: found_oldest && older.length < all.length,
  };
}

/** With a date and nothing to anchor at, neither end counts as found: a known trap for pagers. */
const emptyByDate: Window = {
  rows: [],
  anchor: newestAnchor,
  found_anchor: false,
  found_oldest: false,
  found_newest: false,
  history_limited: false,
};

function resolve({ user, state }: UserCall, { rows, matches }: Narrowed, anchor: Anchor): number | undefined {
  if (anchor.kind === 'id') return anchor.id;
  if (anchor.kind === 'first_unread') {
    const unread = (row: Message) => isUnread(user, row, state) && !isMuted(user, row, state) && matches(row);
    return rows.find(unread)?.id ?? newestAnchor;
  }
  return (rows.find((row) => row.timestamp >= anchor.seconds && matches(row)) ?? rows.findLast(matches))?.id;
}

/** Up to `count` matching rows from `start` on, upwards (1) or downwards (-1). */
function take({ rows, matches }: Narrowed, start: number, step: 1 | -1, count: number): Message[] {
  const taken: Message[] = [];
  for (let at = start; taken.length < count; at += step) {
    const row = rows[at];
    if (!row) break;
    if (matches(row)) taken.push(row);
  }
  return taken;
}

function rowAt({ rows, matches }: Narrowed, id: number, visible: number): Message[] {
  const row = rows[firstAbove(rows, id - 1)];
  return row?.id === id && id >= visible && matches(row) ? [row] : [];
}

/** The place of the first row with an id above `id`. */
function firstAbove(rows: readonly Message[], id: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.id ?? Infinity) > id) high = middle;
    else low = middle + 1;
  }
  return low;
}
