import { isObject } from '../../core/json.ts';
import { boolean, jsonValue, type Reader, invalid } from './parameters.ts';
import { levels } from './levels.ts';
import { Refusal } from './refusal.ts';

/** The server counts a boolean as an integer, and writes it as Python does. */
type Id = number | boolean;
export type Operand = string | Id | readonly Id[];

export interface Term {
  readonly operator: string;
  readonly operand: Operand;
  readonly negated: boolean;
}

/** The `narrow` parameter of a server of that level: a JSON list of objects or string pairs, or null (docs/apis.md, Narrow operators). */
export function narrowReader(level: number): Reader<readonly Term[]> {
  return (name, text) => {
    const value = jsonValue(name, text);
    if (value === null) return [];
    if (!Array.isArray(value)) throw new Refusal(`${name} is not a list`);
    // All terms are well formed before an operand is looked at.
    const terms = value.map((element: unknown, index) => readTerm(`${name}[${index}]`, element));
    return terms.map((term) => ({ ...term, operand: readOperand(level, term.operator, term.operand) }));
  };
}

/** An operand in the words of an error. */
export function shown(operand: Operand): string {
  if (typeof operand === 'boolean') return operand ? 'True' : 'False';
  return typeof operand === 'object' ? `[${operand.map(shown).join(', ')}]` : String(operand);
}

function readTerm(name: string, element: unknown) {
  const { operator, operand, negated = false } = fieldsOf(name, element);
  if (typeof operator !== 'string') throw new Refusal(`${name}["operator"] is not a string`);
  return { operator, operand, negated: boolean(`${name}["negated"]`, JSON.stringify(negated)) };
}

function fieldsOf(name: string, element: unknown): { operator: unknown; operand: unknown; negated?: unknown } {
  if (Array.isArray(element)) {
    const parts: readonly unknown[] = element;
    const [operator, operand] = parts;
    if (element.length === 2 && typeof operator === 'string' && typeof operand === 'string')
      return { operator, operand };
    throw invalid(name, 'element is not a string pair');
  }
  if (!isObject(element)) throw invalid(name, 'dict or list required');
  const { operator, operand, negated } = element;
  if (operand === undefined || operand === null) throw invalid(name, 'operand is missing');
  if (operator === undefined || operator === null) throw invalid(name, 'operator is missing');
  return { operator, operand, negated };
}

/** Operators that take a number too, and the level that brought them; all others take strings only. */
const oneId: Readonly<Record<string, number>> = {
  channel: levels.channelOperators,
  stream: 0,
  id: 0,
  sender: 0,
  'group-pm-with': 0,
  'dm-including': levels.dmOperators,
  mentions: levels.mentionsOperator,
  with: levels.withOperator,
};
const severalIds: Readonly<Record<string, number>> = { dm: levels.dmOperators, 'pm-with': 0 };

function readOperand(level: number, operator: string, operand: unknown): Operand {
  if (knows(oneId, level, operator)) {
    if (typeof operand === 'string' || isId(operand)) return operand;
    throw new Refusal('operand is not a string or integer');
  }
  if (knows(severalIds, level, operator)) {
    if (typeof operand === 'string') return operand;
    if (Array.isArray(operand) && operand.every(isId)) return operand;
    throw new Refusal('operand is not a string or an integer list');
  }
  if (typeof operand !== 'string') throw new Refusal('operand is not a string');
  if (operator === 'search' && operand.trim() === '') throw new Refusal('operand cannot be blank.');
  return operand;
}

function knows(table: Readonly<Record<string, number>>, level: number, operator: string): boolean {
  return Object.hasOwn(table, operator) && (table[operator] ?? 0) <= level;
}

function isId(value: unknown): value is Id {
  return Number.isInteger(value) || typeof value === 'boolean';
}
