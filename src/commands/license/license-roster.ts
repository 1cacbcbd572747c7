import { usage } from '../../core/failure.ts';
import { userKey } from '../../jobs/license/claim-users.ts';
import type { Values } from '../../schema/field.ts';
import { rosterFields, type LicenseFields } from '../../schema/license.ts';
import { isObject, writeJson } from '../../core/json.ts';
import { journalIn } from '../../store/journal.ts';
import { recordLine } from '../../store/roster/ndjson.ts';
import { oncePerUser, readRoster, type CheckedRoster, type RosterSource } from '../../store/roster/read-roster.ts';
import type { Accounts, Disk, Terminal } from '../context.ts';
import { appCodeOfEach, rosterSource, type RosterValues } from '../roster.ts';
import { targetsOf, type Target } from './target.ts';

/** The columns of every result of `license apply`, in their order. */
export const applyColumns = ['remote_user', 'app_code', 'size_allowance', 'status', 'license_code'] as const;

interface Reading extends RosterValues {
  readonly keep_columns?: boolean;
  readonly app_code?: number;
}

/**
 * The roster to be applied, every row checked and with its application.
 * @throws Failure usage; config where the run's own application is needed and not known
 */
export async function readLicenseRoster(
  file: string,
  { keep_columns, app_code, ...values }: Reading,
  context: Accounts & Disk & Terminal,
): Promise<CheckedRoster<LicenseFields>> {
  const beside = [...applyColumns, 'license', 'error', 'change', 'size_allowance_before'];
  const source = await rosterSource(file, values, context, keep_columns ? beside : undefined);
  const journal = journalIn(source.file, source.bytes);
  const completion = async (rows: readonly Values<typeof rosterFields>[]) => {
    const codeOf = await appCodeOfEach(rows, app_code, context);
    // In the order of the result, whatever that of the file.
    return (row: Values<typeof rosterFields>): LicenseFields => ({
      remote_user: row.remote_user,
      app_code: codeOf(row),
      size_allowance: row.size_allowance,
    });
  };
  const rules = { fields: rosterFields, ...oncePerUser, completion };
  if (!journal) return readRoster(source, rules);
  const [header, ...records] = journal;
  const roster = await readRoster(resizedRoster(source, records), rules);
  refuseOtherServers(header, await targetsOf(roster.rows, app_code, context), source.file);
  return roster;
}

/** The users of another server are others. @throws Failure usage where a journal is that of a run on one */
function refuseOtherServers(header: unknown, targets: readonly Target[], file: string): void {
  const { target } = isObject(header) ? header : {};
  const known = Array.isArray(target) ? target.filter(isObject) : [];
  for (const { app_code, origin } of targets)
    if (!known.some((own) => own['app_code'] === app_code && own['origin'] === origin))
      throw usage(
        `${file} records another server than ${origin}; nothing was changed`,
        'Give the --profile of that run.',
      );
}

/** A journal of `license apply` is a roster of the licenses that it resized, with the sizes that they had before the first time. */
function resizedRoster(source: RosterSource, records: readonly unknown[]): RosterSource {
  const rows = new Map<string, string>();
  for (const record of records) {
    if (!isObject(record) || typeof record['size_allowance_before'] !== 'number') continue;
    const { remote_user, app_code, size_allowance_before } = record;
    const key = writeJson([app_code, remote_user]);
    if (!rows.has(key)) rows.set(key, recordLine({ remote_user, app_code, size_allowance_before }));
  }
  return { ...source, bytes: Buffer.from([...rows.values()].join('')), format: 'ndjson' };
}

/** Adds the kept columns of a roster to the rows of a result. */
export function keptColumns({
  rows,
  others,
}: CheckedRoster<LicenseFields>): <R extends Pick<LicenseFields, 'remote_user' | 'app_code'>>(row: R) => R {
  if (others.length === 0) return (row) => row;
  const kept = new Map(rows.map((row, index) => [userKey(row), others[index]]));
  return (row) => ({ ...row, ...kept.get(userKey(row)) });
}
