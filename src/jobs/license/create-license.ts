import { notShown, otherKey, type Creation } from '../../api/licensing/license-writes.ts';
import { hasKeyOf, identityOf, type License } from '../../api/licensing/license.ts';
import type { Deciding } from '../../api/http/call.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { endOf, lookUp, refusals, type ClaimedUser, type LookupResult } from './license-user.ts';
import { sendAgainHint, similarTo, sizeOf, times } from './decide.ts';
import type { RowState } from './roster-journal.ts';

export interface Settling {
  /** How long after an unanswered POST the server may still carry it out, and hide from its list what it created. */
  readonly settle: Milliseconds;
  readonly retries: number;
  readonly now: () => Milliseconds;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

interface Creating extends Settling {
  /** What a lookup showed before the request; undefined where that is not known. */
  readonly before: LookupResult | undefined;
}

export interface CreatedLicense {
  readonly license: License;
  /** The licenses of the user in the list that shows it; undefined: none was answered, or it is open. */
  readonly all?: readonly License[] | undefined;
  /** Why it is open: the server answered with it, and its list does not show it. To throw once it is printed. */
  readonly failure?: Failure | undefined;
}

export type CreatingApi = Pick<LicensingApi, 'create' | 'ofUser' | 'deciding'>;

/** What decides about a POST that ended at `posted`: an unanswered one may be carried out for `settle` yet. */
export function decidingOn(is: RowState['is'], posted: Milliseconds, settle: Milliseconds): Deciding {
  return { since: is === 'answered' ? posted : posted + settle, until: posted + 2 * settle };
}

/**
 * Creates one license. A lookup confirms an answered request, at once or after `settle`, and settles an unanswered one
 * after `settle`: exactly one new license of the asked size is the created one; without one the request is repeated
 * (docs/exactly-once.md, States of a request).
 * @throws Failure unknown where the lookup cannot tell, or does not show what was answered without a license
 */
export async function createLicense(
  api: CreatingApi,
  fields: LicenseFields,
  user: ClaimedUser,
  creating: Creating,
): Promise<CreatedLicense> {
  const { before, retries, settle, now, elapsed, note, warn } = creating;
  let earlier: Failure | undefined;
  // POSTs of earlier runs count as repeats too; where they have used the repeats up, this run sends one.
  let { unanswered = 0 } = user.history;
  /** Recorded at once: from then on no run sends one again that was answered. */
  const post = async (): Promise<Creation> => {
    try {
      const creation = await api.create(fields, user.posting);
      await user.ended(endOf(creation, now(), unanswered + 1));
      return creation;
    } catch (cause) {
      const isRefused = cause instanceof Failure && refusals.has(cause.kind);
      if (!isRefused) await user.ended({ event: 'ended', time: now(), unanswered });
      // A refusal of a repeat says nothing of the request before it, which had no answer.
      if (!earlier || !(cause instanceof Failure) || cause.isInterruption || cause.kind === 'unavailable') throw cause;
      throw unsettled(fields, earlier, `sent again: ${cause.message}`);
    }
  };
  for (;;) {
    const creation = await post();
    unanswered += 1;
    const posted = elapsed();
    const answer = creation.state === 'answered' ? creation : undefined;
    const license = answer?.license_is === 'as asked' ? answer.license : undefined;
    const failure = creation.state === 'answered' ? notShown(creation, fields) : creation.failure;
    const deciding = decidingOn(creation.state, posted, settle);
    const confirm = () => confirmByLookup(api.deciding(deciding), fields, before, answer?.license);
    try {
      if (!before && !license) throw unsettled(fields, failure, 'the licenses that were there before are not known');
      let seen = answer && (await confirm());
      if (seen?.shows === 'no answer' && license) {
        warn(`the license was created, as the server answered, and could not be confirmed: ${seen.why}`);
        return { license };
      }
      // A list that lags does not show it at once.
      if (!seen || seen.shows === 'nothing' || seen.shows === 'a part') {
        await waitForList(fields, failure, { ...creating, posted });
        seen = await confirm();
      }
      if (seen.shows === 'it') {
        user.confirmed();
        const isOther = license && hasKeyOf(license, seen.license) === false;
        if (isOther) warn(otherKey(fields, license, seen.license));
        return { license: (!isOther && license) || seen.license, all: seen.all };
      }
      if (answer) throw unsettled(fields, failure, seen.why, sendAgainHint(fields));
      if (seen.shows !== 'nothing') throw unsettled(fields, failure, seen.why);
      if (unanswered > retries) throw unsettled(fields, failure, `sent ${times(unanswered)}, and ${seen.why}`);
    } catch (cause) {
      if (!answer || !(cause instanceof Failure)) throw cause;
      if (license) return { license, failure: cause };
      if (cause.message.startsWith(failure.message)) throw cause;
      throw cause.as(cause.kind, `${failure.message}; ${cause.message}`);
    }
    earlier = failure;
    note(`the license of ${fields.remote_user} was not created: sending the request again`);
  }
}

type Confirmation =
  | { readonly shows: 'it'; readonly license: License; readonly all: readonly License[] }
  | { readonly shows: 'nothing' | 'something else' | 'a part' | 'no answer'; readonly why: string };

/** Whether a lookup shows the license of a POST; where the earlier ones are unknown, only the answered key tells. */
async function confirmByLookup(
  api: Pick<CreatingApi, 'ofUser'>,
  asked: LicenseFields,
  before: LookupResult | undefined,
  answered: License | undefined,
): Promise<Confirmation> {
  const { remote_user, size_allowance } = asked;
  try {
    const seen = await lookUp(api, asked);
    if (seen.shows === 'incomplete') return { shows: 'a part', why: `the list failed: ${seen.failure.message}` };
    const licensesIn = (result: LookupResult) => ('licenses' in result ? result.licenses : []);
    const known = new Set(licensesIn(before ?? seen).map(identityOf));
    const added = licensesIn(seen).filter((license) => !known.has(identityOf(license)));
    if (seen.shows === 'licenses') {
      const own = answered && seen.licenses.find((license) => hasKeyOf(answered, license));
      const [only = own, ...others] = own ? [own] : added;
      const isOfSize = only && (sizeOf(only) ?? size_allowance) === size_allowance;
      if (isOfSize && others.length === 0) return { shows: 'it', license: only, all: seen.licenses };
      if (only) {
        const what = added.length === 1 ? `a license of size ${sizeOf(only) ?? '?'}` : `${added.length} licenses`;
        return { shows: 'something else', why: `the list shows ${what} that was not there before` };
      }
    }
    const [similar] = added;
    if (similar) return { shows: 'something else', why: similarTo(similar, remote_user) };
    return { shows: 'nothing', why: 'the list does not show the license' };
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    return { shows: 'no answer', why: `the list failed: ${cause.message}` };
  }
}

/** Waits until the server must have carried a request out, and shows it in its list. */
async function waitForList(
  fields: LicenseFields,
  { message }: Failure,
  { settle, sleep, elapsed, note, posted }: Creating & { readonly posted: Milliseconds },
): Promise<void> {
  const wait = posted + settle - elapsed();
  if (wait <= 0) return;
  note(`${message}; checking in ${formatDuration(wait)} whether the license of ${fields.remote_user} was created`);
  try {
    await sleep(wait);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    const kind = cause.kind === 'unavailable' ? 'unknown' : cause.kind;
    throw cause.as(kind, `${cause.message} before it was known whether the license was created`, {
      hint: whereToLook(fields),
      retryable: false,
    });
  }
}

function unsettled(fields: LicenseFields, failure: Failure, why: string, hint = whereToLook(fields)): Failure {
  return failure.as('unknown', `${failure.message}; ${why}`, { hint, retryable: false });
}

function whereToLook({ remote_user, app_code }: LicenseFields): string {
  return `Check before you create again: ${commandLine('license list', [], { remote_user, app_code })}`;
}
