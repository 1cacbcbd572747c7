import { givenNames } from '../../jobs/license/given-names.ts';
import type { LicenseUser } from '../../jobs/license/license-user.ts';
import type { ClaimingJob, QueuedClaims } from '../../store/claims.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import type { Accounts, Invocation, Ledgers, Terminal, Time } from '../context.ts';
import { defaultSettle } from './options.ts';

export interface Target {
  readonly app_code: number;
  readonly account: LicensingCredential;
  /** The name of the server in journals and claims. */
  readonly origin: string;
}

/** Where each application's licenses are created, by code. @throws Failure config where a credential is missing */
export async function targetsOf(
  rows: readonly Pick<LicenseUser, 'app_code'>[],
  explicit: number | undefined,
  { licensingAccount, accounts: { identityOf } }: Accounts,
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const app_code of [...new Set(rows.map((row) => row.app_code))].sort((one, other) => one - other)) {
    const account = await licensingAccount({ app_code: explicit, row_app_code: app_code });
    targets.push({ app_code, account, origin: identityOf(account) });
  }
  return targets;
}

/** The targets in words: `licenses.example.com, application 4711`. */
export function inTargets(targets: readonly Target[]): string {
  const hosts = [...new Set(targets.map(({ account }) => new URL(account.base_url).host))];
  const codes = targets.map(({ app_code }) => app_code);
  return `${hosts.join(' and ')}, application${codes.length === 1 ? '' : 's'} ${codes.join(', ')}`;
}

export async function claimsOf(
  targets: readonly Target[],
  { settle, concurrency, job }: Readonly<Record<'settle' | 'concurrency', number> & { job: ClaimingJob }>,
  { ledgers: { claims } }: Ledgers,
): Promise<Map<number, QueuedClaims>> {
  const opened = new Map<number, QueuedClaims>();
  for (const { app_code, account } of targets)
    opened.set(app_code, await claims(account, app_code, settle, concurrency, job));
  return opened;
}

/** The names that a run gives to licenses of that server; a dry run gives none. */
export function namesOf(
  account: LicensingCredential,
  { options, ledgers, clock, ...terminal }: Ledgers & Time & Terminal & Invocation,
) {
  const claimsOf = async (app_code: number) =>
    options.dry_run ? undefined : ledgers.claims(account, app_code, defaultSettle);
  return givenNames({ ...terminal, ...clock, settle: defaultSettle, claimsOf });
}

/** Open answers of each application, without a claim. */
export function answersOf(targets: readonly Target[], { ledgers: { openAnswers } }: Ledgers) {
  return async (app_code: number, users: readonly string[]) => {
    const target = targets.find((one) => one.app_code === app_code);
    return target ? openAnswers(target.account, app_code, users) : new Map<string, never>();
  };
}
