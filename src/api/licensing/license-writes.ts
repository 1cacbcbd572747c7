import { Failure } from '../../core/failure.ts';
import { type Answer, foreignBody, redirected } from '../http/answer.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { isObject } from '../../core/json.ts';
import type { Path } from '../http/call.ts';
import { errorInside, findLicense, isNothing, type LicensingConnection, refuse, saysError } from './license-answer.ts';
import { differencesFrom, type EditedFields, type License, textOf } from './license.ts';

/** What is known after a POST (docs/exactly-once.md, States of a request). A refusal is thrown. */
export type Creation = AnsweredCreation | UnansweredCreation;

/** The server said that it carried the request out: it is never sent again, and only a list confirms it. */
export interface AnsweredCreation {
  readonly state: 'answered';
  readonly http: Answer['http'];
  /** The license in the answer; undefined where there was none. */
  readonly license: License | undefined;
  /** `as asked`: it has a key, and nothing of it differs from what was asked for. */
  readonly license_is: 'as asked' | 'another' | 'without a key';
  /** What a redirect says, in place of an answer. */
  readonly redirect?: string;
}

/** No answer came, or one of something else than the API, or an error inside a 2xx: a list settles it, and it may be sent again. */
interface UnansweredCreation {
  readonly state: 'unanswered';
  /** Whether the server may be gone: nothing of the API was heard. */
  readonly heard: 'nothing' | 'an error';
  /** What to throw where no list settles it: kind `unknown`. */
  readonly failure: Failure;
}

/**
 * Judges the answer to a POST.
 * @throws Failure for a refusal: then nothing was created
 */
export function creationFrom(answer: Answer, asked: LicenseFields, connection: LicensingConnection): Creation {
  if (answer.status >= 300 && answer.status < 400) return redirection(answer);
  refuse(answer);
  // A text that is neither a page nor cut JSON: the server says in its own words that it did it.
  const isPlainText = !/^\s*[<{["]|<\/?[a-z!][^>]*>/i.test(answer.text);
  if (answer.body === undefined && !isNothing(answer) && !isPlainText) {
    const { message, details } = foreignBody(answer, 'the licensing API');
    return unanswered(uncertain(`${message}; the license may or may not have been created`, details));
  }
  if (saysError(answer.body, 'license')) {
    const { message, details } = errorInside(answer);
    return { state: 'unanswered', heard: 'an error', failure: uncertain(message, details) };
  }
  return answered(findAnswered(answer, connection), answer, asked);
}

/** What is answered stays so where the answer cannot be read. */
function findAnswered(answer: Answer, connection: LicensingConnection): License | undefined {
  try {
    return findLicense(answer, connection);
  } catch (cause) {
    if (cause instanceof Failure) return undefined;
    throw cause;
  }
}

/** The outcome where the request ended without an answer of the API. */
export function unanswered(failure: Failure): UnansweredCreation {
  return { state: 'unanswered', heard: 'nothing', failure };
}

/** Servers redirect inside their own origin to what they have made; a portal or a new address is elsewhere. */
function redirection(answer: Answer): Creation {
  const { message, details } = redirected(answer);
  const { headers, http } = answer;
  const { location } = headers;
  // A redirect that names no URL may be one inside the origin.
  const isNamed = typeof location === 'string' && URL.canParse(location, http.url);
  if (isNamed && new URL(location, http.url).origin !== new URL(http.url).origin)
    return unanswered(uncertain(message, details));
  return { state: 'answered', http, license: undefined, license_is: 'without a key', redirect: message };
}

function answered(license: License | undefined, { http }: Answer, asked: LicenseFields): AnsweredCreation {
  const differs = license !== undefined && differencesFrom(asked, license).length > 0;
  const asAsked = license?.key === undefined ? 'without a key' : 'as asked';
  return { state: 'answered', http, license, license_is: differs ? 'another' : asAsked };
}

/** What to throw where no list shows the license of an answer: kind `unknown`. Made when it is needed, since a roster has many answers. */
export function notShown({ license, http, redirect }: AnsweredCreation, asked: LicenseFields): Failure {
  return uncertain(redirect ?? answerInWords(license, http.status, asked), { http });
}

function answerInWords(license: License | undefined, status: number, asked: LicenseFields): string {
  const differences = license ? differencesFrom(asked, license) : [];
  if (license && differences.length > 0)
    return `the server answered with another license (${license.key ?? 'without a key'}): ${differences.join(', ')}`;
  // The key itself is data, and printed as that.
  if (license?.key !== undefined)
    return `the server answered ${status} with a license whose key ends with ${license.key.slice(-4)}`;
  return 'the server said that it created the license, without returning its key';
}

function uncertain(message: string, details: Failure['details']): Failure {
  return new Failure('unknown', message, { ...details, hint: undefined, retryable: false });
}

interface Editing {
  readonly open: () => Promise<LicensingConnection>;
  readonly view: (code: string) => Promise<License>;
  readonly pathOf: (code: string) => Path;
}

/**
 * Changes a license and compares the answer with what was asked for. After a difference, or an error inside a success, the license is
 * read back once (docs/exactly-once.md, What a write answers).
 * @throws Failure not_found; rejected naming what the license still says otherwise
 */
export async function editLicense(
  method: 'PUT' | 'PATCH',
  code: string,
  fields: EditedFields,
  { open, view, pathOf }: Editing,
): Promise<License> {
  const connection = await open();
  const answer = await connection.send({ method, path: pathOf(code), json: fields, repeat: 'safe' });
  refuse(answer, 'no license has this code');
  if (isNothing(answer)) return { key: code, fields: { license_code: code, ...fields } };
  if (answer.body === undefined) throw foreignBody(answer, 'the licensing API');
  const refused = saysError(answer.body, 'license') ? errorInside(answer) : undefined;
  const answered = editedLicense(answer, code, connection);
  const differences = refused ? [] : differencesFrom(fields, answered);
  if (!refused && differences.length === 0) return answered;
  const { http } = answer;
  const message = `the server answered the change with ${differences.join(', ')}`;
  return readBack(refused ?? new Failure('rejected', message, { http }), () => view(code), fields);
}

/** The answered license; one without a key is that of the path. */
function editedLicense(answer: Answer, code: string, connection: LicensingConnection): License {
  const license = findLicense(answer, connection);
  const { body } = answer;
  return { key: license?.key ?? code, fields: license?.fields ?? (isObject(body) ? body : { license_code: code }) };
}

/** Settles a change by reading the license: what was asked for must be there now. A license that cannot be read settles nothing. */
async function readBack(refused: Failure, view: () => Promise<License>, fields: EditedFields): Promise<License> {
  try {
    const license = await view();
    if (hasAll(license, fields)) return license;
    const differences = differencesFrom(fields, license);
    if (differences.length === 0) throw refused;
    throw new Failure(
      'rejected',
      `${refused.message}; read back, the license has ${differences.join(', ')}`,
      refused.details,
    );
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    throw cause.kind === 'rejected' ? cause : refused;
  }
}

function hasAll(license: License, fields: EditedFields): boolean {
  return (['remote_user', 'app_code', 'size_allowance'] as const).every(
    (name) => fields[name] === undefined || textOf(license, name) === String(fields[name]),
  );
}
