import { errorFields } from '../../schema/license.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { innerObject, isLicense } from './license-key.ts';

/** What is asked for: beside rows the words of an error count always, beside a license they do not. */
export type AnswerSubject = 'list' | 'license' | 'first activation';

/** Whether the body of a 2xx says that the request failed (docs/exactly-once.md, Errors inside 200). */
export function saysError(body: unknown, subject: AnswerSubject): boolean {
  if (!isObject(body) || !hasErrorWords(body)) return false;
  if (subject === 'list') return true;
  return ![body, innerObject(body)].some((object) => object !== undefined && isAnswered(object, subject));
}

function isAnswered(object: JsonObject, subject: AnswerSubject): boolean {
  if (isLicense(object)) return true;
  return subject === 'first activation' && ['mac_address', 'license'].some((name) => isSaid(object[name]));
}

const statusFields = ['status', 'result'] as const;
const errorWords: ReadonlySet<unknown> = new Set(['error', 'fail', 'failed', 'failure']);

function hasErrorWords(body: JsonObject): boolean {
  return (
    errorFields.some((name) => isSaid(body[name])) ||
    body['success'] === false ||
    statusFields.some((name) => errorWords.has(body[name]))
  );
}

/** Anything but null, false, an empty text, an empty list and an empty object. */
function isSaid(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
