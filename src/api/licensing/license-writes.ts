import { Failure } from '../../core/failure.ts';
import { type Answer, foreignBody, isRedirect, redirectFailure } from '../http/answer.ts';
import { phoneCode, type LicenseFields } from '../../schema/license.ts';
import { errorInside, findLicense, isNothing, type LicensingConnection, refuse } from './license-answer.ts';
import { differencesFrom, type EditedFields, isMasked, type License, licenseNames, textOf } from './license.ts';
import { isStoredFor } from './likeness.ts';

/** What is known after a POST (docs/exactly-once.md, A request without a response). A refusal is thrown. */
export type Creation = AnsweredCreation | UnansweredCreation;

/** The server said that it carried the request out: it is never sent again, and only a list confirms it. */
export interface AnsweredCreation {
  readonly state: 'answered';
  readonly status: number;
  readonly license: License | undefined;
  /** `as asked`: it has a key and differs in nothing; `of several users`: its key was given to others too. */
  readonly license_is: 'as asked' | 'another' | 'of several users' | 'without a key';
  /** What a redirect says, in place of an answer. */
  readonly redirect?: string;
}

/** No answer, one that is not from the API, or an error inside a 2xx: a list shows whether the license was created. */
interface UnansweredCreation {
  readonly state: 'unanswered';
  /** The failure, of kind `unknown`, to throw where no list settles the request. */
  readonly failure: Failure;
}

/** Judges the answer to a POST. @throws Failure for a refusal: then nothing was created */
export function creationFrom(answer: Answer, asked: LicenseFields, connection: LicensingConnection): Creation {
  if (isRedirect(answer)) return redirection(answer);
  refuse(answer);
  // A text that is neither a page nor cut JSON says in the server's own words that the license was created.
  const isPlainText = !/^\s*[<{["]|<\/?[a-z!][^>]*>/i.test(answer.text);
  if (answer.body === undefined && !isNothing(answer) && !isPlainText) {
    const { message, details } = foreignBody(answer, 'the licensing API');
    const failure = uncertain(`${message}; the license may or may not have been created`, details);
    return { state: 'unanswered', failure };
  }
  const error = errorInside(answer, 'license');
  if (error) return { state: 'unanswered', failure: uncertain(error.message, error.details) };
  const license = findLicense(answer, connection);
  const differs = license !== undefined && differencesFrom(asStored(asked, license), license).length > 0;
  const asAsked = license?.key === undefined || isMasked(license.key) ? 'without a key' : 'as asked';
  return { state: 'answered', status: answer.status, license, license_is: differs ? 'another' : asAsked };
}

/** A name in the spelling in which the server keeps it is no difference. */
function asStored(asked: LicenseFields, license: License): EditedFields {
  const name = textOf(license, 'remote_user');
  return name !== undefined && isStoredFor(name, asked.remote_user) ? { ...asked, remote_user: name } : asked;
}

/** Servers redirect inside their own origin to what they have made; a portal or a new address is elsewhere. */
function redirection(answer: Answer): Creation {
  const failure = redirected(answer);
  const { http, status } = answer;
  const location = String(answer.headers['location']);
  // A redirect that names no URL may be one inside the origin.
  const url = URL.canParse(location, http.url) ? new URL(location, http.url) : undefined;
  if (url && url.origin !== new URL(http.url).origin) return { state: 'unanswered', failure };
  return { state: 'answered', status, license: undefined, license_is: 'without a key', redirect: failure.message };
}

/** The failure of a redirected write is `unknown`: servers redirect after a write that they have processed, too. */
function redirected(answer: Answer): Failure {
  const { message, details } = redirectFailure(answer);
  return uncertain(message, details);
}

/** The `unknown` failure of an answer that no list confirms, made on demand: a roster has many answers. */
export function notShown({ license, license_is, status, redirect }: AnsweredCreation, asked: LicenseFields): Failure {
  const end = license?.key === undefined ? 'without a key' : `its key ends with ${license.key.slice(-4)}`;
  const said = {
    another: `the server returned another license (${end})`,
    'of several users': `the server gave several users one license (${end})`,
    'as asked': `the server returned ${status} with a license (${end})`,
    'without a key': 'the server said that it created the license, without returning its key',
  }[license_is];
  const differences = license_is === 'another' && license ? `: ${differencesFrom(asked, license).join(', ')}` : '';
  return uncertain(redirect ?? `${said}${differences}`);
}

function uncertain(message: string, details: Failure['details'] = {}): Failure {
  return new Failure('unknown', message, { ...details, hint: undefined, retryable: false });
}

/** The change of a license: its code, the license as a list or a GET showed it before, and the requested values. */
export interface Edit {
  readonly code: string;
  readonly fields: EditedFields;
  readonly before?: License | undefined;
  readonly method?: 'PUT' | 'PATCH' | undefined;
  /** Called right before each attempt. */
  readonly attempt?: (() => Promise<void>) | undefined;
}

/** Signs that a license is not the one that was asked about (docs/exactly-once.md, What a write answers). */
export function signsOfAnother(license: License, { code, fields, before }: Edit): string[] {
  const { key } = license;
  const isOther = key !== undefined && !isMasked(key) && phoneCode(key) !== phoneCode(code);
  const signs = isOther ? [`a key that ends with ${key.slice(-4)}`] : [];
  for (const name of ['remote_user', 'app_code'] as const) {
    const [shown, was, asked] = [textOf(license, name), before && textOf(before, name), fields[name]];
    const wanted = asked ?? was;
    if (shown === undefined || wanted === undefined || shown === was || shown === String(wanted)) continue;
    signs.push(`${name} '${shown}' instead of '${wanted}'`);
  }
  return signs;
}

/**
 * The license after a change. A response that does not show each asked value proves nothing, and the license is read
 * back (docs/exactly-once.md, What a write answers).
 * @throws Failure not_found; rejected naming what still differs; unknown where the license cannot be read
 */
export async function editedFrom(
  answer: Answer,
  edit: Edit,
  connection: LicensingConnection,
  view: () => Promise<License>,
): Promise<License> {
  if (!isRedirect(answer)) refuse(answer, 'no license has this code');
  const error = isRedirect(answer) ? redirected(answer) : errorInside(answer, 'license');
  const license = error ? undefined : findLicense(answer, connection);
  const signs = license ? signsOfAnother(license, edit) : [];
  const differences = license && signs.length === 0 ? differencesFrom(edit.fields, license) : signs;
  if (license && differences.length === 0 && missingIn(license, edit).length === 0) return withCode(license, edit);
  const also = signs.length > 0 ? ': another license may have been changed' : '';
  const what = differences.length > 0 ? `${differences.join(', ')}${also}` : 'a response that does not show it';
  const failure = error ?? uncertain(`the server answered the change with ${what}`, { http: answer.http });
  const read = await view().catch((cause: unknown) => {
    if (!(cause instanceof Failure)) throw cause;
    // A new Failure, since the interruption's own would say that the change was not sent.
    const { kind } = cause.isInterruption ? cause : failure;
    throw failure.as(kind, `${failure.message}; the license could not be read back: ${cause.message}`);
  });
  const left = [...new Set([...signsOfAnother(read, edit), ...differencesFrom(edit.fields, read)])];
  if (left.length > 0)
    throw failure.as('rejected', `${failure.message}; read back, the license has ${left.join(', ')}`);
  // Some servers never show a value: only a response that says nothing against the change is then enough.
  if ((error || differences.length > 0) && missingIn(read, edit).length > 0) throw failure;
  return withCode(read, edit);
}

function missingIn(license: License, { fields }: Edit): readonly string[] {
  return licenseNames.filter((name) => fields[name] !== undefined && textOf(license, name) === undefined);
}

/** Fills in the key of the request where the response has none, or a masked one. */
function withCode({ key, fields }: License, { code }: Edit): License {
  if (key !== undefined && !isMasked(key)) return { key, fields };
  const whole = Object.entries(fields).map(([name, value]) => [name, value === key ? code : value] as const);
  return { key: code, fields: Object.fromEntries(whole) };
}
