import { Failure, unless } from '../../core/failure.ts';
import { type Answer, foreignBody, redirectFailure } from '../http/answer.ts';
import { phoneCode, type LicenseFields } from '../../schema/license.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { errorInside, findLicense, isNothing, type LicensingConnection, refuse } from './license-answer.ts';
import { differencesFrom, hasKeyOf, type EditedFields, type License, licenseNames, textOf } from './license.ts';

/** What is known after a POST (docs/exactly-once.md, States of a request). A refusal is thrown. */
export type Creation = AnsweredCreation | UnansweredCreation;

/** The server said that it carried the request out: it is never sent again, and only a list confirms it. */
export interface AnsweredCreation {
  readonly state: 'answered';
  readonly http: Answer['http'];
  readonly license: License | undefined;
  /** `as asked`: it has a key and differs in nothing; `of several users`: its key was given to others too. */
  readonly license_is: 'as asked' | 'another' | 'of several users' | 'without a key';
  /** What a redirect says, in place of an answer. */
  readonly redirect?: string;
}

/** No answer, one of something else than the API, or an error inside a 2xx: a list settles it. */
interface UnansweredCreation {
  readonly state: 'unanswered';
  /** What to throw where no list settles it: kind `unknown`. */
  readonly failure: Failure;
}

/** What an answer to a POST says. @throws Failure for a refusal: then nothing was created */
export function creationFrom(answer: Answer, asked: LicenseFields, connection: LicensingConnection): Creation {
  if (answer.status >= 300 && answer.status < 400) return redirection(answer);
  refuse(answer);
  // A text that is neither a page nor cut JSON: the server says in its own words that it did it.
  const isPlainText = !/^\s*[<{["]|<\/?[a-z!][^>]*>/i.test(answer.text);
  if (answer.body === undefined && !isNothing(answer) && !isPlainText) {
    const { message, details } = foreignBody(answer, 'the licensing API');
    return unanswered(uncertain(`${message}; the license may or may not have been created`, details));
  }
  const error = errorInside(answer, 'license');
  if (error) return unanswered(uncertain(error.message, error.details));
  // What is answered stays so where the answer cannot be read.
  const license = unless(Failure, () => findLicense(answer, connection));
  const differs = license !== undefined && differencesFrom(asked, license).length > 0;
  const asAsked = license?.key === undefined || license.isPart ? 'without a key' : 'as asked';
  return { state: 'answered', http: sharedHttp(answer.http), license, license_is: differs ? 'another' : asAsked };
}

let lastHttp: Answer['http'] | undefined;

/** One object for answers alike: a roster of 100,000 rows keeps each, which would take 12 MB. */
function sharedHttp(http: Answer['http']): Answer['http'] {
  const isAlike = lastHttp?.url === http.url && lastHttp.status === http.status && lastHttp.method === http.method;
  if (!isAlike || !lastHttp) lastHttp = http;
  return lastHttp;
}

export function unanswered(failure: Failure): UnansweredCreation {
  return { state: 'unanswered', failure };
}

/** Servers redirect inside their own origin to what they have made; a portal or a new address is elsewhere. */
function redirection(answer: Answer): Creation {
  const { message, details } = redirectFailure(answer);
  const { http } = answer;
  const location = String(answer.headers['location']);
  // A redirect that names no URL may be one inside the origin.
  const url = URL.canParse(location, http.url) ? new URL(location, http.url) : undefined;
  if (url && url.origin !== new URL(http.url).origin) return unanswered(uncertain(message, details));
  return { state: 'answered', http, license: undefined, license_is: 'without a key', redirect: message };
}

/** The `unknown` failure of an answer that no list confirms, made on demand: a roster has many answers. */
export function notShown({ license, license_is, http, redirect }: AnsweredCreation, asked: LicenseFields): Failure {
  // The key itself is data, and printed as that.
  const said = {
    another: `the server answered with another license (${license?.key ?? 'without a key'})`,
    'of several users': `the server gave several users one key (${license?.key ?? ''})`,
    'as asked': `the server answered ${http.status} with a license whose key ends with ${license?.key?.slice(-4) ?? ''}`,
    'without a key': 'the server said that it created the license, without returning its key',
  }[license_is];
  const differences = license_is === 'another' && license ? `: ${differencesFrom(asked, license).join(', ')}` : '';
  return uncertain(redirect ?? `${said}${differences}`, { http });
}

export function otherKey({ remote_user }: LicenseFields, answered: License, listed: License): string {
  const [given, shown] = [answered, listed].map(({ key = '' }) => `a license whose key ends with ${key.slice(-4)}`);
  return `the server answered for ${remote_user} with ${given}, and its list gives that user ${shown}: the listed one counts`;
}

function uncertain(message: string, details: Failure['details']): Failure {
  return new Failure('unknown', message, { ...details, hint: undefined, retryable: false });
}

/** The license that a request is about: its code, what a list or a look showed before, and what is asked for. */
export interface Edit {
  readonly code: string;
  readonly fields: EditedFields;
  readonly before?: License | undefined;
}

/** What shows that a license is not the one that was asked about (docs/exactly-once.md, What a write answers). */
export function signsOfAnother(license: License, { code, fields, before }: Edit): string[] {
  const { key } = license;
  const isOther = key !== undefined && hasKeyOf({ key: code, fields: {} }, license) === false;
  const signs = isOther && phoneCode(key) !== phoneCode(code) ? [`a key that ends with ${key.slice(-4)}`] : [];
  for (const name of ['remote_user', 'app_code'] as const) {
    const [shown, was, asked] = [textOf(license, name), before && textOf(before, name), fields[name]];
    const wanted = asked ?? was;
    if (shown === undefined || wanted === undefined || shown === was || shown === String(wanted)) continue;
    signs.push(`${name} '${shown}' instead of '${wanted}'`);
  }
  return signs;
}

/**
 * The license after a change; if the answer differs, `view` reads it (docs/exactly-once.md, What a write answers).
 * @throws Failure not_found; rejected naming what still differs
 */
export async function editedFrom(
  answer: Answer,
  edit: Edit,
  connection: LicensingConnection,
  view: () => Promise<License>,
): Promise<License> {
  const { code, fields } = edit;
  refuse(answer, 'no license has this code');
  if (isNothing(answer)) return { key: code, fields: { license_code: code, ...fields } };
  const { body, http } = answer;
  if (body === undefined) throw foreignBody(answer, 'the licensing API');
  const refused = errorInside(answer, 'license');
  if (refused) return readBack(refused, view, edit);
  // One without a key, or with a part of it, is that of the path.
  const license = findLicense(answer, connection);
  const shown = license?.fields ?? (isObject(body) ? body : { license_code: code });
  const isWhole = license?.key !== undefined && !license.isPart;
  const edited = { key: isWhole ? license.key : code, fields: license?.isPart ? withCode(license, code) : shown };
  const signs = license ? signsOfAnother(license, edit) : [];
  const differences = signs.length > 0 ? signs : differencesFrom(fields, edited);
  if (differences.length === 0) return edited;
  const also = signs.length > 0 ? ': another license may have been changed' : '';
  const message = `the server answered the change with ${differences.join(', ')}${also}`;
  return readBack(new Failure('rejected', message, { http }), view, edit);
}

function withCode({ key, fields }: License, code: string): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value === key ? code : value]));
}

/** Settles a change by reading the license: it must be as asked. What cannot be read settles nothing. */
async function readBack(refused: Failure, view: () => Promise<License>, edit: Edit): Promise<License> {
  const { fields } = edit;
  try {
    const license = await view();
    const differences = [...new Set([...signsOfAnother(license, edit), ...differencesFrom(fields, license)])];
    const read = `${refused.message}; read back, the license has ${differences.join(', ')}`;
    if (differences.length > 0) throw new Failure('rejected', read, refused.details);
    if (licenseNames.some((name) => fields[name] !== undefined && textOf(license, name) === undefined)) throw refused;
    return license;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    throw cause.kind === 'rejected' ? cause : refused;
  }
}
