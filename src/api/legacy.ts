import { isObject } from './answer.ts';

/** Operators and operands of narrows before levels 250 and 177 (facts page, section 4); the new servers take these too. */
const operators: Readonly<Record<string, string>> = { channel: 'stream', channels: 'streams', dm: 'pm-with' };

/** The same narrow in the words of old servers. */
export function legacyNarrow(narrow: readonly unknown[] | undefined): readonly unknown[] | undefined {
  return narrow?.map((term) => {
    if (!isObject(term)) return term;
    const { operator, operand } = term;
    if (operator === 'is' && operand === 'dm') return { ...term, operand: 'private' };
    return typeof operator === 'string' && operator in operators ? { ...term, operator: operators[operator] } : term;
  });
}
