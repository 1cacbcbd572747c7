import { textOf, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { gather } from '../../core/gather.ts';
import type { LicenseFields } from '../../schema/license.ts';

/** What settling a doubt needs besides the API. */
export interface Settling {
  /** How long after a doubtful request the server may still commit it. */
  readonly settle: Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
}

/** How often a license that a list does not show is asked for again. */
const mostPosts = 5;

/**
 * Creates one license. A request in doubt is settled by listing: the one license of that user with that size is the one created;
 * none at all is created again (contract, section 1.4).
 * @throws Failure unknown where the list cannot tell
 */
export async function createLicense(api: LicensingApi, fields: LicenseFields, settling: Settling): Promise<License> {
  for (let posts = 1; ; posts += 1) {
    const created = await attempt(api, fields);
    if (created.license) return created.license;
    if (created.doubt) await waitOut(created.doubt, fields, settling);
    const found = await lookFor(api, fields, created.doubt);
    if (found) return found;
    if (!created.doubt || posts === mostPosts) throw unsettled(fields, 'the list does not show it', created.doubt);
    settling.note(`the license of ${fields.remote_user} was not created: asking again`);
  }
}

interface Attempt {
  readonly license?: License | undefined;
  /** The failure that left it open whether the license was created. */
  readonly doubt?: Failure;
}

async function attempt(api: LicensingApi, fields: LicenseFields): Promise<Attempt> {
  const creation = await api.create(fields);
  if (creation.state === 'confirmed') return { license: creation.license };
  if (creation.reason === 'empty answer') return {};
  if (creation.reason === 'redirect') throw creation.failure;
  return { doubt: creation.failure };
}

async function waitOut(doubt: Failure, fields: LicenseFields, { settle, sleep, note }: Settling): Promise<void> {
  note(
    `${doubt.message}: looking in ${formatDuration(settle)} whether the license of ${fields.remote_user} was created`,
  );
  try {
    await sleep(settle);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw new Failure(
      cause.kind === 'unavailable' ? 'unknown' : cause.kind,
      `${cause.message} before a doubt was settled`,
      {
        ...cause.details,
        hint: whereToLook(fields),
        retryable: false,
        cause: doubt,
      },
    );
  }
}

async function lookFor(
  api: LicensingApi,
  fields: LicenseFields,
  doubt: Failure | undefined,
): Promise<License | undefined> {
  const rows = await rowsOf(api, fields, doubt);
  const [only, ...others] = rows;
  if (!only) return undefined;
  if (others.length === 0 && hasSize(only, fields.size_allowance)) return only;
  throw unsettled(fields, `the list shows ${rows.length} licenses of that user`, doubt);
}

async function rowsOf(
  api: LicensingApi,
  { remote_user, app_code }: LicenseFields,
  doubt: Failure | undefined,
): Promise<License[]> {
  try {
    return await gather(api.list({ remote_user, app_code }));
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind === 'cancelled' || cause.kind === 'terminated') throw cause;
    throw unsettled({ remote_user, app_code, size_allowance: 0 }, `the list failed: ${cause.message}`, doubt);
  }
}

function hasSize(license: License, size: number): boolean {
  const answered = textOf(license, 'size_allowance');
  return answered === undefined || answered === String(size);
}

function unsettled(fields: LicenseFields, why: string, doubt: Failure | undefined): Failure {
  const what = doubt ? doubt.message : 'the server said that it created the license, without returning it';
  return new Failure('unknown', `${what}; ${why}`, {
    ...doubt?.details,
    hint: whereToLook(fields),
    retryable: false,
    cause: doubt,
  });
}

function whereToLook({ remote_user, app_code }: LicenseFields): string {
  return `Look before you create again: chatelaine license list --remote-user '${remote_user}' --app-code ${app_code}`;
}
