import type { Roster } from '../../jobs/roster/roster.ts';
import type { Claims } from '../../store/lock/claims.ts';
import type { Context } from '../context.ts';
import { refuseReadOnly } from './options.ts';

/** Where the licenses of one application are made. */
export interface Target {
  readonly app_code: number;
  readonly origin: string;
}

/**
 * Where each application's licenses are made, before anything is sent.
 * @throws Failure config where a credential is missing or may not write
 */
export async function targetOf({ users }: Roster, context: Context): Promise<Target[]> {
  const targets: Target[] = [];
  for (const app_code of [...users.keys()].sort((one, other) => one - other)) {
    const account = await context.licensingAccount({ app_code });
    refuseReadOnly(account);
    targets.push({ app_code, origin: context.identityOf(account) });
  }
  return targets;
}

/** The claims on the users of each application. */
export async function claimsOf(job: string, target: readonly Target[], context: Context): Promise<Map<number, Claims>> {
  const claims = new Map<number, Claims>();
  for (const { app_code, origin } of target) claims.set(app_code, await context.claims(job, origin, app_code));
  return claims;
}
