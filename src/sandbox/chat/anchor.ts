import { newestAnchor } from '../../schema/messages.ts';
import { Refusal } from './refusal.ts';
import { levels } from './levels.ts';

/** Where a range of messages is taken; `date` in UNIX seconds. */
export type Anchor =
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'first_unread' }
  | { readonly kind: 'date'; readonly seconds: number };

interface Given {
  readonly anchor?: string;
  readonly anchor_date?: string;
  readonly use_first_unread_anchor?: boolean;
}

/** docs/apis.md, Messages. @throws Refusal */
export function readAnchor(level: number, { anchor, anchor_date, use_first_unread_anchor }: Given): Anchor {
  if (use_first_unread_anchor) return { kind: 'first_unread' };
  if (anchor === undefined) throw new Refusal("Missing 'anchor' argument.");
  if (anchor === 'first_unread') return { kind: 'first_unread' };
  if (anchor === 'oldest') return { kind: 'id', id: 0 };
  if (anchor === 'newest') return { kind: 'id', id: newestAnchor };
  if (anchor === 'date' && level >= levels.dateAnchor) return { kind: 'date', seconds: readMoment(anchor_date) };
  if (!/^[+-]?\d+(_\d+)*$/.test(anchor.trim())) throw new Refusal('Invalid anchor');
  return { kind: 'id', id: Math.min(Math.max(Number(anchor.replaceAll('_', '')), 0), newestAnchor) };
}

/** ISO 8601; a date is its first moment, and what names no zone is UTC. The wording of the refusal is our guess. */
function readMoment(text: string | undefined): number {
  if (text === undefined) throw new Refusal("Missing 'anchor_date' argument.");
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/.exec(text);
  const zone = (match?.[3] ?? 'Z').replace(/^([+-]\d\d)(\d\d)$/, '$1:$2');
  const time = Date.parse(`${match?.[1] ?? ''}T${match?.[2] ?? '00:00'}${zone}`);
  if (Number.isNaN(time)) throw new Refusal('Invalid anchor_date');
  return time / 1000;
}
