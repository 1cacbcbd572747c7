import { usage } from '../../core/failure.ts';
import { userKey, type LicenseUser } from '../../jobs/license/claim-users.ts';
import type { KnownUsers } from '../../jobs/license/decide.ts';
import { putBackFields, rosterFields, type LicenseFields } from '../../schema/license.ts';
import { isObject, writeJson } from '../../core/json.ts';
import { journalIn } from '../../store/journal.ts';
import { recordLine } from '../../store/roster/ndjson.ts';
import { oncePerUser, readRoster, type CheckedRoster } from '../../store/roster/read-roster.ts';
import type { Accounts, Disk, Terminal } from '../context.ts';
import { appCodeOfEach, rosterSource, type RosterValues } from '../roster.ts';
import { targetsOf } from './target.ts';

/** The columns of every result of `license apply`, in their order. */
export const applyColumns = ['remote_user', 'app_code', 'size_allowance', 'status', 'license_code'] as const;

interface Reading extends RosterValues {
  readonly keep_columns?: boolean;
  readonly app_code?: number;
}

type RosterRow = Omit<LicenseFields, 'app_code'> & { readonly app_code?: number };

/**
 * The roster to be applied, every row checked and with its application. A journal of `license apply` is one too, of the licenses that it
 * resized.
 * @throws Failure usage; config where the run's own application is needed and not known
 */
export async function readLicenseRoster(
  file: string,
  { keep_columns, app_code, ...values }: Reading,
  context: Accounts & Disk & Terminal,
): Promise<CheckedRoster<LicenseFields> & Pick<KnownUsers, 'resizedTo'>> {
  const beside = [...applyColumns, 'license', 'error', 'change', 'size_allowance_before'];
  const source = await rosterSource(file, values, context, keep_columns ? beside : undefined);
  const journal = journalIn(source.file, source.bytes);
  const completion = async (rows: readonly RosterRow[]) => {
    const codeOf = await appCodeOfEach(rows, app_code, context);
    // In the order of the result, whatever that of the file.
    return (row: RosterRow): LicenseFields => ({
      remote_user: row.remote_user,
      app_code: codeOf(row),
      size_allowance: row.size_allowance,
    });
  };
  if (!journal) return readRoster(source, { fields: rosterFields, ...oncePerUser, completion });
  const { text, resizedTo } = resizedIn(journal);
  const resized = { ...source, bytes: Buffer.from(text), format: 'ndjson' as const };
  const roster = await readRoster(resized, { fields: putBackFields, ...oncePerUser, completion });
  // The users of another server are others.
  const { target } = isObject(journal[0]) ? journal[0] : {};
  const known = Array.isArray(target) ? target.filter(isObject) : [];
  for (const { origin, ...target } of await targetsOf(roster.rows, app_code, context))
    if (!known.some((own) => own['app_code'] === target.app_code && own['origin'] === origin))
      throw usage(
        `${source.file} records another server than ${origin}; nothing was changed`,
        'Give the --profile of that run.',
      );
  return { ...roster, resizedTo };
}

/** The licenses that a journal records as resized, each on its line, with the size that it had before the first time. */
function resizedIn(journal: readonly unknown[]): { readonly text: string } & Required<Pick<KnownUsers, 'resizedTo'>> {
  const sizes = new Map<string, unknown>();
  const keyOf = (app_code: unknown, remote_user: unknown): string => writeJson([app_code, remote_user]);
  const lines = journal.map((record) => {
    if (!isObject(record) || typeof record['size_allowance_before'] !== 'number') return '\n';
    const { remote_user, app_code, size_allowance, size_allowance_before } = record;
    const key = keyOf(app_code, remote_user);
    if (sizes.has(key)) return '\n';
    sizes.set(key, size_allowance);
    return recordLine({ remote_user, app_code, size_allowance_before });
  });
  const resizedTo = ({ app_code, remote_user }: LicenseUser): number => Number(sizes.get(keyOf(app_code, remote_user)));
  return { text: lines.join(''), resizedTo };
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
