import { Planned } from '../../api/http/call.ts';
import { keyOf } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { isCreation, sizeOf } from './decide.ts';
import { resultOf, type Plan, type PlannedRow, type RowResult } from './plan-roster.ts';
import { retiredFields, type MissingUser } from './retire.ts';

export type DryRow = RowResult<'create' | 'resize' | 'unchanged' | 'failed' | 'retire'>;

export function dryRow({ row, decision }: PlannedRow): DryRow {
  if (decision.step === 'refused') return resultOf(row, 'failed', null, decision.failure.message);
  if (!('license' in decision)) return resultOf(row, 'create', null);
  const { step, license } = decision;
  return resultOf(row, step, license, null, step === 'resize' ? (sizeOf(license) ?? null) : null);
}

/** Asks for each request of the plan, what is retired last: a dry run notes it and sends nothing. */
export async function planRequests(
  { rows }: Plan,
  missing: readonly MissingUser[],
  { licensing }: { readonly licensing: (app_code: number) => Pick<LicensingApi, 'create' | 'update'> },
  now: Milliseconds,
): Promise<void> {
  for (const { row, decision } of rows) {
    const { app_code, size_allowance } = row;
    if (isCreation(decision)) await noted(licensing(app_code).create(row));
    if (decision.step === 'resize')
      await noted(licensing(app_code).update(keyOf(decision.license), { size_allowance }));
  }
  for (const { key, remote_user, app_code } of missing)
    await noted(licensing(app_code).update(key, retiredFields(remote_user, key, now)));
}

async function noted(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (cause) {
    if (!(cause instanceof Planned)) throw cause;
  }
}
