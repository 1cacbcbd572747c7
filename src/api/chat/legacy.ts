import { isObject } from '../http/answer.ts';

/** Operators and operands of narrows before levels 250 and 177 (facts page, section 4); the new servers take these too. */
const operators: Readonly<Record<string, string>> = { channel: 'stream', channels: 'streams', dm: 'pm-with' };

/** The same narrow in the words of old servers. */
export function legacyNarrow(narrow: readonly unknown[] | undefined): readonly unknown[] | undefined {
  return narrow?.map((term) => {
    if (Array.isArray(term)) return legacyWords(term[0], term[1]);
    if (!isObject(term)) return term;
    const [operator, operand] = legacyWords(term['operator'], term['operand']);
    return { ...term, operator, operand };
  });
}

function legacyWords(operator: unknown, operand: unknown): readonly [unknown, unknown] {
  if (operator === 'is' && operand === 'dm') return [operator, 'private'];
  return [typeof operator === 'string' && Object.hasOwn(operators, operator) ? operators[operator] : operator, operand];
}
