import { alternatives, countField, textField, type Fields } from './field.ts';

const terms = (placeholder: string, help: string) => ({ many: true, ...textField(placeholder, help) }) as const;

const channelKinds = ['public', 'web-public', 'archived'];
const states = ['dm', 'starred', 'unread', 'mentioned', 'alerted', 'resolved', 'followed', 'muted'];
const things = ['attachment', 'image', 'link', 'reaction'];

/** Operators of a narrow with an option of their own (docs/apis.md, Narrow operators). */
export const narrowOperators = {
  channel: terms('NAME|ID', 'Messages of this channel; a link, #narrow/… or #name as pasted'),
  channels: { ...terms('public|web-public|archived', 'Messages of all such channels'), suggest: channelKinds },
  topic: {
    ...terms('TOPIC', 'Messages of this topic: its complete name, in any case'),
    nonempty: false,
  },
  sender: terms('EMAIL|NAME|ID', 'Messages sent by this user'),
  dm: terms('EMAIL|NAME|ID,…', 'The direct conversation with these users, comma-separated'),
  dm_including: {
    ...terms('EMAIL|NAME|ID', 'Every direct conversation with this user in it'),
    level: 177,
  },
  search: terms('WORDS', 'Full-text search'),
  is: { ...terms('STATE', alternatives(states)), suggest: states },
  has: { ...terms('THING', alternatives(things)), suggest: things },
  in: { ...terms('home|all', 'home omits muted channels and topics'), suggest: ['home', 'all'] },
  id: { kind: 'integer', many: true, min: 0, max: 2_147_483_647, placeholder: 'ID', help: 'The message with this id' },
  with: {
    many: true,
    ...countField('ID', 'The conversation in which this message is now'),
    min: 0,
    level: 271,
    rare: 'fetching',
  },
  mentions: { ...terms('EMAIL|NAME|ID', 'Messages that mention this user'), level: 446 },
} as const satisfies Fields;

/** Feature levels at which words of a narrow changed (docs/apis.md, Feature levels). */
export const narrowLevels = {
  /** A number as the operand of `id`. */
  integerId: 194,
  /** `channel` for `stream`, `channels` for `streams`. */
  channel: 250,
} as const;

/** Operands that are younger than their operator. */
const operandLevels: Readonly<Record<string, number>> = {
  'is:followed': 265,
  'is:muted': 366,
  'has:reaction': 249,
  'channels:archived': 489,
};

export interface NarrowTerm {
  readonly operator: string;
  readonly operand: string | number | readonly number[];
  readonly negated?: true;
}

/** Operators whose operand may be a number on the wire. */
const numeric: ReadonlySet<string> = new Set(['channel', 'sender', 'dm-including', 'mentions', 'id', 'with']);
/** Operators whose operand is a channel or a user: `id:7` and `name:2024` tell an id from a name. */
const named: ReadonlySet<string> = new Set(['channel', 'sender', 'dm-including', 'mentions']);
/** Operators whose negation the server drops (docs/apis.md, Narrow operators). */
export const notNegatable: ReadonlySet<string> = new Set(['search', 'with', 'near']);

/** A term of an operator and its text: digits are a number where the server takes one. */
export function narrowTerm(operator: string, text: string): NarrowTerm {
  if (named.has(operator)) return { operator, operand: readName(text) };
  return { operator, operand: numeric.has(operator) && /^\d{1,15}$/.test(text) ? Number(text) : text };
}

/** The terms of users: `dm` takes all in one operand, every other operator one user. */
export function peopleTerms(operator: string, users: readonly (number | string)[]): readonly NarrowTerm[] {
  if (operator !== 'dm') return users.map((operand) => ({ operator, operand }));
  const ids = users.filter((user) => typeof user === 'number');
  return [{ operator, operand: ids.length === users.length ? ids : users.join(',') }];
}

/** A channel or user as typed: digits and `id:7` are an id, `name:2024` and everything else a name or an address. */
export function readName(text: string): number | string {
  const id = /^(?:id:)?(0|[1-9]\d{0,14})$/.exec(text)?.[1];
  if (id !== undefined) return Number(id);
  return text.startsWith('name:') ? text.slice('name:'.length) : text;
}

/** The level that an operator or its operand needs (`channels:archived`); undefined where every server has it. */
export function termLevel(operator: unknown, operand: unknown) {
  if (typeof operator !== 'string') return undefined;
  const younger = operandLevels[`${operator}:${String(operand)}`];
  if (younger !== undefined) return { name: `${operator}:${String(operand)}`, level: younger };
  const option = operator.replaceAll('-', '_');
  const operators: Fields = narrowOperators;
  const field = Object.hasOwn(operators, option) ? operators[option] : undefined;
  return field?.level === undefined ? undefined : { name: operator, level: field.level };
}
