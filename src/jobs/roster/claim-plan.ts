import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { areShared, type SharedClaims } from '../../store/claims.ts';
import { claimRoster, type ClaimingRoster, type RosterClaims } from '../license/claim-roster.ts';
import { shareRoster, type SharingRoster } from '../license/share-roster.ts';
import { planRoster, type Plan, type Planning } from './plan-roster.ts';

export type ClaimingPlan = ClaimingRoster & Pick<SharingRoster, 'elapsed' | 'sleep' | 'note'>;

export interface ClaimedPlan {
  readonly plan: Plan;
  readonly claims: RosterClaims;
}

/**
 * Plans a roster under claims. Those of this machine are taken for all rows before the list is read; those of a ledger only for rows
 * whose license is to be created, when they are reached (docs/exactly-once.md, The shared ledger).
 * @throws Failure unavailable, config, or of a list that cannot be read
 */
export async function planClaimed(
  rows: readonly LicenseFields[],
  planning: Planning,
  claiming: ClaimingPlan,
): Promise<ClaimedPlan> {
  const shared = sharedOf(claiming);
  if (shared) {
    // A ledger that cannot be used is known before anything is listed or changed.
    const before = new Map<number, Milliseconds>();
    for (const [app_code, own] of shared) before.set(app_code, (await own.takeFree([])).now);
    const plan = await planRoster(rows, planning);
    const created = plan.tasks.flatMap(({ row, decision }) => (decision.step === 'create' ? [row] : []));
    return { plan, claims: shareRoster(created, { ...claiming, claims: shared, listedAt: plan.listedAt, before }) };
  }
  const claims = await claimRoster(rows, claiming);
  try {
    return { plan: await planRoster(rows, planning), claims };
  } catch (cause) {
    await claims.releaseAll();
    throw cause;
  }
}

/** The claims of a ledger; undefined where they are of this machine. */
function sharedOf({ claims }: ClaimingPlan): ReadonlyMap<number, SharedClaims> | undefined {
  const shared = [...claims].flatMap(([app_code, own]) => (areShared(own) ? [[app_code, own] as const] : []));
  if (shared.length === 0) return undefined;
  if (shared.length === claims.size) return new Map(shared);
  throw new Failure('config', 'only some of the applications of this roster have a ledger', {
    hint: 'Set CHATELAINE_LEDGER, or store the ledger in the profile of each application.',
  });
}
