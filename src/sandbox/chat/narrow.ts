import { isObject } from '../../core/json.ts';
import type { ChannelRecord, MessageRecord } from '../records.ts';
import { isSubscribed, isReceived, seesHistory, canRead } from './access.ts';
import { booleanOf, invalid, jsonValue, type Reader } from './parameters.ts';
import { badNarrow, serverError, Refusal } from './refusal.ts';
import type { UserCall } from './chat-call.ts';
import { channelNamed, operatorAt, type Id, type Operand, type Predicate, type Term } from './narrow-operators.ts';
import { levels } from './levels.ts';

/** Messages that a narrow lets through: all ascending by id, and the test that each has to pass. */
export interface Narrowed {
  readonly rows: readonly MessageRecord[];
  readonly matches: (message: MessageRecord) => boolean;
  /** True if a term that is not negated names a channel. */
  readonly namesChannel: boolean;
}

/**
 * Turns the terms into a test; undefined where late levels answer with an empty success. Shared history is searched
 * only through a channel term (docs/apis.md, Narrow operators).
 * @throws Refusal BAD_NARROW
 */
export function applyNarrow(call: UserCall, terms: readonly Term[]): Narrowed | undefined {
  const { user, state, level } = call;
  const words = searchOf(terms);
  const others = terms.filter(({ operator }) => operator !== 'search').map((term) => testOf(call, term));
  // Several searches are one, of all their words (docs/apis.md, Narrow operators).
  const tests =
    words === undefined ? others : [...others, testOf(call, { operator: 'search', operand: words, negated: false })];
  refuseMixture(terms);
  const channels = channelsOf(call, terms);
  const isBarred =
    channels.length > 1 || channels.some((channel) => !isSubscribed(user, channel) && !seesHistory(user, channel));
  if (isBarred && level >= levels.emptyWithoutAccess) return undefined;
  const own: Predicate = searchesHistory(call, terms) ? () => true : (message) => isReceived(user, message, state);
  return {
    rows: state.messages.rows(),
    namesChannel: channels.length > 0,
    matches: (message) => own(message) && tests.every((test) => test(message)),
  };
}

/** The words that were searched for, joined by blanks; undefined where nothing was. */
export function searchOf(terms: readonly Term[]): string | undefined {
  const words = terms.filter(({ operator }) => operator === 'search').map(({ operand }) => String(operand));
  return words.length > 0 ? words.join(' ') : undefined;
}

function testOf(call: UserCall, term: Term): Predicate {
  const operator = operatorAt(call.level, term.operator);
  if (!operator) throw badNarrow(`unknown operator ${term.operator}`);
  if (reachesDatabase.has(term.operator) && String(term.operand).includes('\0')) throw serverError();
  const test = operator.test(call, term.operand);
  return term.negated && !operator.ignoresNegation?.(term.operand) ? (message) => !test(message) : test;
}

/** Operators whose text becomes part of a query: a NUL character in it is an error of the database. */
const reachesDatabase: ReadonlySet<string> = new Set(['channel', 'stream', 'topic', 'sender', 'search']);

function refuseMixture(terms: readonly Term[]): void {
  const positive = terms.filter(({ negated }) => !negated);
  const namesChannel = positive.some(({ operator }) => /^(channels?|streams?|topic)$/.test(operator));
  const namesPeople = positive.some(
    ({ operator, operand }) =>
      /^(dm|pm[-_]with|dm-including|group[-_]pm[-_]with)$/.test(operator) ||
      (operator === 'is' && (operand === 'dm' || operand === 'private')),
  );
  if (namesChannel && namesPeople) throw badNarrow('No message can be both a channel message and direct message');
}

function channelsOf(call: UserCall, terms: readonly Term[]): ChannelRecord[] {
  return terms
    .filter(({ operator, negated }) => (operator === 'channel' || operator === 'stream') && !negated)
    .map(({ operand }) => channelNamed(call, operand));
}

function searchesHistory(call: UserCall, terms: readonly Term[]): boolean {
  const { user, level } = call;
  if (terms.some(({ operator, operand }) => operator === 'is' && operand !== 'resolved')) return false;
  if (channelsOf(call, terms).some((channel) => seesHistory(user, channel))) return true;
  return terms.some(
    ({ operator, operand, negated }) =>
      (operator === 'channels' || operator === 'streams') &&
      !negated &&
      ((operand === 'public' && user.role !== 'guest') ||
        (operand === 'web-public' && level >= levels.emptyWithoutAccess)),
  );
}

const channelTerms = /^(channel|stream|topic)$/;
const directTerms = /^(dm|pm[-_]with)$/;

/**
 * Replaces a `with` term, and the conversation that the other terms name, by the present conversation of its message; a
 * message that cannot be read is passed over if the rest names a conversation (docs/apis.md, Narrow operators).
 * @throws Refusal BAD_NARROW
 */
export function resolveWith(call: UserCall, terms: readonly Term[]): readonly Term[] {
  const withTerms = terms.filter(({ operator }) => operator === 'with');
  const [first] = withTerms;
  if (!first || call.level < levels.withOperator) return terms;
  if (withTerms.length > 1) {
    const desc = "Duplicate 'with' operators.";
    throw new Refusal(`Invalid narrow operator combination: ${desc}`, { code: 'BAD_NARROW', extra: { desc } });
  }
  const rest = terms.filter((term) => term !== first);
  const id = typeof first.operand === 'boolean' ? Number(first.operand) : first.operand;
  if (!/^\d+$/.test(String(id))) throw badNarrow("Invalid 'with' operator");
  const message = call.state.messages.get(Number(id));
  if (message && canRead(call.user, message, call.state)) {
    const { stream_id, subject, people = [] } = message;
    const place = stream_id === undefined ? { 'pm-with': people } : { stream: stream_id, topic: subject };
    return [
      ...rest.filter(({ operator }) => !channelTerms.test(operator) && !directTerms.test(operator)),
      ...Object.entries<Term['operand']>(place).map(([operator, operand]) => ({ operator, operand, negated: false })),
    ];
  }
  const names = rest.map(({ operator }) => operator);
  const namesTopic = names.includes('topic') && (names.includes('channel') || names.includes('stream'));
  if (namesTopic || names.some((name) => directTerms.test(name))) return rest;
  throw badNarrow("Invalid 'with' operator");
}

/** The `narrow` parameter: a JSON list of objects or string pairs, or null (docs/apis.md, Narrow operators). */
export function narrowReader(level: number): Reader<readonly Term[]> {
  return (name, text) => {
    const value = jsonValue(name, text);
    if (value === null) return [];
    if (!Array.isArray(value)) throw new Refusal(`${name} is not a list`);
    // The form of all terms is checked before any operand.
    const terms = value.map((element: unknown, index) => readTerm(`${name}[${index}]`, element));
    return terms.map((term) => ({ ...term, operand: readOperand(level, term.operator, term.operand) }));
  };
}

function readTerm(name: string, element: unknown) {
  if (Array.isArray(element)) {
    const pair: readonly unknown[] = element;
    const [operator, operand] = pair;
    if (pair.length === 2 && typeof operator === 'string' && typeof operand === 'string')
      return { operator, operand, negated: false };
    throw invalid(name, 'element is not a string pair');
  }
  if (!isObject(element)) throw invalid(name, 'dict or list required');
  const { operator, operand, negated = false } = element;
  if (operand === undefined || operand === null) throw invalid(name, 'operand is missing');
  if (operator === undefined || operator === null) throw invalid(name, 'operator is missing');
  if (typeof operator !== 'string') throw new Refusal(`${name}["operator"] is not a string`);
  return { operator, operand, negated: booleanOf(`${name}["negated"]`, negated) };
}

/** An operator that the server does not know takes a string, as most do. */
function readOperand(level: number, operator: string, operand: unknown): Operand {
  const takes = operatorAt(level, operator)?.takes ?? 'a string';
  if (operator === 'search' && typeof operand === 'string' && operand.trim() === '')
    throw new Refusal('operand cannot be blank.');
  if (typeof operand === 'string' || (takes === 'a string or integer' && isId(operand))) return operand;
  if (takes === 'a string or an integer list' && Array.isArray(operand) && operand.every(isId)) return operand;
  const item = takes === 'a string or an integer list' && Array.isArray(operand) && level >= levels.booleanOperands;
  throw new Refusal(
    item ? `operand[${operand.findIndex((id) => !isId(id))}] is not an integer` : `operand is not ${takes}`,
  );
}

function isId(value: unknown): value is Id {
  return Number.isInteger(value) || typeof value === 'boolean';
}
