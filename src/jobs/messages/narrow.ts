import { usage } from '../../core/failure.ts';
import { namesIn } from '../../core/table-names.ts';
import { readField, type Fields } from '../../schema/field.ts';
import { operatorNamed, readLink } from '../../schema/link.ts';
import { narrowOperators, narrowTerm, notNegatable, peopleTerms, type NarrowTerm } from '../../schema/narrow.ts';

export interface AccountFacts {
  /** The site that complete URLs have to be on. */
  readonly site?: string | undefined;
  /** The operands for the users of one value, in their order: `me` and names are looked up. */
  operandsOf(users: readonly string[]): readonly (string | number)[];
}

type NarrowValues = { readonly [K in keyof typeof narrowOperators]?: readonly (string | number)[] } & {
  readonly not?: readonly string[];
  readonly narrow?: unknown;
};

/** One narrow from a link and the operator options, or from --narrow. @throws Failure usage */
export function narrowOf(
  { not = [], narrow: json, ...values }: NarrowValues,
  linked: readonly NarrowTerm[],
  facts: AccountFacts,
): readonly unknown[] {
  const terms = namesIn(narrowOperators).flatMap((name) =>
    (values[name] ?? []).flatMap((text) => termsOf(name.replaceAll('_', '-'), String(text), facts)),
  );
  const all = [
    ...linked.flatMap((term) => withIds(term, facts)),
    ...terms,
    ...not.map((word) => negatedTerm(word, facts)),
  ];
  if (json === undefined) return all;
  if (all.length > 0)
    throw usage('--narrow excludes the options that are parts of a narrow', 'Write everything into the JSON.');
  // The server checks the terms (docs/apis.md, Narrow operators).
  if (Array.isArray(json)) return json;
  throw usage('--narrow: not a JSON array');
}

/** The operators that name users, in each of their spellings. */
const peopleTerm = /^(?:sender|mentions|dm[-_]including|dm)$/;

/** The users that a text names. @throws Failure usage where one of them is empty */
function usersIn(operator: string, text: string): string[] {
  const users = operator.startsWith('dm') ? text.split(',').map((user) => user.trim()) : [text];
  if (users.includes('')) throw usage(`${operator}: '${text}' lacks a user`);
  return users;
}

/** The terms of an operator; a link to a topic, which may be pasted as a channel, gives two terms. */
function termsOf(operator: string, text: string, facts: AccountFacts): readonly NarrowTerm[] {
  const link = operator === 'channel' ? readLink(text, facts.site) : undefined;
  if (link) return link.terms.flatMap((term) => withIds(term, facts));
  if (!peopleTerm.test(operator)) return [narrowTerm(operator, text)];
  return peopleTerms(operator, facts.operandsOf(usersIn(operator, text)));
}

/** A term of a link, with its users looked up as those of options. */
function withIds({ operator, operand, ...negated }: NarrowTerm, facts: AccountFacts): readonly NarrowTerm[] {
  if (!peopleTerm.test(operator)) return [{ operator, operand, ...negated }];
  return termsOf(operator, String(operand), facts).map((term) => ({ ...term, ...negated }));
}

/** The term of `--not OPERATOR=VALUE`. @throws Failure usage where the server drops the negation or ignores the term */
function negatedTerm(word: string, facts: AccountFacts): NarrowTerm {
  const at = word.indexOf('=');
  if (at < 1) throw usage(`--not: expected OPERATOR=VALUE, not '${word}'`);
  const operator = operatorNamed(word.slice(0, at).replaceAll('_', '-'));
  const text = word.slice(at + 1);
  const fields: Fields = narrowOperators;
  const name = operator.replaceAll('-', '_');
  if (fields[name]) readField(`--not ${operator}`, fields[name], text);
  if (notNegatable.has(operator)) throw usage(`--not: the server cannot negate ${operator}`);
  if (operator === 'in' && text === 'all')
    throw usage('--not in=all: the server ignores it, and every message matches');
  const [term, ...more] = termsOf(operator, text, facts);
  if (!term || more.length > 0)
    throw usage(`--not ${operator}: give one ${operator === 'channel' ? 'channel, or its link' : 'user'}`);
  return { ...term, negated: true };
}
