import { Failure } from '../../core/failure.ts';
import { type Answer, foreignBody, redirected } from '../http/answer.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { saysError } from './answer-error.ts';
import { differencesFrom, type License } from './license.ts';
import { errorInside, findLicense, isNothing, refuse, type LicensingLine } from './license-answer.ts';

/** What is known after a POST (docs/exactly-once.md, States of a request). A refusal is thrown. */
export type Creation = AnsweredCreation | UnansweredCreation;

/** The server said that it carried the request out: it is never sent again, and only a list confirms it. */
export interface AnsweredCreation {
  readonly state: 'answered';
  readonly status: number;
  /** The license in the answer; undefined where there was none. */
  readonly license: License | undefined;
  /** `as asked`: it has a key, and nothing of it differs from what was asked for. */
  readonly license_is: 'as asked' | 'another' | 'without a key';
  /** What to throw where no list shows the license: kind `unknown`. */
  readonly failure: Failure;
}

/** No answer came, or one of something else than the API, or an error inside a 2xx: a list settles it, and it may be sent again. */
export interface UnansweredCreation {
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
export function creationFrom(answer: Answer, asked: LicenseFields, { key_field }: LicensingLine): Creation {
  if (answer.status >= 300 && answer.status < 400) return redirection(answer);
  refuse(answer);
  if (answer.body === undefined && !isNothing(answer) && !isPlainText(answer)) {
    const { message, details } = foreignBody(answer, 'the licensing API');
    return unanswered(uncertain(`${message}; the license may or may not have been created`, details));
  }
  if (saysError(answer.body, 'license')) {
    const { message, details } = errorInside(answer);
    return { state: 'unanswered', heard: 'an error', failure: uncertain(message, details) };
  }
  return answered(findLicense(answer.body, key_field), answer, asked);
}

/** The outcome where the request ended without an answer of the API. */
export function unanswered(failure: Failure): UnansweredCreation {
  return { state: 'unanswered', heard: 'nothing', failure };
}

/** Servers redirect inside their own origin to what they have made; a portal or a new address is elsewhere. */
function redirection(answer: Answer): Creation {
  const { message, details } = redirected(answer);
  const failure = uncertain(message, details);
  if (!isInside(answer)) return unanswered(failure);
  return { state: 'answered', status: answer.status, license: undefined, license_is: 'without a key', failure };
}

/** A redirect that names no URL may be one inside the origin. */
function isInside({ headers: { location }, http }: Answer): boolean {
  if (typeof location !== 'string' || !URL.canParse(location, http.url)) return true;
  return new URL(location, http.url).origin === new URL(http.url).origin;
}

/** The failure is made where it is read: 100,000 answers wait for their list, and one for each took 37 MiB. */
function answered(license: License | undefined, { http, status }: Answer, asked: LicenseFields): AnsweredCreation {
  const differs = license !== undefined && differencesFrom(asked, license).length > 0;
  const asAsked = license?.key === undefined ? 'without a key' : 'as asked';
  return {
    state: 'answered',
    status,
    license,
    license_is: differs ? 'another' : asAsked,
    get failure() {
      return uncertain(answerInWords(license, status, asked), { http });
    },
  };
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

/** A text that is neither a page nor cut JSON: the server says in its own words that it did it. */
function isPlainText({ text }: Answer): boolean {
  return !/^\s*[<{["]|<\/?[a-z!][^>]*>/i.test(text);
}

function uncertain(message: string, details: Failure['details']): Failure {
  return new Failure('unknown', message, { ...details, hint: undefined, retryable: false });
}
