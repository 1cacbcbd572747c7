import { isObject } from '../../core/json.ts';
import { booleanOf, jsonValue, type Reader, invalid } from './parameters.ts';
import { operatorAt, type Id, type Operand, type Term } from './narrow-operators.ts';
import { Refusal } from './refusal.ts';

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
  throw new Refusal(`operand is not ${takes}`);
}

function isId(value: unknown): value is Id {
  return Number.isInteger(value) || typeof value === 'boolean';
}
