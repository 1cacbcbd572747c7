import { Failure } from '../../core/failure.ts';
import { licenseFields, licenseKeyFields } from '../../schema/license.ts';
import { foreignBody, isObject, isSuccess, redirected, shortened, wordsOf, type JsonObject } from '../http/answer.ts';
import type { Answer, Send } from '../http/call.ts';
import { findKey, withKeyField, type License } from './license-key.ts';

/** How to reach one application, found out when the first call is made. */
export interface LicensingLine {
  readonly send: Send;
  /** The profile's name for the field that holds the key. */
  readonly key_field?: string | undefined;
}

export function rowOf(row: unknown, answer: Answer, line: LicensingLine): License {
  if (isObject(row)) return withKeyField(row, line.key_field);
  if (typeof row === 'string' || typeof row === 'number' || typeof row === 'bigint') return { license_code: row };
  throw unreadable(answer, 'a row that is no license');
}

export function licenseOf(answer: Answer, line: LicensingLine): License {
  if (answer.body === undefined) throw foreignBody(answer, 'the licensing API');
  const only = Array.isArray(answer.body) && answer.body.length === 1 ? (answer.body[0] as unknown) : answer.body;
  if (!isObject(only)) return rowOf(only, answer, line);
  const [inner, ...others] = Object.values(only).filter((value) => isObject(value));
  const outer = withKeyField(only, line.key_field);
  return inner && others.length === 0 && isWrapper(outer, inner, line) ? withKeyField(inner, line.key_field) : outer;
}

/** Whether the license is the inner object: a text such as `message` beside it is not the key. */
function isWrapper(outer: License, inner: JsonObject, { key_field }: LicensingLine): boolean {
  if (isLicense(outer)) return false;
  if (findKey(outer) === undefined) return true;
  const isNamed = key_field !== undefined || licenseKeyFields.some((name) => typeof outer[name] === 'string');
  return isLicense(inner) && !isNamed;
}

/** Whether it has a field of a license that the specification names. */
function isLicense(value: JsonObject): boolean {
  return 'remote_user' in value || 'size_allowance' in value;
}

/** @throws Failure unavailable naming the fields of what is no license */
export function shownLicense(answer: Answer, line: LicensingLine): License {
  const license = licenseOf(answer, line);
  if (isOfThisApi(license)) return license;
  throw unreadable(answer, 'no license');
}

/** Whether an object is of this API at all: it holds a key, or one of the fields that every license has. */
function isOfThisApi(license: License): boolean {
  return findKey(license) !== undefined || Object.keys(licenseFields).some((name) => license[name] !== undefined);
}

export function isNothing({ text, body }: Answer): boolean {
  if (text.trim() === '' || body === null || body === '') return true;
  return typeof body === 'object' && Object.keys(body).length === 0;
}

/** Throws what a refusal means; `missing` is what a 404 of a single thing says. */
export function refuse(answer: Answer, missing?: string): void {
  if (isSuccess(answer)) return;
  const { status, http } = answer;
  const said = shortened(explain(answer));
  const server = { msg: said };
  if (status >= 300 && status < 400) throw redirected(answer);
  if (status === 401 || status === 403) {
    throw new Failure('auth', `the licensing API refused the key or the right (${status}): ${said}`, {
      hint: 'Check the stored key: chatelaine auth status.',
      http,
      server,
    });
  }
  if (status === 404 && missing !== undefined) {
    const hint = isPage(answer) ? 'The answer is an HTML page: the base URL of the profile may be wrong.' : undefined;
    throw new Failure('not_found', missing, { hint, http, server });
  }
  if (status >= 500) {
    throw new Failure('unavailable', `the licensing API is in trouble (${status}): ${said}`, {
      hint: 'Run the command again later.',
      http,
      server,
    });
  }
  throw new Failure('rejected', `the licensing API refused the request (${status}): ${said}`, {
    hint: status === 404 ? 'Check the base URL of the profile: it stands before /v1.' : undefined,
    http,
    server,
  });
}

/** Errors have no specified shape: `detail`, lists by field, or the text itself. */
function explain({ body, text }: Answer): string {
  if (isObject(body)) {
    const { detail } = body;
    if (typeof detail === 'string') return detail;
    return Object.entries(body)
      .map(
        ([name, value]) =>
          `${name}: ${Array.isArray(value) ? value.map((item) => wordOf(item)).join(' ') : wordOf(value)}`,
      )
      .join('; ');
  }
  if (Array.isArray(body)) return body.map((item) => wordOf(item)).join(' ');
  return typeof body === 'string' ? body : wordsOf(text.slice(0, 20_000)) || 'no reason given';
}

export function wordOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
}

function isPage({ text }: Answer): boolean {
  return /^\s*</.test(text);
}

export function inDoubt(answer: Answer): Failure {
  const { message, details } = foreignBody(answer, 'the licensing API');
  return new Failure('unknown', `${message}; the license may or may not have been created`, {
    ...details,
    retryable: false,
  });
}

export function unreadable(answer: Answer, what: string): Failure {
  const names =
    isObject(answer.body) && Object.keys(answer.body).length > 0
      ? ` (its fields: ${Object.keys(answer.body).join(', ')})`
      : '';
  return new Failure('unavailable', `the licensing API answered ${what}${names}`, {
    hint: 'Check the base URL of the profile.',
    http: answer.http,
    retryable: false,
  });
}
