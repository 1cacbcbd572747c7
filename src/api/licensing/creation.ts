import { Failure } from '../../core/failure.ts';
import { foreignBody, redirected } from '../http/answer.ts';
import type { Answer } from '../http/call.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { saysError } from './answer-error.ts';
import { differencesFrom, type License } from './license.ts';
import { errorInside, findLicense, isNothing, refuse, type LicensingLine } from './license-answer.ts';

/** What is known after a POST: the license with its key, or that only a list can show (docs/exactly-once.md, What a write answers). */
export type Creation = { readonly state: 'confirmed'; readonly license: License } | UnconfirmedCreation;

export interface UnconfirmedCreation {
  readonly state: 'unconfirmed';
  /**
   * `no answer`: none came, or one of something else than the API; it may be sent again if a whole list shows nothing.
   * `empty answer`: a success without the key; the license exists. `answer differs`, `error inside 2xx`: it may exist.
   * `redirect`: it may exist, and must not be sent again.
   */
  readonly reason: 'no answer' | 'empty answer' | 'answer differs' | 'error inside 2xx' | 'redirect';
  /** The license that the server answered with, where it differs from the asked one. */
  readonly answered?: License;
  /** What to throw where no list settles it: kind `unknown`, but `rejected` after a redirect. */
  readonly failure: Failure;
}

/**
 * Judges the answer to a POST.
 * @throws Failure for a refusal: then nothing was created
 */
export function creationFrom(answer: Answer, asked: LicenseFields, { key_field }: LicensingLine): Creation {
  if (answer.status >= 300 && answer.status < 400) return unconfirmed('redirect', redirected(answer));
  refuse(answer);
  if (answer.body === undefined && !isNothing(answer) && !isPlainText(answer)) {
    const { message, details } = foreignBody(answer, 'the licensing API');
    return unconfirmed('no answer', uncertain(`${message}; the license may or may not have been created`, details));
  }
  if (saysError(answer.body, 'license')) {
    const { message, details } = errorInside(answer);
    return unconfirmed('error inside 2xx', uncertain(message, details));
  }
  return confirmed(findLicense(answer.body, key_field), answer, asked);
}

/** The outcome where the request ended without an answer. */
export function unanswered(failure: Failure): UnconfirmedCreation {
  return unconfirmed('no answer', failure);
}

function confirmed(license: License | undefined, { http }: Answer, asked: LicenseFields): Creation {
  const differences = license ? differencesFrom(asked, license) : [];
  if (license && differences.length > 0) {
    const message = `the server answered with another license (${license.key ?? 'without a key'}): ${differences.join(', ')}`;
    return { ...unconfirmed('answer differs', uncertain(message, { http })), answered: license };
  }
  if (license?.key !== undefined) return { state: 'confirmed', license };
  return unconfirmed(
    'empty answer',
    uncertain('the server said that it created the license, without returning its key', { http }),
  );
}

/** 201 with a text that is neither a page nor cut JSON: the license was created. */
function isPlainText({ status, text }: Answer): boolean {
  return status === 201 && !/^\s*[<{["]/.test(text);
}

function unconfirmed(reason: UnconfirmedCreation['reason'], failure: Failure): UnconfirmedCreation {
  return { state: 'unconfirmed', reason, failure };
}

function uncertain(message: string, details: Failure['details']): Failure {
  return new Failure('unknown', message, { ...details, retryable: false });
}
