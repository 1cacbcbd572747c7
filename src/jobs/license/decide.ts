import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { hasKeyOf, textOf, type License, type UnfilteredList } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine, shellWord } from '../../core/shell-word.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { OpenAnswer } from '../../store/request-history.ts';
import type { LicenseUser, LookupResult } from './license-user.ts';

/** What is known of users beside the lookup, and allowed by the command line. */
export interface KnownUsers {
  /** Whether a license of a near name lets a new one be created (`--allow-similar`). */
  readonly similar: 'refuse' | 'allow';
  /** Whether a list without a total counts whose length is one at which servers cut lists (`--trust-list`). */
  readonly uncounted: 'refuse' | 'trust';
  /** Users whose POST is sent, once, although an earlier one was answered (`--send-again`). */
  readonly sendAgain: ReadonlySet<string>;
  /** What an earlier POST was answered, whose license no list has shown. */
  readonly answerOf: (user: LicenseFields) => OpenAnswer | undefined;
  /** How a decision differs from a plan that is carried out as it was read. */
  readonly differs?: ((user: LicenseFields, decision: Acting) => string | undefined) | undefined;
}

/** What has to happen so that a user has one license of that size. `answer`: an open one; nothing may be sent. */
export type Decision =
  /** `near`: similar names, which are allowed; `unfiltered`: the whole list that answered the lookup. */
  | ({ readonly step: 'create'; readonly near?: readonly License[] } & Pick<LookupResult, 'unfiltered'>)
  | { readonly step: 'unchanged' | 'resize'; readonly license: License; readonly licenses: readonly License[] }
  /** `similar`: a similar name is the reason, in words; `isOther`: the plan that was read says something else. */
  | {
      readonly step: 'refused';
      readonly failure: Failure;
      readonly similar?: string;
      readonly answer?: OpenAnswer;
      readonly isOther?: true;
    };

/** A decision after which something is sent, or is right. */
export type Acting = Exclude<Decision, { readonly step: 'refused' }>;

/** A list does not show the license, so the user is to be looked up. `near`: licenses of similar names in it. */
export interface Undecided {
  readonly step: 'look up';
  readonly near: readonly License[];
}

/** Whether a license is to be created, unless a lookup of the user shows one. */
export function isCreation({ step }: Decision | Undecided): boolean {
  return step === 'create' || step === 'look up';
}

/** Whether its row is claimed: a license may be created, or an answer is open. */
export function needsClaim(decision: Decision | Undecided): boolean {
  return isCreation(decision) || 'answer' in decision;
}

/** How often a POST for the user is repeated: one that may create a second license is sent once. */
export function retriesFor(
  { remote_user }: LicenseUser,
  { retries, sendAgain }: { readonly retries: number } & Pick<KnownUsers, 'sendAgain'>,
): number {
  return sendAgain.has(remote_user) ? 0 : retries;
}

/** Never a second license, and nothing that a plan which was read does not say. */
export function decide(result: LookupResult, asked: LicenseFields, known: KnownUsers): Decision {
  const decision = decideAlone(result, asked, known);
  const other = decision.step === 'refused' ? undefined : known.differs?.(asked, decision);
  if (other === undefined) return decision;
  return { step: 'refused', failure: new Failure('rejected', other, { retryable: false }), isOther: true };
}

function decideAlone(result: LookupResult, asked: LicenseFields, known: KnownUsers): Decision {
  const { similar, uncounted, sendAgain, answerOf } = known;
  if (result.shows === 'incomplete') return { step: 'refused', failure: result.failure };
  if (result.shows === 'licenses') return keepOne(result.licenses, asked);
  const answer = answerOf(asked);
  if (answer && !sendAgain.has(asked.remote_user)) {
    const details = { hint: sendAgainHint(asked), retryable: false };
    return { step: 'refused', failure: new Failure('unknown', openInWords(asked, answer, result), details), answer };
  }
  const { unfiltered } = result;
  if (unfiltered?.mayBeCut && uncounted === 'refuse') return { step: 'refused', failure: mayBeCut(unfiltered) };
  if (result.shows === 'nothing') return { step: 'create', unfiltered };
  // A near name is what the server may have made of the license that was answered: who sends again has looked at it.
  if (answer || similar === 'allow') return { step: 'create', near: result.licenses, unfiltered };
  const why = similarTo(result.licenses[0], asked.remote_user);
  const failure = new Failure('rejected', `${why}; nothing was created`, {
    hint: `If these are two users, repeat with --allow-similar. Look with: ${commandLine('license list', [], { app_code: asked.app_code })}`,
  });
  return { step: 'refused', failure, similar: why };
}

function mayBeCut({ licenses }: UnfilteredList): Failure {
  const why = `the server ignores the filter by user, and its list of ${licenses.size} licenses has no total: it may be cut there`;
  return new Failure('incomplete', `${why}; nothing was created`, {
    hint: 'If there are no more, repeat with --trust-list. Look with: chatelaine license list, chatelaine doctor --probe',
    retryable: false,
  });
}

/** Of several licenses the one of the asked size is kept, else the first listed is resized. */
function keepOne(licenses: readonly [License, ...License[]], asked: LicenseFields): Decision {
  const fitting = licenses.find((license) => sizeOf(license) === asked.size_allowance);
  return { step: fitting ? 'unchanged' : 'resize', license: fitting ?? licenses[0], licenses };
}

/** Undefined where a row's license is not the answered one: another key, and not the only new one of the asked size. */
export function ownOf(
  { step, license, licenses }: Extract<Decision, { license: License }>,
  creation: AnsweredCreation | undefined,
): License | undefined {
  const answered = creation?.license_is === 'as asked' && creation.license;
  if (!answered || (step === 'unchanged' && licenses.length === 1)) return license;
  return licenses.find((one) => hasKeyOf(answered, one) !== false);
}

export function sizeOf(license: License): number | undefined {
  const text = textOf(license, 'size_allowance');
  return text === undefined ? undefined : Number(text);
}

export function changeInWords(before: number | null | undefined, after: number): string {
  return `${before ?? '?'} -> ${after}`;
}

export function similarTo(near: License, remote_user: string): string {
  const listed = textOf(near, 'remote_user') ?? 'without a name';
  if (listed === remote_user)
    return `the server lists a license of '${remote_user}' whose app_code is not an integer: '${textOf(near, 'app_code') ?? '?'}'`;
  return `the server lists no license of '${remote_user}', but one of the similar name '${listed}'`;
}

export function severalWarning({ remote_user, app_code }: LicenseUser): string {
  const view = commandLine('license view', [], { remote_user });
  return `${remote_user} has several licenses in application ${app_code}; license audit finds such users, and license retire CODE retires what nobody uses. Look: ${view}`;
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Says of an earlier POST that it was answered, and that no list shows the license. */
export function openInWords(
  { remote_user }: LicenseUser,
  { status, time, key_end }: OpenAnswer,
  result?: LookupResult,
): string {
  const key = key_end === undefined ? 'without a key' : `with a license whose key ends with ${key_end}`;
  const shown =
    result?.shows === 'near'
      ? similarTo(result.licenses[0], remote_user)
      : `no list shows a license of '${remote_user}'`;
  return `the server answered a request of ${new Date(time).toISOString().slice(0, 19)}Z with ${status}, ${key}; ${shown}`;
}

export function sendAgainHint({ remote_user, app_code }: LicenseUser): string {
  const list = commandLine('license list', [], { app_code });
  return `If there is no license, request another one with --send-again ${shellWord(remote_user)}. Check first: ${list}`;
}
