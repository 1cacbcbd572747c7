import type { MessageRecord } from '../records.ts';
import { canRead } from './access.ts';
import { badNarrow } from './bad-narrow.ts';
import type { UserCall } from './call.ts';
import type { Term } from './narrow-terms.ts';
import { Refusal } from './refusal.ts';
import { levels } from './levels.ts';

const channelTerms: ReadonlySet<string> = new Set(['channel', 'stream', 'topic']);
const directTerms: ReadonlySet<string> = new Set(['dm', 'pm-with', 'pm_with']);

/**
 * Replaces a `with` term, and the conversation that the other terms name, by the present conversation of its message; a message
 * that cannot be read is passed over if the rest names a conversation (docs/apis.md, Narrow operators).
 * @throws Refusal BAD_NARROW
 */
export function resolveWith(call: UserCall, terms: readonly Term[]): readonly Term[] {
  const withTerms = terms.filter(({ operator }) => operator === 'with');
  const [first] = withTerms;
  if (!first || call.level < levels.withOperator) return terms;
  if (withTerms.length > 1) throw duplicates();
  const rest = terms.filter((term) => term !== first);
  const id = typeof first.operand === 'boolean' ? Number(first.operand) : first.operand;
  if (!/^\d+$/.test(String(id))) throw badNarrow("Invalid 'with' operator");
  const message = call.state.messages.get(Number(id));
  if (message && canRead(call.user, message, call.state))
    return [...withoutConversation(rest), ...conversationOf(message)];
  if (namesConversation(rest)) return rest;
  throw badNarrow("Invalid 'with' operator");
}

function duplicates(): Refusal {
  const desc = "Duplicate 'with' operators.";
  return new Refusal(`Invalid narrow operator combination: ${desc}`, { code: 'BAD_NARROW', extra: { desc } });
}

function withoutConversation(terms: readonly Term[]): Term[] {
  return terms.filter(({ operator }) => !channelTerms.has(operator) && !directTerms.has(operator));
}

function conversationOf({ stream_id, subject, people }: MessageRecord): Term[] {
  if (stream_id === undefined) return [{ operator: 'pm-with', operand: people ?? [], negated: false }];
  return [
    { operator: 'stream', operand: stream_id, negated: false },
    { operator: 'topic', operand: subject, negated: false },
  ];
}

function namesConversation(terms: readonly Term[]): boolean {
  const names = new Set(terms.map(({ operator }) => operator));
  return (
    (names.has('topic') && (names.has('channel') || names.has('stream'))) ||
    [...directTerms].some((name) => names.has(name))
  );
}
