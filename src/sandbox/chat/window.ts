import { countBefore } from '../../core/halving.ts';
import { newestAnchor } from '../../schema/messages.ts';
import type { MessageRecord } from '../records.ts';
import type { UserCall } from './chat-call.ts';
import { flagsOf, isMuted, policyOf } from './access.ts';
import type { Narrowed } from './narrow.ts';
import { Refusal } from './refusal.ts';
import { levels } from './levels.ts';

/** The flags of a response that reached neither its anchor nor an end. */
export const nothingFound = { found_anchor: false, found_oldest: false, found_newest: false, history_limited: false };

interface WindowRange {
  readonly anchor: Anchor;
  readonly num_before: number;
  readonly num_after: number;
  readonly include_anchor: boolean;
}

/**
 * The rows around the anchor, and the flags as the server computes them (docs/apis.md, Paging). Hidden rows are cut off
 * after the limits: forward from the oldest they use up `num_after`, and found_newest is then wrong (docs/apis.md,
 * Limited history).
 */
export function window(call: UserCall, found: Narrowed, range: WindowRange) {
  const anchor = resolve(call, found, range.anchor);
  if (anchor === undefined) {
    // Neither end counts as found for a date with nothing to anchor at: a known trap for pagers.
    return { rows: [], anchor: newestAnchor, ...nothingFound };
  }
  const visible = call.organization.first_visible_message_id;
  const [before, after] = [anchor === 0 ? 0 : range.num_before, anchor >= newestAnchor ? 0 : range.num_after];
  const taken = take(found, { ...range, anchor, before, after, visible });
  const shown = taken.filter(({ id }) => id >= visible);
  const older = shown.filter(({ id }) => id < anchor).slice(-before || Infinity);
  const own = shown.filter(({ id }) => id === anchor);
  const newer = shown.filter(({ id }) => id > anchor).slice(0, after);
  const found_oldest = anchor === 0 || older.length < before;
  return {
    rows: [...older, ...own, ...newer],
    anchor,
    found_anchor: own.length > 0,
    found_oldest,
    found_newest: anchor >= newestAnchor || newer.length < after,
    history_limited: found_oldest && shown.length < taken.length,
  };
}

/** The rows that the server's query gives, hidden ones included; the anchor's counts against the limit of one side. */
function take(
  found: Narrowed,
  limits: Pick<WindowRange, 'include_anchor'> & Readonly<Record<'anchor' | 'before' | 'after' | 'visible', number>>,
): MessageRecord[] {
  const { anchor, before, after, visible, include_anchor: include } = limits;
  const at = found.rows[firstAbove(found.rows, anchor - 1)];
  if (before === 0 && after === 0) return at?.id === anchor && found.matches(at) ? [at] : [];
  const bothSides = before > 0 && after > 0;
  const withAnchor = include && !bothSides ? 1 : 0;
  const last = firstAbove(found.rows, bothSides || !include ? anchor - 1 : anchor) - 1;
  const older = walk(found, last, -1, before > 0 ? before + withAnchor : 0);
  const start = bothSides || include ? anchor : anchor + 1;
  const first = anchor === 0 ? 0 : Math.max(start, visible);
  const wanted = after > 0 ? after + (bothSides ? 1 : withAnchor) : 0;
  const newer = walk(found, firstAbove(found.rows, first - 1), 1, wanted);
  return [...older.reverse(), ...newer];
}

/** The id of an anchor. In a narrow on a channel, first_unread passes over muted topics, but not a muted channel. */
function resolve(
  { user, state }: UserCall,
  { rows, matches, namesChannel }: Narrowed,
  anchor: Anchor,
): number | undefined {
  if (anchor.kind === 'id') return anchor.id;
  if (anchor.kind === 'first_unread') {
    const isQuiet = (row: MessageRecord) =>
      namesChannel ? policyOf(user, row, state) === 'muted' : isMuted(user, row, state);
    const isUnread = (row: MessageRecord) => !flagsOf(user, row, state).includes('read');
    return rows.find((row) => isUnread(row) && !isQuiet(row) && matches(row))?.id ?? newestAnchor;
  }
  return (rows.find((row) => row.timestamp >= anchor.seconds && matches(row)) ?? rows.findLast(matches))?.id;
}

/** Up to `count` matching rows from that place on, newer or older ones. */
function walk({ rows, matches }: Narrowed, start: number, step: 1 | -1, count: number): MessageRecord[] {
  const taken: MessageRecord[] = [];
  for (let at = start; taken.length < count; at += step) {
    const row = rows[at];
    if (!row) break;
    if (matches(row)) taken.push(row);
  }
  return taken;
}

/** The place of the first row with an id above `id`. */
function firstAbove(rows: readonly MessageRecord[], id: number): number {
  return countBefore(rows, (row) => row.id <= id);
}

/** Where a range of messages is taken; `date` in UNIX seconds. */
type Anchor =
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'first_unread' }
  | { readonly kind: 'date'; readonly seconds: number };

/** docs/apis.md, Messages. @throws Refusal */
export function readAnchor(
  level: number,
  given: { readonly anchor?: string; readonly anchor_date?: string; readonly use_first_unread_anchor?: boolean },
): Anchor {
  const { anchor, anchor_date, use_first_unread_anchor } = given;
  if (use_first_unread_anchor) return { kind: 'first_unread' };
  if (anchor === undefined) throw new Refusal("Missing 'anchor' argument.");
  if (anchor === 'first_unread') return { kind: 'first_unread' };
  if (anchor === 'oldest') return { kind: 'id', id: 0 };
  if (anchor === 'newest') return { kind: 'id', id: newestAnchor };
  if (anchor === 'date' && level >= levels.dateAnchor) return { kind: 'date', seconds: readMoment(anchor_date) };
  if (!/^[+-]?\d+(_\d+)*$/.test(anchor.trim())) throw new Refusal('Invalid anchor');
  return { kind: 'id', id: Math.min(Math.max(Number(anchor.replaceAll('_', '')), 0), newestAnchor) };
}

/** Reads ISO 8601; a date is its first moment, and a text without a zone is UTC. The refusal is worded by us. */
function readMoment(text: string | undefined): number {
  if (text === undefined) throw new Refusal("Missing 'anchor_date' argument.");
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/.exec(text);
  const zone = (match?.[3] ?? 'Z').replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  const time = Date.parse(`${match?.[1] ?? ''}T${match?.[2] ?? '00:00'}${zone}`);
  if (Number.isNaN(time)) throw new Refusal('Invalid anchor_date');
  return time / 1000;
}
