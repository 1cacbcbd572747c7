import type { LicensingApi } from '../api/licensing/licensing.ts';
import type { CheckedRoster, RosterRules, RosterSource } from '../store/roster/read-roster.ts';
import { namesIn } from '../core/table-names.ts';
import type { UsageRule } from '../schema/usage-rules.ts';
import { choiceField, countField, flagField, textField, type Fields, type Values } from '../schema/field.ts';
import { rosterFormats } from '../schema/license.ts';
import type { Disk, Services, Terminal } from './context.ts';

export const rosterOptions = {
  input_format: choiceField(rosterFormats, 'FORMAT', 'csv, xlsx, ndjson or json (default: detected)'),
  sheet: {
    ...textField('NAME', 'The sheet of a workbook (default: the one that has the columns)'),
    rare: 'sheets',
  },
  header_line: {
    ...countField('N', 'The line of the header in CSV or a workbook (default: the first line that is not blank)'),
    rare: 'sheets',
  },
  column: {
    ...textField('NAME=HEADER', 'The name that a column has in the file, as in remote_user=Login'),
    many: true,
    rare: 'sheets',
  },
  where: { ...textField('COLUMN=VALUE', 'Only rows with VALUE in COLUMN'), many: true },
} as const satisfies Fields;

/** Where --from names the sheet, the options for reading it need --from. */
export const sheetRules: readonly UsageRule[] = namesIn(rosterOptions).map((option) => ({ option, needs: ['from'] }));

export const keepOptions = {
  keep_columns: flagField('Carry the other columns through to the result'),
} as const satisfies Fields;

export const workerOptions = {
  concurrency: {
    ...countField('N', 'Maximum number of requests at the same time (default: 4)'),
    max: 64,
    rare: 'sheets',
  },
} as const satisfies Fields;

export const defaultConcurrency = 4;

export type RosterValues = Values<typeof rosterOptions>;

export type RosterParts = Disk & Terminal;

/** A roster file to read. `keepBeside`: the result's columns, if other columns are kept. @throws Failure usage */
export async function rosterSource(
  file: string,
  { input_format, column, sheet, header_line, where }: RosterValues,
  { disk: { readBytes }, note }: RosterParts,
  keepBeside?: readonly string[],
): Promise<RosterSource> {
  const bytes = await readBytes(file);
  const how = { format: input_format, columns: column, sheet, headerLine: header_line, keepBeside, where, note };
  return { file: file === '-' ? 'standard input' : file, bytes, ...how };
}

/** Reads the rows of a file by those rules. @throws Failure usage */
export async function readSheet<const T extends Fields, R extends Values<T>>(
  file: string,
  how: RosterValues,
  rules: RosterRules<T, R>,
  context: RosterParts,
  keepBeside?: readonly string[],
): Promise<CheckedRoster<R>> {
  const source = await rosterSource(file, how, context, keepBeside);
  return (await import('../store/roster/read-roster.ts')).readRoster(source, rules);
}

/** One API object per application: with the run's key if that has its code, else with the key stored for the code. */
export function apiOfEachApp(context: Services, typed: number | undefined) {
  const apis = new Map<number | undefined, LicensingApi>();
  return (app_code: number | undefined) => {
    const api = apis.get(app_code) ?? context.licensing({ app_code: typed, row_app_code: app_code });
    apis.set(app_code, api);
    return api;
  };
}
