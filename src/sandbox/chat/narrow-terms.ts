import { boolean, jsonValue, type Reader, invalid } from './parameters.ts';
import { Refusal } from './refusal.ts';

export type Operand = string | number | readonly number[];

export interface Term {
  readonly operator: string;
  readonly operand: Operand;
  readonly negated: boolean;
}

/** The `narrow` parameter: a JSON list of objects or string pairs, or null (facts page, section 4). */
export const readNarrow: Reader<readonly Term[]> = (name, text) => {
  const value = jsonValue(name, text);
  if (value === null) return [];
  if (!Array.isArray(value)) throw new Refusal(`${name} is not a list`);
  return value.map((element: unknown, index) => readTerm(`${name}[${index}]`, element));
};

function readTerm(name: string, element: unknown): Term {
  const { operator, operand, negated } = fieldsOf(name, element);
  if (typeof operator !== 'string') throw new Refusal(`${name}["operator"] is not a string`);
  return {
    operator,
    operand: readOperand(operator, operand),
    negated: negated === undefined || negated === null ? false : boolean(`${name}["negated"]`, JSON.stringify(negated)),
  };
}

function fieldsOf(name: string, element: unknown): { operator: unknown; operand: unknown; negated?: unknown } {
  if (Array.isArray(element)) {
    const [operator, operand] = element as unknown[];
    if (element.length === 2 && typeof operator === 'string' && typeof operand === 'string')
      return { operator, operand };
    throw invalid(name, 'element is not a string pair');
  }
  if (typeof element !== 'object' || element === null) throw invalid(name, 'dict or list required');
  const { operator, operand, negated } = element as Record<string, unknown>;
  if (operand === undefined || operand === null) throw invalid(name, 'operand is missing');
  if (operator === undefined || operator === null) throw invalid(name, 'operator is missing');
  return { operator, operand, negated };
}

const oneId: ReadonlySet<string> = new Set([
  ...['channel', 'stream', 'id', 'sender', 'group-pm-with', 'group_pm_with', 'dm-including', 'mentions', 'with'],
]);
const severalIds: ReadonlySet<string> = new Set(['dm', 'pm-with', 'pm_with']);

function readOperand(operator: string, operand: unknown): Operand {
  if (oneId.has(operator)) {
    if (typeof operand === 'string' || isInteger(operand)) return operand;
    throw new Refusal('operand is not a string or integer');
  }
  if (severalIds.has(operator)) {
    if (typeof operand === 'string') return operand;
    if (Array.isArray(operand) && operand.every(isInteger)) return operand;
    throw new Refusal('operand is not a string or an integer list');
  }
  if (typeof operand !== 'string') throw new Refusal('operand is not a string');
  if (operator === 'search' && operand.trim() === '') throw new Refusal('operand cannot be blank.');
  return operand;
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value);
}
