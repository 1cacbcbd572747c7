import { Failure } from '../core/failure.ts';
import type { LicenseFields } from '../spec/license.ts';
import { decide, takeCensus, type Decision } from './census.ts';
import type { Applying } from './roster-run.ts';

/** A row with what the server has for it. */
export interface Task {
  readonly row: LicenseFields;
  readonly decision: Decision;
}

/** Before anything was done, a list that breaks off is as good as none. */
export async function planAtFirst(rows: readonly LicenseFields[], applying: Applying): Promise<Task[]> {
  try {
    return await planRows(rows, applying);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
    throw new Failure('unavailable', `${cause.message}; nothing was changed`, { ...cause.details, cause });
  }
}

/** What has to be done for each row, by the server's own list. */
export async function planRows(
  rows: readonly LicenseFields[],
  { licensing, concurrency }: Pick<Applying, 'licensing' | 'concurrency'>,
): Promise<Task[]> {
  const tasks: Task[] = [];
  for (const [app_code, own] of byApp(rows)) {
    const census = await takeCensus(
      licensing(app_code),
      app_code,
      own.map(({ remote_user }) => remote_user),
      concurrency,
    );
    for (const row of own) tasks.push({ row, decision: decide(census.get(row.remote_user) ?? [], row) });
  }
  return tasks;
}

function byApp(rows: readonly LicenseFields[]): Map<number, LicenseFields[]> {
  const apps = new Map<number, LicenseFields[]>();
  for (const row of rows) {
    const own = apps.get(row.app_code);
    if (own) own.push(row);
    else apps.set(row.app_code, [row]);
  }
  return apps;
}
