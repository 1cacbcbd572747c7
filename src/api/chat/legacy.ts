import { isObject } from '../../core/json.ts';
import { narrowLevels } from '../../schema/levels.ts';

/** Operators of old servers (docs/apis.md, Narrow operators); the new servers take these too. */
const operators: Readonly<Record<string, string>> = { channel: 'stream', channels: 'streams', dm: 'pm-with' };

/** The same narrow in the words of a server of that level. */
export function legacyNarrow(narrow: readonly unknown[] | undefined, level: number): readonly unknown[] | undefined {
  if (level >= narrowLevels.channel) return narrow;
  return narrow?.map((term) => {
    if (Array.isArray(term)) return legacyWords(term[0], term[1], level);
    if (!isObject(term)) return term;
    const [operator, operand] = legacyWords(term['operator'], term['operand'], level);
    return { ...term, operator, operand };
  });
}

function legacyWords(operator: unknown, operand: unknown, level: number): readonly [unknown, unknown] {
  if (operator === 'is' && operand === 'dm') return [operator, 'private'];
  if (operator === 'id' && typeof operand === 'number' && level < narrowLevels.integerId)
    return [operator, String(operand)];
  return [typeof operator === 'string' && Object.hasOwn(operators, operator) ? operators[operator] : operator, operand];
}
