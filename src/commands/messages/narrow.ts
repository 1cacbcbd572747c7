import { usage } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { namesIn } from '../../core/table-names.ts';
import { narrowLink } from '../../schema/narrow-link.ts';
import { narrowOperators, narrowTerm, negatedTerm, type NarrowTerm } from '../../schema/narrow.ts';

/** The values of the operator options, by name. */
export type NarrowValues = { readonly [K in keyof typeof narrowOperators]?: readonly (string | number)[] };

/**
 * One narrow from the operator options, or from --narrow.
 * @throws Failure usage
 */
export function narrowOf(values: NarrowValues, not: readonly string[], json: unknown): readonly unknown[] {
  const terms = namesIn(narrowOperators).flatMap((name) =>
    (values[name] ?? []).flatMap((text) => termsOf(name.replaceAll('_', '-'), String(text))),
  );
  const all = [...terms, ...not.map(negatedTerm)];
  if (json === undefined) return all;
  if (all.length > 0)
    throw usage('--narrow excludes the options that are parts of a narrow', 'Write everything into the JSON.');
  return checkedNarrow(json);
}

/** The link of a topic is pasted as a channel: it is two terms. */
function termsOf(operator: string, text: string): readonly NarrowTerm[] {
  const term = narrowTerm(operator, text);
  const topic = operator === 'channel' ? narrowLink(text)?.topic : undefined;
  return topic === undefined ? [term] : [term, narrowTerm('topic', topic)];
}

/** What the server takes: objects of operator and operand, or pairs of strings (docs/apis.md, Narrow operators). */
function checkedNarrow(json: unknown): readonly unknown[] {
  if (!Array.isArray(json)) throw usage('--narrow: not a JSON array');
  const bad = json.flatMap((term: unknown, index) =>
    isTerm(term) ? [] : [`--narrow[${index}]: neither an object with operator and operand nor a pair of strings`],
  );
  if (bad.length > 0) throw usage(bad);
  return json;
}

function isTerm(term: unknown): boolean {
  if (Array.isArray(term)) return term.length === 2 && term.every((part) => typeof part === 'string');
  if (!isObject(term)) return false;
  const { operator, operand } = term;
  const isOperand =
    typeof operand === 'string' ||
    typeof operand === 'number' ||
    (Array.isArray(operand) && operand.every((id) => typeof id === 'number'));
  return typeof operator === 'string' && isOperand;
}
