import { createHash } from 'node:crypto';
import { usage } from '../../core/failure.ts';
import { mapped, type Rows } from '../../core/rows.ts';
import { readRows, refuseRepeats, uniqueUser, type Placed } from '../../jobs/roster/read-roster.ts';
import { rosterOf, type Roster } from '../../jobs/roster/roster.ts';
import type { Values } from '../../schema/field.ts';
import { rosterFields, type LicenseFields } from '../../schema/license.ts';
import { formatOf, type RosterFormat } from '../../store/roster/roster-file.ts';
import type { Context } from '../context.ts';
import { ownCodeIn, withAppCodes } from '../roster.ts';

/**
 * The roster to be applied and the hash of its text, once every row was checked.
 * @throws Failure usage; config where nobody tells the application
 */
export async function readWholeRoster(
  file: string,
  format: RosterFormat | undefined,
  typed: number | undefined,
  context: Context,
): Promise<{ readonly roster: Roster; readonly input: string }> {
  const text = await context.read(file);
  const completion = ownCodeIn<Values<typeof rosterFields>>(typed, context);
  const read = await readRows(text, format ?? formatOf(file, text), rosterFields, uniqueUser, completion);
  if (read.length === 0) throw usage(`${file}: no rows`);
  const roster = checkedRoster(await withAppCodes(read, typed, context));
  return { roster, input: createHash('sha256').update(text).digest('hex') };
}

/** Rows that differed may name one user twice, once the application of each is known. */
function checkedRoster(placed: Rows<Placed<LicenseFields>>): Roster {
  const roster = rosterOf(mapped(placed, placed.length, ({ row }) => inOrder(row)));
  if ([...roster.users.values()].some(({ repeats }) => repeats)) refuseRepeats(placed, uniqueUser);
  return roster;
}

/** As the fields of a license stand. */
function inOrder({ remote_user, app_code, size_allowance }: LicenseFields): LicenseFields {
  return { remote_user, app_code, size_allowance };
}
