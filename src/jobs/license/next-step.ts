import { hasKeyEnd, identityOf, sizeOf, textOf, type License } from '../../api/licensing/license.ts';
import type { Failure } from '../../core/failure.ts';
import { mayChange } from '../../store/record/writes.ts';
import type { LookupResult } from './application-lookups.ts';
import {
  answeredLicense,
  answerOf,
  countIn,
  lookUpNow,
  type Acting,
  type Case,
  type End,
  type LookUpStep,
  type Rules,
  type SeenUser,
  type Step,
  type Why,
} from './case.ts';
import type { Licenses } from './license-user.ts';

/** Decides the next step for a user; never a second license (docs/exactly-once.md, What a write needs). */
export function nextStep(one: Case, rules: Rules): Step {
  const { seen, sent, before } = one;
  // Nothing would distinguish the license that an unanswered POST created from those that were there before.
  if (sent && !before && !answeredLicense(one)) return failed(one, { is: 'nothing before' });
  if (!seen) return one.recorded || sent || rules.asks ? lookUp(one) : { do: 'lock' };
  const result = withOwnName(one, seen.result);
  const step = result.shows === 'licenses' ? whereListed(one, seen, result.licenses, rules) : undefined;
  return step ?? whereStoredOtherwise(one, result) ?? whereNotListed(one, { ...seen, result }, rules);
}

/** Ends a case whose request failed. `listed`: the license that was to be resized. */
export function whereRefused(one: Case, failure: Failure, listed: License | undefined): End {
  if (failure.kind !== 'unknown') return failed(one, { is: 'refused', failure }, one.sent ? listed : undefined);
  // The request may have been processed although it failed.
  return { do: 'end', outcome: 'unknown', why: { is: 'unread', failure }, license: listed };
}

/** Ends a case whose request was sent, and whose run was stopped before a list showed the license. */
export function whereStopped(one: Case, failure: Failure | undefined): End {
  return one.seen ? failed(one, { is: 'stopped', failure }) : unread(one, { is: 'stopped', failure });
}

/** Counts a license of a similar name as the user's if it has the key that was answered for this user before. */
function withOwnName({ known, recorded }: Case, result: SeenUser['result']): SeenUser['result'] {
  const end = recorded?.open?.key_end ?? known?.license_code_end;
  if (result.shows !== 'near' || end === undefined) return result;
  const [own, ...others] = result.licenses.filter(({ key }) => key?.endsWith(end));
  return own ? { shows: 'licenses', licenses: [own, ...others] } : result;
}

function lookUp(one: Case): LookUpStep {
  if (answerOf(one)) return { do: 'look up', when: one.seen ? 'when due' : 'with others' };
  const { pending = [], open } = one.recorded ?? {};
  const isAwaited = one.sent !== undefined || pending.length > 0 || (one.seen && (open ?? one.known)) !== undefined;
  return isAwaited && one.seen?.by !== 'hint' ? { do: 'look up', when: 'when due' } : lookUpNow;
}

function whereListed(one: Case, seen: SeenUser, licenses: Licenses, rules: Rules): Step | undefined {
  const { sent, asked, before, recorded } = one;
  if (!sent && rules.wants === 'another license') return undefined;
  if (!sent) return keepOne(one, seen, licenses, rules);
  const answered = answeredLicense(one);
  const own = answered && licenses.find(({ key }) => key === answered.key);
  // What an earlier run was answered, lists may show only now.
  const isEarlier = (license: License) => hasKeyEnd(license, recorded?.open?.key_end);
  const isNew = (license: License) => before && !before.has(identityOf(license)) && !isEarlier(license);
  const added = own ? [own] : licenses.filter(isNew);
  const [only, ...others] = added;
  if (!only) return undefined;
  const fits = (sizeOf(only) ?? asked.size_allowance) === asked.size_allowance;
  if (others.length === 0 && fits) return { do: 'end', outcome: 'created', license: only, licenses };
  const isOther = others.length > 0 || (answered && !own) || rules.wants === 'another license';
  return isOther ? failed(one, { is: 'others', added }) : resize(one, only, licenses, rules);
}

/** Keeps the one of several licenses that has the requested size, else resizes the first that is listed. */
function keepOne(one: Case, seen: SeenUser, licenses: Licenses, rules: Rules): Step {
  const { asked, recorded } = one;
  const fitting = licenses.find((license) => sizeOf(license) === asked.size_allowance);
  const pending = seen.isSettled ? [] : (recorded?.pending ?? []);
  if (fitting && !pending.some((write) => mayChange(write, asked.size_allowance, fitting.key)))
    return within(one, { do: 'end', outcome: 'unchanged', license: fitting, licenses }, rules);
  if (!recorded) return { do: 'lock' };
  // An earlier change that is processed late would undo this one.
  if (pending.length > 0) return { do: 'look up', when: 'when due' };
  return resize(one, licenses[0], licenses, rules);
}

function resize(one: Case, license: License, licenses: Licenses, rules: Rules): Step {
  if (one.unanswered > rules.retries && one.sent === undefined)
    return { do: 'end', outcome: 'unknown', why: { is: 'used up', sent: one.unanswered }, license };
  return within(one, { do: 'resize', license, licenses }, rules);
}

function whereNotListed(one: Case, seen: SeenUser, rules: Rules): Step {
  const { asked, sent, recorded, unanswered } = one;
  const { by, isSettled, result } = seen;
  if (!sent && rules.wants === 'another license') return another(one, seen);
  if (result.shows === 'no answer') return unread(one, { is: 'unread', failure: result.failure });
  const refusal = refusalOf(one, result, rules);
  if (refusal && by === 'lookup' && !sent && !recorded?.open) return failed(one, refusal);
  if (!recorded) return { do: 'lock' };
  const isShownOtherwise = refusal?.is === 'similar' && sent !== undefined && answerOf(one) === undefined;
  if (!isSettled && !isShownOtherwise) return lookUp(one);
  if (answerOf(one)) return whereAnswered(one, refusal);
  const isAgain = rules.sendAgain.has(asked.remote_user);
  const near = result.shows === 'near' ? result.licenses[0] : undefined;
  if (recorded.open && !sent && !isAgain)
    return { do: 'end', outcome: 'unknown', why: { is: 'open', answer: recorded.open, near } };
  if (refusal) return failed(one, refusal);
  if (one.known && !sent && !isAgain) return failed(one, { is: 'created before', known: one.known });
  // With `--send-again` a POST may create a second license, so it is not repeated.
  if (sent && unanswered > (isAgain ? 0 : rules.retries)) return failed(one, { is: 'used up', sent: unanswered });
  return within(one, { do: 'create', before: one.before ?? identitiesIn(result) }, rules);
}

/** `license create` makes another license, after a person was asked, or without a terminal warned, before the lock. */
function another(one: Case, { isSettled, result }: SeenUser): Step {
  if (one.agreedOn === undefined) return { do: 'ask' };
  if (!one.recorded) return { do: 'lock' };
  if (result.shows === 'no answer') return { do: 'create', before: undefined };
  if (!isSettled) return lookUp(one);
  if (countIn(result) > one.agreedOn)
    return failed(one, { is: 'differs', text: 'changed meanwhile: the user now has a license' });
  return { do: 'create', before: identitiesIn(result) };
}

/** Ends the case if a license of a similar name has the answered key: the server stores the name that way. */
function whereStoredOtherwise(one: Case, result: SeenUser['result']): End | undefined {
  const key = answeredLicense(one)?.key;
  if (result.shows !== 'near' || key === undefined) return undefined;
  const license = result.licenses.find((near) => near.key === key);
  if (!license || (sizeOf(license) ?? one.asked.size_allowance) !== one.asked.size_allowance) return undefined;
  const storedAs = textOf(license, 'remote_user') ?? '';
  return { do: 'end', outcome: 'created', license, licenses: [license], storedAs };
}

/** No list shows the answered license, so a GET of its key shows if it is stored under another name. */
function whereAnswered(one: Case, refusal: Why | undefined): Step {
  const { key, asked } = one;
  const code = answeredLicense(one)?.key;
  if (!key && code !== undefined) return { do: 'view key', code };
  if (key?.is !== 'stored otherwise') return failed(one, refusal ?? { is: 'not shown', key });
  const fits = (sizeOf(key.license) ?? asked.size_allowance) === asked.size_allowance;
  if (!fits) return failed(one, { is: 'others', added: [key.license] });
  return { do: 'end', outcome: 'created', license: key.license, licenses: [key.license], storedAs: key.name };
}

/** Why no license may be created although none of the exact name is shown. */
function refusalOf({ before, recorded, sent }: Case, result: LookupResult, { similar }: Rules): Why | undefined {
  if (result.shows === 'incomplete') return { is: 'incomplete', failure: result.failure };
  if (result.shows !== 'near') return undefined;
  // After a request only a new near name counts: the server may have made it of the name that was sent. Whoever sends
  // again after an earlier answer has looked at the near names.
  const isAllowed = sent !== undefined || recorded?.open !== undefined || similar === 'allow';
  const near = isAllowed ? result.licenses.find((one) => before && !before.has(identityOf(one))) : result.licenses[0];
  return near && { is: 'similar', near };
}

/** Fails a step that the plan which a person has read does not contain. */
function within(one: Case, step: Acting, { differs }: Rules): Step {
  const text = one.sent ? undefined : differs?.(one.asked, step);
  return text === undefined ? step : failed(one, { is: 'differs', text });
}

/** Without a list that could be read, an answered license counts as created. */
function unread(one: Case, why: Why & { readonly failure?: Failure | undefined }): End {
  const license = answeredLicense(one);
  return license ? { do: 'end', outcome: 'created', license, unread: why.failure } : failed(one, why);
}

/** A case whose request was sent is `unknown`, never `failed`, unless a list shows the license (`license`). */
function failed(one: Case, why: Why, license?: License): End {
  return { do: 'end', outcome: one.sent && !license ? 'unknown' : 'failed', why, license };
}

/** One shared object, since a roster of new users has it in each row. */
const noneBefore: ReadonlySet<string> = new Set();

function identitiesIn(result: SeenUser['result']): ReadonlySet<string> | undefined {
  if (result.shows === 'incomplete' || result.shows === 'no answer') return undefined;
  return result.shows === 'nothing' ? noneBefore : new Set(result.licenses.map(identityOf));
}
