import { Failure, usage } from '../../core/failure.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import type { Answer } from '../http/answer.ts';
import type { Parameters } from '../http/call.ts';

/**
 * The parameters of the messages after those of an answer, in the direction of the first request; undefined after the last page, and
 * for an answer without messages (docs/apis.md, Paging).
 * @throws Failure incomplete where the server has more messages and names none
 */
export function nextMessages(query: Parameters, answer: Answer): Parameters | undefined {
  const { body, http } = answer;
  if (!isObject(body) || !Array.isArray(body['messages']) || has(query, 'message_ids')) return undefined;
  const end = isPositive(query, 'num_after') ? 'found_newest' : 'found_oldest';
  const messages: readonly unknown[] = body['messages'];
  if (isLast(body, end, messages.length)) return undefined;
  const edge = end === 'found_newest' ? messages.at(-1) : messages[0];
  if (!isObject(edge) || typeof edge['id'] !== 'number')
    throw new Failure('incomplete', 'the server says that there are more messages, and sends none', { http });
  const others = query.filter(([name]) => name !== 'anchor' && name !== 'include_anchor');
  return [['anchor', String(edge['id'])], ...others, ['include_anchor', 'false']];
}

/** @throws Failure usage where both numbers ask for messages: the pages after such a page go two ways */
export function refuseTwoWays(query: Parameters): void {
  if (isPositive(query, 'num_before') && isPositive(query, 'num_after'))
    throw usage('--paginate goes one way', 'Give 0 as num_before or as num_after.');
}

function isLast(body: JsonObject, end: 'found_newest' | 'found_oldest', count: number): boolean {
  const isLimited = body['history_limited'] === true;
  if (isLimited && count === 0) return true;
  // Where the plan hides messages, `found_newest` counts hidden ones (docs/apis.md, Limited history).
  return body[end] === true && !(isLimited && end === 'found_newest');
}

function has(query: Parameters, wanted: string): boolean {
  return query.some(([name]) => name === wanted);
}

function isPositive(query: Parameters, wanted: string): boolean {
  return query.some(([name, text]) => name === wanted && Number(text) > 0);
}
