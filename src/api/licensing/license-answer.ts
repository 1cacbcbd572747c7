import { quantity } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import { errorFields, guessedKeyFields, isSameSensor, namedKeyFields } from '../../schema/license.ts';
import { isObject, writeJson } from '../../core/json.ts';
import {
  type Answer,
  bounded,
  foreignBody,
  isPage,
  isRedirect,
  isSuccess,
  pageHint,
  redirectFailure,
  wordsOf,
} from '../http/answer.ts';
import type { Send } from '../http/call.ts';
import { isTrouble } from '../http/transport-error.ts';
import { innerObject, isLicense, type License, licenseFrom, licenseNames } from './license.ts';

export interface LicensingConnection {
  readonly send: Send;
  /** The profile's name for the field that holds the key. */
  readonly key_field?: string | undefined;
}

/** The license in an answer, alone or inside an object. @throws Failure unavailable naming the fields where none is */
export function licenseOf(answer: Answer, connection: LicensingConnection): License {
  const license = findLicense(answer, connection);
  if (license) return license;
  throw answer.body === undefined ? foreignBody(answer, 'the licensing API') : unreadable(answer, 'no license');
}

/** Undefined where nothing in the body is of a license. */
export function findLicense({ body }: Answer, { key_field }: LicensingConnection): License | undefined {
  const license = isObject(body) ? licenseFrom(body, key_field) : undefined;
  const isNone = license?.key === undefined && !licenseNames.some((name) => license?.fields[name] !== undefined);
  return isNone ? undefined : license;
}

export function isNothing({ text, body }: Answer): boolean {
  if (text.trim() === '' || body === null || body === '') return true;
  return typeof body === 'object' && Object.keys(body).length === 0;
}

/** Throws the failure of a refusal; `missing` is the message for a 404 of a single thing. */
export function refuse(answer: Answer, missing?: string): void {
  if (isSuccess(answer)) return;
  const { status, http } = answer;
  if (isRedirect(answer)) throw redirectFailure(answer);
  const said = bounded(explain(answer));
  const failure = (kind: FailureKind, message: string, hint?: string): Failure =>
    new Failure(kind, message, { hint, http, server: { msg: said } });
  if (status === 401 || status === 403) {
    const who = isPage(answer) ? 'or a proxy in front of it refused' : 'refused the key or the permission';
    throw failure('auth', `the licensing API ${who} (${status}): ${said}`, isPage(answer) ? pageHint : wrongKey);
  }
  if (status === 404 && missing !== undefined)
    throw failure('not_found', missing, isPage(answer) ? wrongUrl : undefined);
  if (isTrouble(status))
    throw failure('unavailable', `the licensing API failed (${status}): ${said}`, 'Run the command again later.');
  const hint = status === 404 ? 'Check the base URL of the profile: it is the part before /v1.' : undefined;
  throw failure('rejected', `the licensing API refused the request (${status}): ${said}`, hint);
}

const wrongKey =
  'Check that the key belongs to this URL and application. To try every key that is set or stored: chatelaine doctor';
const wrongUrl = 'The response is an HTML page: the base URL of the profile may be wrong.';

export function refuseError(answer: Answer, subject: AnswerSubject): void {
  const refusal = errorInside(answer, subject);
  if (refusal) throw refusal;
}

/** The refusal in the body of a 2xx; undefined where it says no error (docs/exactly-once.md, Errors inside 200). */
export function errorInside(answer: Answer, subject: AnswerSubject): Failure | undefined {
  const { body, http } = answer;
  if (!isObject(body)) return undefined;
  const isError = statusFields.some((name) => (subject === 'list' ? errorOfList : errorWord).test(String(body[name])));
  if (!isError && !errorFields.some((name) => isSaid(body[name]))) return undefined;
  const objects = subject === 'list' ? [] : [body, innerObject(body)].filter((object) => object !== undefined);
  const parts = subject === 'first activation' ? ['mac_address', 'license'] : [];
  if (objects.some((object) => isLicense(object) || parts.some((name) => isSaid(object[name])))) return undefined;
  const said = bounded(explain(answer));
  return new Failure('rejected', `the licensing API returned ${answer.status} with an error: ${said}`, {
    http,
    server: { msg: said },
  });
}

/** @throws Failure unavailable for a first activation of another sensor or application than was asked for */
export function refuseOther(
  { body, http }: Answer,
  { fields }: License,
  { mac_address, app_code }: { readonly mac_address: string; readonly app_code?: number | undefined },
): void {
  for (const object of isObject(body) ? [body, fields] : [fields]) {
    const { mac_address: sensor, app_code: app } = object;
    const isOther = typeof sensor === 'string' && !isSameSensor(sensor, mac_address);
    const isOtherApp = app_code !== undefined && /^\d+$/.test(wordOf(app)) && wordOf(app) !== String(app_code);
    if (!isOther && !isOtherApp) continue;
    const named = isOther
      ? `sensor ${sensor} instead of ${mac_address}`
      : `application ${wordOf(app)} instead of ${app_code}`;
    throw new Failure('unavailable', `the licensing API returned the ${named}: this response is not used`, {
      hint: 'Check the base URL of the profile, and any cache between it and this machine.',
      http,
      retryable: false,
    });
  }
}

/** The words of an error, which has no specified shape: `detail`, lists by field, or the text. Keys are left out. */
function explain({ body, text }: Answer): string {
  const said = withoutKeys(body);
  const words = (value: unknown): string => (Array.isArray(value) ? value.map(wordOf).join(' ') : wordOf(value));
  if (isObject(said)) {
    const { detail } = said;
    if (typeof detail === 'string' && detail !== '') return detail;
    return Object.entries(said)
      .map(([name, value]) => `${name}: ${words(value)}`)
      .join('; ');
  }
  if (Array.isArray(said)) return words(said);
  return typeof said === 'string' ? said : wordsOf(text.slice(0, 20_000)) || 'no reason given';
}

/** Replaces a list of licenses by its length, and keys by a placeholder; a value with blanks is not a key. */
function withoutKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.some(isRow) ? quantity(value.length, 'license') : value.map(withoutKeys);
  if (!isObject(value)) return value;
  const names: readonly string[] = isRow(value) ? [...namedKeyFields, ...guessedKeyFields] : namedKeyFields;
  const isKey = (name: string, item: unknown): boolean =>
    names.includes(name) && (typeof item === 'number' || (typeof item === 'string' && !/\s/.test(item)));
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, item]) => [name, isKey(name, item) ? '[license_code]' : withoutKeys(item)]),
  );
}

/** Whether the value is a license, and not a set of errors by the names of its fields. */
function isRow(value: unknown): boolean {
  if (!isObject(value) || typeof value['remote_user'] !== 'string') return false;
  return ['size_allowance', 'app_code'].some((name) => /^\d+$/.test(String(value[name])));
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : writeJson(value);
}

/** The answer is of this API, but not what was asked for: names the fields that it has. */
export function unreadable(answer: Answer, what: string): Failure {
  const names = isObject(answer.body) ? Object.keys(answer.body).join(', ') : '';
  const fields = names === '' ? '' : ` (fields: ${names})`;
  return new Failure('unavailable', `the response of the licensing API contains ${what}${fields}`, {
    hint: 'Check the base URL of the profile.',
    http: answer.http,
    retryable: false,
  });
}

/** What was requested: beside the rows of a list an error always counts, beside a license it does not. */
type AnswerSubject = 'list' | 'license' | 'first activation';

const statusFields = ['success', 'ok', 'status', 'result', 'code', 'statusCode'] as const;
const errorWord = /^(false|error|fail|failed|failure)$/i;
/** With 404, servers also say of a user that there is no license. */
const errorOfList = /^(false|error|fail|failed|failure|(?!404)[45]\d\d)$/i;

/** Anything but null, false, an empty text, an empty list and an empty object. */
export function isSaid(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
