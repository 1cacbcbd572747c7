import type { Creation } from '../../api/licensing/license-writes.ts';
import { hasKeyOf, identityOf, sizeOf, type License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Queue } from '../../store/queue.ts';
import type { RequestHistory } from '../../store/request-history.ts';
import type { Licenses, FormerResult } from './license-user.ts';
import {
  lookUpNow,
  type Acting,
  type End,
  type KnownCreation,
  type LookUpStep,
  type Rules,
  type Step,
  type Why,
} from './step.ts';

/** One user who is to have a license, and all that is known. A value: each event makes a new one. */
export interface Case {
  readonly asked: LicenseFields;
  /** `held`: by another process. */
  readonly claim: 'none' | 'ours' | 'held';
  /** What is recorded of earlier runs, on the clock `elapsed`. */
  readonly requests: Requests;
  /** The last lookup; none after a POST. */
  readonly seen: SeenUser | undefined;
  /** What the history has; it is asked before the first POST. Undefined: nothing, or not asked yet. */
  readonly known: KnownCreation | undefined;
  /** Whether a person agreed to another license (`license create`). */
  readonly isAgreed: boolean;
  /** Whether the users of a list that moves are looked up together once already. */
  readonly isRelisted: boolean;
  /** When the last POST of this run ended, and how; without `creation` an interruption cut it. */
  readonly posted: Milliseconds | undefined;
  readonly creation: Creation | undefined;
  /** The licenses that were there before the first POST of this run; undefined: that is not known. */
  readonly before: ReadonlySet<string> | undefined;
  /** POSTs in a row without an answer, those of earlier runs included. */
  readonly unanswered: number;
  /** A request after which nothing is left to decide. */
  readonly last: LastRequest | undefined;
}

/** `job`: what earlier runs of this job did; `asked`: one may have created a license that no list has shown. */
export type Requests = Omit<RequestHistory, 'outcome'> & { readonly job?: 'asked' | RequestHistory['outcome'] };

export interface SeenUser {
  /**
   * A `list` finds licenses: who is not in it is looked up by the filter before a POST. A `moving list` was answered in
   * place of a filtered one, and the POSTs of this run move its pages.
   */
  readonly by: 'filter' | 'list' | 'moving list';
  /** The answer is no older; undefined: its age is not known, and it settles no POST. */
  readonly since?: Milliseconds | undefined;
  readonly result: FormerResult | { readonly shows: 'no answer'; readonly failure: Failure };
}

type LastRequest =
  | { readonly event: 'resized'; readonly license: License; readonly listed: License }
  | { readonly event: 'refused'; readonly failure: Failure; readonly listed?: License | undefined };

export type CaseEvent =
  | { readonly event: 'held' }
  | { readonly event: 'agreed' }
  | { readonly event: 'recalled'; readonly known: KnownCreation }
  | { readonly event: 'claimed'; readonly requests: Requests }
  | { readonly event: 'looked up'; readonly seen: SeenUser }
  | {
      readonly event: 'posted';
      readonly at: Milliseconds;
      readonly creation: Creation | undefined;
      readonly before: Case['before'];
    }
  | LastRequest;

export function caseOf(asked: LicenseFields, requests: Requests, seen?: SeenUser): Case {
  const unanswered = requests.unanswered ?? 0;
  const unsent = { known: undefined, posted: undefined, creation: undefined, before: undefined, last: undefined };
  return { ...unsent, asked, claim: 'none', requests, seen, unanswered, isAgreed: false, isRelisted: false };
}

export function after(one: Case, event: CaseEvent): Case {
  if (event.event === 'held') return { ...one, claim: 'held' };
  if (event.event === 'agreed') return { ...one, isAgreed: true };
  if (event.event === 'recalled') return { ...one, known: event.known };
  if (event.event === 'claimed')
    return { ...one, claim: 'ours', requests: event.requests, unanswered: event.requests.unanswered ?? 0 };
  if (event.event === 'looked up')
    return { ...one, seen: event.seen, isRelisted: one.isRelisted || one.seen?.by === 'moving list' };
  if (event.event === 'resized' || event.event === 'refused') return { ...one, last: event };
  const { at: posted, creation, before } = event;
  const unanswered = creation?.state === 'answered' ? one.unanswered : one.unanswered + 1;
  return { ...one, seen: undefined, isRelisted: false, posted, creation, before, unanswered };
}

/** What is to happen for a user next: never a second license (docs/exactly-once.md, What a POST needs). */
export function nextStep(one: Case, queue: Queue, rules: Rules): Step {
  const { seen, last, posted, before } = one;
  if (last?.event === 'resized')
    return { do: 'end', outcome: 'resized', license: last.license, licenses: [last.listed] };
  if (last) return failed(one, { is: 'refused', failure: last.failure }, isSent(one) ? last.listed : undefined);
  // Nothing tells what an unanswered POST created from what was there before.
  if (posted !== undefined && !before && !answeredLicense(one)) return failed(one, { is: 'nothing before' });
  if (!seen) return lookUp(one, queue, rules);
  const step = seen.result.shows === 'licenses' ? whereListed(one, seen.result.licenses, rules) : undefined;
  return step ?? whereNotListed(one, seen, queue, rules);
}

/** What a run that is stopped says of a user; undefined where nothing was asked for. */
export function whereStopped(one: Case, failure: Failure | undefined): End | undefined {
  if (!isSent(one)) return undefined;
  const isLookedUp = one.seen !== undefined && one.seen.by !== 'list';
  return isLookedUp ? failed(one, { is: 'stopped', failure }) : unread(one, { is: 'stopped', failure });
}

/** Whether a POST of this job, in this run or an earlier one, may have created the license. */
export function isSent({ posted, requests }: Case): boolean {
  return posted !== undefined || requests.job === 'asked';
}

/** A POST of this run without an answer, for which is looked until it is decided. */
export function isPending({ posted, seen, creation }: Case): boolean {
  return posted !== undefined && !seen && creation?.state !== 'answered';
}

export function isAnswered({ creation }: Case): boolean {
  return creation?.state === 'answered';
}

/** The license of an answer that names what was asked for. */
function answeredLicense({ creation }: Case): License | undefined {
  return creation?.state === 'answered' && creation.license_is === 'as asked' ? creation.license : undefined;
}

/** When an unanswered POST must have been carried out, and what was answered is shown. Undefined: none is known. */
function settledAt(one: Case, { pending, until }: Queue, { settle }: Rules): Milliseconds | undefined {
  const ended = one.posted ?? one.requests.posted;
  if (ended === undefined) return undefined;
  return pending === 0 || isAnswered(one) ? ended + settle : Math.max(ended + settle, until);
}

function lookUp(one: Case, queue: Queue, rules: Rules): LookUpStep {
  const { seen, posted } = one;
  const settled = settledAt(one, queue, rules);
  if (settled === undefined) return lookUpNow;
  const until = settled + rules.settle;
  // Who is not in a list that decides is looked up by the filter, which decides as much.
  if (seen?.by === 'list' && seen.since !== undefined)
    return { do: 'look up', due: 'now', deciding: { since: seen.since, until } };
  if (!seen && posted !== undefined && isAnswered(one))
    return { do: 'look up', due: 'with others', deciding: { since: posted, until } };
  return { do: 'look up', due: seen || posted !== undefined ? settled : 'now', deciding: { since: settled, until } };
}

function whereListed(one: Case, licenses: Licenses, rules: Rules): Step | undefined {
  const { posted, asked, before } = one;
  const fits = (license: License): boolean => (sizeOf(license) ?? asked.size_allowance) === asked.size_allowance;
  if (posted === undefined && rules.wants === 'another license') return undefined;
  if (posted === undefined) return within(one, keepOne(one, licenses), rules);
  const answered = answeredLicense(one);
  const own = answered && licenses.find((license) => hasKeyOf(answered, license));
  const added = own ? [own] : licenses.filter((license) => before && !before.has(identityOf(license)));
  const [only, ...others] = added;
  if (!only) return undefined;
  if (others.length === 0 && fits(only)) return { do: 'end', outcome: 'created', license: only, licenses };
  const isOther = others.length > 0 || (answered && !own) || rules.wants === 'another license';
  return isOther ? failed(one, { is: 'others', added }) : { do: 'resize', license: only, licenses };
}

/** Of several licenses the one of the asked size is kept, else the first listed is resized. */
function keepOne({ asked, requests }: Case, licenses: Licenses): Acting {
  const fitting = licenses.find((license) => sizeOf(license) === asked.size_allowance);
  if (!fitting) return { do: 'resize', license: licenses[0], licenses };
  const { job = 'unchanged' } = requests;
  const outcome = job === 'asked' ? 'created' : job;
  return { do: 'end', outcome, license: fitting, licenses };
}

function whereNotListed(one: Case, seen: SeenUser, queue: Queue, rules: Rules): Step {
  const { asked, claim, posted, requests, unanswered } = one;
  const { by, since, result } = seen;
  const wantsAnother = posted === undefined && rules.wants === 'another license';
  const settled = settledAt(one, queue, rules);
  const isSettled = settled === undefined || (since !== undefined && since >= settled);
  if (wantsAnother && !one.isAgreed) return { do: 'ask' };
  if (wantsAnother) return { do: 'create', before: isSettled ? identitiesIn(result) : undefined };
  if (result.shows === 'no answer') return unread(one, { is: 'unread', failure: result.failure });
  const refusal = refusalOf(one, result, rules);
  if (refusal && by === 'filter' && posted === undefined && !requests.answer) return failed(one, refusal);
  if (claim !== 'ours') return { do: claim === 'none' ? 'claim' : 'wait for others' };
  if (by === 'moving list')
    return one.isRelisted
      ? failed(one, { is: 'filter ignored' })
      : { ...lookUp(one, queue, rules), due: 'with others' };
  const isShown = refusal?.is === 'similar' && posted !== undefined && !isAnswered(one);
  if (by === 'list' || (!isSettled && !isShown)) return lookUp(one, queue, rules);
  if (isAnswered(one)) return failed(one, refusal ?? { is: 'not shown' });
  const isAgain = rules.sendAgain.has(asked.remote_user);
  const near = result.shows === 'near' ? result.licenses[0] : undefined;
  if (requests.answer && posted === undefined && !isAgain)
    return { do: 'end', outcome: 'unknown', why: { is: 'open', answer: requests.answer, near } };
  if (refusal) return failed(one, refusal);
  if (one.known && posted === undefined && rules.recreate === 'refuse' && !isAgain)
    return failed(one, { is: 'created before', known: one.known });
  // A POST that may create a second license is sent once.
  if (posted !== undefined && unanswered > (isAgain ? 0 : rules.retries))
    return failed(one, { is: 'used up', posts: unanswered });
  return within(one, { do: 'create', before: one.before ?? identitiesIn(result) }, rules);
}

/** Why no license is created where none of the very name is shown. */
function refusalOf(one: Case, result: FormerResult, rules: Rules): Why | undefined {
  const { before, requests, posted } = one;
  if (result.shows === 'incomplete') return { is: 'incomplete', failure: result.failure };
  const isTrusted = rules.uncounted === 'trust' || isAnswered(one);
  if (!isTrusted && result.unfiltered?.mayBeCut) return { is: 'may be cut', count: result.unfiltered.licenses.size };
  if (!isTrusted && result.misread !== undefined) return { is: 'misread', sign: result.misread };
  if (result.shows !== 'near') return undefined;
  // A near name is what the server may have made of what was answered: who sends again has looked at it.
  const isAllowed = posted !== undefined || requests.answer !== undefined || rules.similar === 'allow';
  const near = isAllowed ? result.licenses.find((one) => before && !before.has(identityOf(one))) : result.licenses[0];
  return near && { is: 'similar', near };
}

/** Nothing that a plan which was read does not say. */
function within(one: Case, step: Acting, { differs }: Rules): Step {
  const text = one.posted === undefined ? differs?.(one.asked, step) : undefined;
  return text === undefined ? step : failed(one, { is: 'differs', text });
}

/** What was answered counts where no list could be read. */
function unread(one: Case, why: Why & { readonly failure?: Failure | undefined }): End {
  const license = answeredLicense(one);
  return license ? { do: 'end', outcome: 'created', license, unread: why.failure } : failed(one, why);
}

/** A user who may have a license is `unknown`, and never `failed`, unless it is shown. */
function failed(one: Case, why: Why, license?: License): End {
  return { do: 'end', outcome: isSent(one) && !license ? 'unknown' : 'failed', why, license };
}

function identitiesIn(result: SeenUser['result']): ReadonlySet<string> | undefined {
  if (result.shows === 'incomplete' || result.shows === 'no answer') return undefined;
  return result.shows === 'nothing' ? new Set() : new Set(result.licenses.map(identityOf));
}
