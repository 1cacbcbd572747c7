import type { Failure } from '../../core/failure.ts';
import { messageParameters } from '../../schema/messages.ts';
import { narrowLevels, termLevel } from '../../schema/narrow.ts';
import { partsOf } from '../../schema/selection.ts';
import { isObject, writeJson } from '../../core/json.ts';
import type { Answer } from '../http/answer.ts';
import type { Send } from '../http/call.ts';
import { lacking, refusal } from './chat-answer.ts';
import { type CallLimits, type MessageQuery, messagesCall } from './chat-messages.ts';

/** GET /messages in the newest words until the server proves older. @throws Failure rejected for a narrow it refuses */
export function asksInKnownWords(
  send: Send,
  level: () => Promise<number | undefined>,
): (query: MessageQuery, limits?: CallLimits) => Promise<Answer> {
  let wordsLevel = Infinity;
  return async (query, limits) => {
    const { narrow = [] } = query;
    const get = (): Promise<Answer> =>
      send({ ...messagesCall({ ...query, narrow: legacyNarrow(narrow, wordsLevel) }), ...limits });
    const first = await get();
    const own = first.status === 400 && query.message_ids ? await level() : undefined;
    const { level: needed } = messageParameters.message_ids;
    if (own !== undefined && own < needed) throw lacking('requests by --ids', needed, own, first.http);
    if (narrow.length === 0 || !isBadNarrow(first)) return first;
    const hasOldWords = wordsLevel === Infinity && writeJson(legacyNarrow(narrow, 0)) !== writeJson(narrow);
    const found = hasOldWords || levelsOf(narrow).length > 0 ? await level() : undefined;
    if (!hasOldWords || found === undefined || found >= narrowLevels.channel) throw narrowRefusal(first, narrow, found);
    wordsLevel = found;
    const second = await get();
    if (isBadNarrow(second)) throw narrowRefusal(second, narrow, found);
    return second;
  };
}

/** Whether the server could not read the narrow: BAD_REQUEST names an unknown type of an operand too. */
function isBadNarrow(answer: Answer): boolean {
  // `body` parses the answer when it is first read: of a page of messages that costs twice what its scan does.
  if (answer.status !== 400 || !isObject(answer.body)) return false;
  return answer.body['code'] === 'BAD_NARROW' || /\b(?:narrow|operand)\b/i.test(String(answer.body['msg']));
}

/** The refusal of a narrow, explained by the level of the server or by addresses that the organization hides. */
function narrowRefusal(answer: Answer, narrow: readonly unknown[], level: number | undefined): Failure {
  const refused = refusal(answer, 'rejected');
  const newer = levelsOf(narrow).filter((term) => level !== undefined && term.level > level);
  if (newer.length > 0) {
    const needs = newer.map((term) => `${term.name} needs level ${term.level}`).join(', ');
    return refused.as('rejected', `${needs}; this server has ${String(level)}`, {
      hint: 'Leave it out, or choose another server with --profile.',
    });
  }
  if (!/unknown user/.test(refused.details.server?.msg ?? '')) return refused;
  const namesAddress = narrow.some((term) => String(partsOf(term)[1]).includes('@'));
  const hidden = 'The organization may hide addresses: name the user by the id (sender_id in a message).';
  const hint = namesAddress ? hidden : 'Give the complete name, an address, or an id (sender_id in a message).';
  return refused.as('rejected', refused.message, { hint });
}

function levelsOf(narrow: readonly unknown[]) {
  return narrow.flatMap((term) => termLevel(...partsOf(term)) ?? []);
}

/** Operators of old servers (docs/apis.md, Narrow operators); the new servers take these too. */
const operators: Readonly<Record<string, string>> = { channel: 'stream', channels: 'streams', dm: 'pm-with' };

function legacyNarrow(narrow: readonly unknown[] | undefined, level: number): readonly unknown[] | undefined {
  if (level >= narrowLevels.channel) return narrow;
  return narrow?.map((term) => {
    const [operator, operand] = legacyWords(...partsOf(term), level);
    if (Array.isArray(term)) return [operator, operand];
    return isObject(term) ? { ...term, operator, operand } : term;
  });
}

function legacyWords(operator: unknown, operand: unknown, level: number): readonly [unknown, unknown] {
  if (operator === 'is' && operand === 'dm') return [operator, 'private'];
  if (operator === 'id' && typeof operand === 'number' && level < narrowLevels.integerId)
    return [operator, String(operand)];
  return [typeof operator === 'string' && Object.hasOwn(operators, operator) ? operators[operator] : operator, operand];
}
