import { keyOf } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { lookUp, whileClaimed, type ClaimedUser, type LookupResult, type UserClaims } from './license-user.ts';
import { createLicense, decidingOn, type CreatedLicense, type CreatingApi, type Settling } from './create-license.ts';
import { decide, openInWords, retriesFor, severalWarning, similarTo, sizeOf, type KnownUsers } from './decide.ts';
import { listAfterPost } from './list-users.ts';
import { recordedChange, recordedCreation, type RecordEvent } from './history.ts';

interface Claiming extends Settling {
  readonly claims: UserClaims;
  readonly record: RecordEvent;
}

type Ensuring = Claiming & Pick<KnownUsers, 'similar' | 'uncounted' | 'sendAgain'>;

interface EnsuredLicense extends CreatedLicense {
  readonly outcome: 'created' | 'resized' | 'unchanged';
  /** Of a license that was resized; undefined also where the list did not tell it. */
  readonly size_before?: number | undefined;
}

type EnsuringApi = Pick<LicensingApi, 'create' | 'ofUser' | 'deciding' | 'update'>;

/**
 * The user gets one license of that size: created, resized or left. Safe to repeat, and beside other processes of
 * this machine, or of every machine with the same ledger.
 * @throws Failure incomplete, rejected where the list forbids creation; unknown where a POST cannot be confirmed
 */
export function ensureLicense(api: EnsuringApi, fields: LicenseFields, ensuring: Ensuring): Promise<EnsuredLicense> {
  return whileClaimed(fields.remote_user, ensuring, async (user) => {
    const before = await lookUpSettled(api, fields, user, ensuring);
    const decision = decide(before, fields, { ...ensuring, answerOf: () => user.history.answer });
    if ('license' in decision) {
      user.confirmed();
      if (decision.licenses.length > 1) ensuring.warn(severalWarning(fields));
      if (decision.step === 'unchanged') return { outcome: 'unchanged', license: decision.license };
      const { size_allowance } = fields;
      const update = () => api.update(keyOf(decision.license), { size_allowance });
      const license = await recordedChange(decision.license, { size_allowance }, ensuring.record, update);
      return { outcome: 'resized', license, size_before: sizeOf(decision.license) };
    }
    if (decision.step === 'refused') throw decision.failure;
    const { unfiltered } = decision;
    // Such a list has not shown yet that it holds new licenses.
    const retries = unfiltered ? 0 : retriesFor(fields, ensuring);
    const create = () => createLicense(api, fields, user, { ...ensuring, before, retries });
    const { license, all, failure } = await recordedCreation(fields, ensuring.record, create);
    const after = unfiltered && all && (await listAfterPost(api, fields, unfiltered, ensuring));
    const why = after instanceof Failure ? after : after?.failure;
    const isUnread = after instanceof Failure && !after.isInterruption;
    if (isUnread) ensuring.warn(`the list was not read again, to see whether it is whole: ${after.message}`);
    return { outcome: 'created', license, all, failure: failure ?? (isUnread ? undefined : why) };
  });
}

/** Creates nothing on a list read less than `settle` after a POST (docs/exactly-once.md, Lists that lag). */
async function lookUpSettled(
  api: EnsuringApi,
  fields: LicenseFields,
  { history }: ClaimedUser,
  { settle, elapsed, sleep, note }: Ensuring,
): Promise<LookupResult> {
  const { posted } = history;
  if (posted === undefined) return lookUp(api, fields);
  const wait = posted + settle - elapsed();
  if (wait > 0) {
    const first = await lookUp(api, fields);
    if (first.shows === 'licenses' || first.shows === 'incomplete') return first;
    const { remote_user } = fields;
    note(`an earlier run may have requested a license of ${remote_user}: listing again in ${formatDuration(wait)}`);
    await sleep(wait);
  }
  return lookUp(api.deciding(decidingOn('unanswered', posted, settle)), fields);
}

/**
 * A second license needs consent; an open answer is a warning. The lookup before it only helps to settle a lost POST.
 * @throws Failure unknown where a POST cannot be confirmed
 */
export function createAnother(
  api: CreatingApi,
  fields: LicenseFields,
  creating: Claiming & Agreeing,
): Promise<CreatedLicense> {
  return whileClaimed(fields.remote_user, creating, async (user) => {
    const { posted = -Infinity, answer } = user.history;
    const isRecent = posted + creating.settle > creating.elapsed();
    const before = await lookBefore(api, fields, creating);
    if (answer && before && before.shows !== 'licenses')
      creating.warn(`${openInWords(fields, answer)}: this creates another one`);
    // A license of a moment ago that the list does not show yet could be taken for the new one.
    const create = () => createLicense(api, fields, user, { ...creating, before: isRecent ? undefined : before });
    return recordedCreation(fields, creating.record, create);
  });
}

interface Agreeing {
  /** Rejects where a person does not want it; elsewhere it is a warning. */
  readonly agree: (reason: string) => Promise<void>;
}

async function lookBefore(
  api: CreatingApi,
  fields: LicenseFields,
  { warn, agree }: Settling & Agreeing,
): Promise<LookupResult | undefined> {
  const { remote_user, app_code } = fields;
  try {
    const before = await lookUp(api, fields);
    if (before.shows === 'incomplete') throw before.failure;
    if (before.shows === 'near') warn(similarTo(before.licenses[0], remote_user));
    if (before.shows !== 'licenses') return before;
    const { length } = before.licenses;
    const has = `${remote_user} already has ${length === 1 ? 'a license' : `${length} licenses`} in application ${app_code}`;
    await agree(`${has}: this creates another; license ensure would not`);
    return before;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    warn(`the licenses of ${remote_user} could not be listed: ${cause.message}`);
    return undefined;
  }
}
