import type { UnconfirmedCreation } from '../../api/licensing/creation.ts';
import type { License, UserLicenses } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { similarTo, sizeOf } from './decide.ts';

/** What settling an unconfirmed POST needs besides the API. */
export interface Settling {
  /** How long after an unconfirmed request the server may still commit it. */
  readonly settle: Milliseconds;
  /** How often a POST may be repeated. */
  readonly retries: number;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
  /** Called right before each POST is sent, again where it is sent again; its failure ends the work. */
  readonly posting?: () => Promise<void>;
}

export type CreatingApi = Pick<LicensingApi, 'create' | 'ofUser'>;

/**
 * Creates one license. An unconfirmed request is settled by a list after `settle`: exactly one license that was not there before, of
 * the asked size, is the one created; if there is none, the request is repeated (docs/exactly-once.md, States of a request).
 * @param before the user's licenses before the request; undefined where they are not known, and then nothing can be settled
 * @throws Failure unknown where the list cannot tell; rejected where the server redirected the request and the list shows nothing
 */
export async function createLicense(
  api: CreatingApi,
  fields: LicenseFields,
  before: UserLicenses | undefined,
  settling: Settling,
): Promise<License> {
  for (let posts = 1; ; posts += 1) {
    const creation = await api.create(fields, settling.posting);
    if (creation.state === 'confirmed') return creation.license;
    if (!before) throw unsettled(fields, creation, 'the licenses that were there before are not known');
    const found = await settleCreation(api, fields, { creation, before }, settling);
    if (found) return found;
    if (creation.reason === 'redirect') throw creation.failure;
    if (!mayRepeat(creation)) throw unsettled(fields, creation, 'the list does not show it');
    if (posts > settling.retries)
      throw unsettled(fields, creation, `sent ${times(posts)}, and the list does not show it`);
    settling.note(`the license of ${fields.remote_user} was not created: sending the request again`);
  }
}

/** Whether a POST may be repeated once a whole list, read after `settle`, does not show the license. */
export function mayRepeat({ reason }: UnconfirmedCreation): boolean {
  return reason === 'no answer' || reason === 'error inside 2xx';
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

interface Open {
  readonly creation: UnconfirmedCreation;
  readonly before: UserLicenses;
}

/** The license that an unconfirmed request created; undefined where a whole list does not show any. */
async function settleCreation(
  api: CreatingApi,
  fields: LicenseFields,
  open: Open,
  { settle, sleep, note }: Settling,
): Promise<License | undefined> {
  const { reason, failure } = open.creation;
  // The server said that the license is there: only a list that lags does not show it at once.
  const shown = reason === 'empty answer' ? await createdIn(api, fields, open) : undefined;
  if (shown) return shown;
  note(
    `${failure.message}: looking in ${formatDuration(settle)} whether the license of ${fields.remote_user} was created`,
  );
  try {
    await sleep(settle);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    const kind = cause.kind === 'unavailable' ? 'unknown' : cause.kind;
    throw cause.as(kind, `${cause.message} before it was known whether the license was created`, {
      hint: whereToLook(fields),
      retryable: false,
    });
  }
  return createdIn(api, fields, open);
}

async function createdIn(api: CreatingApi, fields: LicenseFields, open: Open): Promise<License | undefined> {
  const { exact, near } = await listAgain(api, fields, open);
  const known = new Set([...open.before.exact, ...open.before.near].map(identityOf));
  const added = exact.filter((license) => !known.has(identityOf(license)));
  const [only, ...others] = added;
  if (only && others.length === 0 && (sizeOf(only) ?? fields.size_allowance) === fields.size_allowance) return only;
  if (only) throw unsettled(fields, open.creation, `the list shows ${described(added)} that was not there before`);
  const similar = near.find((license) => !known.has(identityOf(license)));
  if (similar) throw unsettled(fields, open.creation, similarTo(similar, fields.remote_user));
  return undefined;
}

function described(added: readonly License[]): string {
  const [only, ...others] = added;
  return only && others.length === 0 ? `a license of size ${sizeOf(only) ?? '?'}` : `${added.length} licenses`;
}

async function listAgain(
  api: CreatingApi,
  { remote_user, app_code, size_allowance }: LicenseFields,
  { creation }: Open,
): Promise<UserLicenses> {
  try {
    return await api.ofUser({ remote_user, app_code });
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    throw unsettled({ remote_user, app_code, size_allowance }, creation, `the list failed: ${cause.message}`);
  }
}

function identityOf({ key, fields }: License): string {
  return key ?? writeJson(fields);
}

function unsettled(fields: LicenseFields, { failure }: UnconfirmedCreation, why: string): Failure {
  return failure.as('unknown', `${failure.message}; ${why}`, { hint: whereToLook(fields), retryable: false });
}

function whereToLook({ remote_user, app_code }: LicenseFields): string {
  return `Look before you create again: chatelaine license list --remote-user ${shellWord(remote_user)} --app-code ${app_code}`;
}
