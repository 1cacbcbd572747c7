import { notShown, otherKey, type AnsweredCreation, type Creation } from '../../api/licensing/license-writes.ts';
import { hasKeyOf, identityOf, type License, type UserLicenses } from '../../api/licensing/license.ts';
import type { Deciding } from '../../api/http/call.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { ClaimedUser, ClaimingUser } from './claim-users.ts';
import type { RowState } from './roster-journal.ts';
import { sendAgainHint, similarTo, sizeOf, times } from './decide.ts';

export interface Settling {
  /** How long after an unanswered POST the server may still carry it out, and hide from its list what it created. */
  readonly settle: Milliseconds;
  readonly retries: number;
  readonly now: () => Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

interface Creating extends Settling, Pick<ClaimingUser, 'elapsed'> {
  /** The user's licenses before the request; undefined where they are not known. */
  readonly before: UserLicenses | undefined;
}

export interface CreatedLicense {
  readonly license: License;
  /** `open`: the server answered with it, and its list does not show it. `unseen`: the list was not answered. */
  readonly list: 'shows it' | 'open' | 'unseen';
  /** The licenses of the user that the list shows with it. */
  readonly all?: readonly License[];
  /** What to throw where it is open, once the license is printed. */
  readonly failure?: Failure;
}

export type CreatingApi = Pick<LicensingApi, 'create' | 'ofUser' | 'deciding'>;

/** What decides about a POST that ended at `posted`: an unanswered one may be carried out for `settle` yet. */
export function decidingOn(is: RowState['is'], posted: Milliseconds, settle: Milliseconds): Deciding {
  return { since: is === 'answered' ? posted : posted + settle, until: posted + 2 * settle };
}

/**
 * Creates one license. A list confirms what was answered; it settles an unanswered request after `settle`: exactly
 * one new license of the asked size is the created one; without one the request is repeated (docs/exactly-once.md,
 * States of a request). @throws Failure unknown where the list cannot tell, or lacks what was answered without one
 */
export async function createLicense(
  api: CreatingApi,
  fields: LicenseFields,
  user: ClaimedUser,
  creating: Creating,
): Promise<CreatedLicense> {
  const { before, retries, settle, elapsed, note } = creating;
  let earlier: Failure | undefined;
  // Where earlier runs have used the repeats up, each run sends one.
  for (let posts = Math.min(user.unanswered(), retries) + 1; ; posts += 1) {
    const creation = await repeatable(
      user.post((posting) => api.create(fields, posting)),
      fields,
      earlier,
    );
    const posted = elapsed();
    if (creation.state === 'answered') {
      const created = await confirm(api, fields, creation, { ...creating, posted });
      if (created.list === 'shows it') user.confirmed();
      return created;
    }
    const { failure } = creation;
    earlier = failure;
    if (!before) throw unsettled(fields, failure, unknownBefore);
    await waitForList(fields, failure, { ...creating, posted });
    const seen = await confirmByList(api.deciding(decidingOn('unanswered', posted, settle)), fields, { before });
    if (seen.shows === 'it') {
      user.confirmed();
      return { license: seen.license, list: 'shows it', all: seen.all };
    }
    if (seen.shows !== 'nothing') throw unsettled(fields, failure, seen.why);
    if (posts > retries) throw unsettled(fields, failure, `sent ${times(user.unanswered())}, and ${seen.why}`);
    note(`the license of ${fields.remote_user} was not created: sending the request again`);
  }
}

/** A refusal of a repeat says nothing of the request before it, which had no answer. */
async function repeatable(
  sending: Promise<Creation>,
  fields: LicenseFields,
  earlier: Failure | undefined,
): Promise<Creation> {
  try {
    return await sending;
  } catch (cause) {
    if (!earlier || !(cause instanceof Failure) || cause.isInterruption || cause.kind === 'unavailable') throw cause;
    throw unsettled(fields, earlier, `sent again: ${cause.message}`);
  }
}

const unknownBefore = 'the licenses that were there before are not known';

/** A list that lags does not show the license at once, so it is read once more after `settle`. */
async function confirm(
  api: CreatingApi,
  fields: LicenseFields,
  creation: AnsweredCreation,
  creating: Creating & { readonly posted: Milliseconds },
): Promise<CreatedLicense> {
  const { license } = creation;
  const isAsAsked = creation.license_is === 'as asked';
  const failure = notShown(creation, fields);
  const deciding = api.deciding(decidingOn('answered', creating.posted, creating.settle));
  const sought = { before: creating.before, answered: license };
  if (!creating.before && !isAsAsked) throw unsettled(fields, failure, unknownBefore);
  try {
    let seen = await confirmByList(deciding, fields, sought);
    if (seen.shows === 'no answer' && license && isAsAsked) {
      creating.warn(`the license was created, as the server answered, and could not be confirmed: ${seen.why}`);
      return { license, list: 'unseen' };
    }
    if (seen.shows === 'nothing' || seen.shows === 'a part') {
      await waitForList(fields, failure, creating);
      seen = await confirmByList(deciding, fields, sought);
    }
    if (seen.shows === 'it') {
      const isOther = license && isAsAsked && hasKeyOf(license, seen.license) === false;
      if (isOther) creating.warn(otherKey(fields, license, seen.license));
      return { license: (isAsAsked && !isOther && license) || seen.license, list: 'shows it', all: seen.all };
    }
    const why = `${failure.message}; ${seen.why}`;
    throw failure.as('unknown', why, { hint: sendAgainHint(fields), retryable: false });
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    if (license && isAsAsked) return { license, list: 'open', failure: cause };
    if (cause.message.startsWith(failure.message)) throw cause;
    throw cause.as(cause.kind, `${failure.message}; ${cause.message}`);
  }
}

type Confirmation =
  | { readonly shows: 'it'; readonly license: License; readonly all: readonly License[] }
  | { readonly shows: 'nothing' | 'something else' | 'a part' | 'no answer'; readonly why: string };

/** Whether the list shows the license of a POST; where those before are unknown, only its answered key tells it. */
async function confirmByList(
  api: Pick<CreatingApi, 'ofUser'>,
  { remote_user, app_code, size_allowance }: LicenseFields,
  { before, answered }: { readonly before: UserLicenses | undefined; readonly answered?: License | undefined },
): Promise<Confirmation> {
  try {
    const { exact, near } = await api.ofUser({ remote_user, app_code });
    const known = new Set([...(before?.exact ?? exact), ...(before?.near ?? near)].map(identityOf));
    const own = answered && exact.find((license) => hasKeyOf(answered, license));
    const added = exact.filter((license) => !known.has(identityOf(license)));
    const [only = own, ...others] = own ? [own] : added;
    const isOfSize = only && (sizeOf(only) ?? size_allowance) === size_allowance;
    if (only && others.length === 0 && isOfSize) return { shows: 'it', license: only, all: exact };
    if (only) {
      const what = added.length === 1 ? `a license of size ${sizeOf(only) ?? '?'}` : `${added.length} licenses`;
      return { shows: 'something else', why: `the list shows ${what} that was not there before` };
    }
    const similar = near.find((license) => !known.has(identityOf(license)));
    if (similar) return { shows: 'something else', why: similarTo(similar, remote_user) };
    return { shows: 'nothing', why: 'the list does not show it' };
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    return { shows: cause.kind === 'incomplete' ? 'a part' : 'no answer', why: `the list failed: ${cause.message}` };
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
  note(`${message}: looking in ${formatDuration(wait)} whether the license of ${fields.remote_user} was created`);
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

function unsettled(fields: LicenseFields, failure: Failure, why: string): Failure {
  return failure.as('unknown', `${failure.message}; ${why}`, { hint: whereToLook(fields), retryable: false });
}

function whereToLook({ remote_user, app_code }: LicenseFields): string {
  return `Look before you create again: ${commandLine('license list', [], { remote_user, app_code })}`;
}
