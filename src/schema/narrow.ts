import type { Fields } from './field.ts';
import { operandLevels } from './levels.ts';

/** Operators of a narrow that have an option of their own (docs/apis.md, Narrow operators). `integers`: digits are sent as a number. */
export const narrowOperators = {
  channel: {
    kind: 'string',
    many: true,
    placeholder: 'NAME|ID',
    suggest: 'channels',
    help: 'Messages of this channel; a link, #narrow/… or #name as pasted',
  },
  channels: {
    kind: 'string',
    many: true,
    placeholder: 'public|web-public|archived',
    suggest: ['public', 'web-public', 'archived'],
    help: 'Messages of all such channels',
  },
  topic: {
    kind: 'string',
    many: true,
    placeholder: 'TOPIC',
    suggest: 'topics',
    help: 'Messages of this topic: its whole name, in any case',
  },
  sender: { kind: 'string', many: true, placeholder: 'EMAIL|ID', suggest: 'users', help: 'Messages sent by this user' },
  dm: {
    kind: 'string',
    many: true,
    placeholder: 'EMAILS|IDS',
    suggest: 'users',
    help: 'The direct conversation with these users, comma-separated',
  },
  dm_including: {
    kind: 'string',
    many: true,
    level: 177,
    placeholder: 'EMAIL|ID',
    suggest: 'users',
    help: 'Every direct conversation with this user in it',
  },
  search: { kind: 'string', many: true, nonempty: true, placeholder: 'WORDS', help: 'Full-text search' },
  is: {
    kind: 'string',
    many: true,
    nonempty: true,
    placeholder: 'STATE',
    suggest: ['dm', 'starred', 'unread', 'mentioned', 'alerted', 'resolved', 'followed', 'muted'],
    help: 'dm, starred, unread, mentioned, alerted, resolved, followed or muted',
  },
  has: {
    kind: 'string',
    many: true,
    nonempty: true,
    placeholder: 'THING',
    suggest: ['attachment', 'image', 'link', 'reaction'],
    help: 'attachment, image, link or reaction',
  },
  in: {
    kind: 'string',
    many: true,
    nonempty: true,
    placeholder: 'home|all',
    suggest: ['home', 'all'],
    help: 'home leaves out what is muted',
  },
  id: { kind: 'integer', many: true, min: 0, max: 2_147_483_647, placeholder: 'ID', help: 'The message with this id' },
  with: {
    kind: 'integer',
    many: true,
    min: 0,
    level: 271,
    placeholder: 'ID',
    help: 'The conversation in which this message is now',
  },
  mentions: {
    kind: 'string',
    many: true,
    level: 446,
    placeholder: 'EMAIL|ID',
    suggest: 'users',
    help: 'Messages that mention this user',
  },
} as const satisfies Fields;

/** One term of a narrow, as it is sent. */
export interface NarrowTerm {
  readonly operator: string;
  readonly operand: string | number | readonly number[];
  readonly negated?: true;
}

/** Operators whose operand may be a number on the wire. */
const numeric: ReadonlySet<string> = new Set(['channel', 'sender', 'dm-including', 'mentions', 'id', 'with']);
/** Operators whose operand is a channel or a user: `id:7` and `name:2024` say which of both it is. */
const named: ReadonlySet<string> = new Set(['channel', 'sender', 'dm-including', 'mentions']);
/** Operators whose negation the server drops (docs/apis.md, Narrow operators). */
export const notNegatable: ReadonlySet<string> = new Set(['search', 'with', 'near']);

/** A term from an operator's wire name and its text: digits become a number where the server takes one, a list of ids for `dm`. */
export function narrowTerm(operator: string, text: string): NarrowTerm {
  if (operator === 'dm') {
    const users = text.split(',').map((user) => readName(user.trim()));
    const ids = users.filter((user) => typeof user === 'number');
    return { operator, operand: ids.length === users.length ? ids : users.join(',') };
  }
  if (named.has(operator)) return { operator, operand: readName(text) };
  return { operator, operand: numeric.has(operator) && /^\d{1,15}$/.test(text) ? Number(text) : text };
}

/** A channel or user as typed: digits and `id:7` are an id, `name:2024` and everything else a name or an address. */
export function readName(text: string): number | string {
  const id = /^(?:id:)?(0|[1-9]\d{0,14})$/.exec(text)?.[1];
  if (id !== undefined) return Number(id);
  return text.startsWith('name:') ? text.slice('name:'.length) : text;
}

/** A term and the feature level of the server that it needs. */
interface TermLevel {
  /** Operator, and operand where that is what needs the level: `with`, `channels:archived`. */
  readonly name: string;
  readonly level: number;
}

/** The level that an operator or its operand needs; undefined where every supported server has it. */
export function termLevel(operator: unknown, operand: unknown): TermLevel | undefined {
  if (typeof operator !== 'string') return undefined;
  const younger = operandLevels[`${operator}:${String(operand)}`];
  if (younger !== undefined) return { name: `${operator}:${String(operand)}`, level: younger };
  const option = operator.replaceAll('-', '_');
  const known: Fields = narrowOperators;
  const field = Object.hasOwn(known, option) ? known[option] : undefined;
  return field?.level === undefined ? undefined : { name: operator, level: field.level };
}
