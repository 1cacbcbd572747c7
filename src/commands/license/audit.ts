import { Failure } from '../../core/failure.ts';
import { mapped, type Rows } from '../../core/rows.ts';
import { auditLicenses, type Listed } from '../../jobs/license/audit-licenses.ts';
import { readRows, refuseRepeats, uniqueUser } from '../../jobs/roster/read-roster.ts';
import { optional, type Values } from '../../schema/field.ts';
import { rosterFields, type LicenseFields } from '../../schema/license.ts';
import { formatOf, type RosterFormat } from '../../store/roster/roster-file.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { ownCodeIn, rosterOptions, withAppCodes } from '../roster.ts';

const auditFields = { remote_user: rosterFields.remote_user, app_code: rosterFields.app_code };

export default command({
  name: 'license audit',
  summary: 'Find licenses that should not be as they are',
  about: [
    'Finds several-licenses (of one user in one application), shared-key (one key under two users), bad-name and bad-size (outside ' +
      'the rules); with --roster also missing (a user without a license) and unexpected (a license of nobody in the roster). ' +
      'Exit code 10 if something was found.',
  ],
  options: {
    ...optional({ app_code: rosterFields.app_code }),
    roster: {
      kind: 'string',
      nonempty: true,
      placeholder: 'FILE',
      help: 'Who should have a license: remote_user, optional app_code; - is standard input',
    },
    ...rosterOptions,
  },
  examples: ['chatelaine license audit', 'chatelaine license audit --roster roster.csv -o json'],

  async *run({ app_code, roster, input_format }, context) {
    const expected = roster === undefined ? undefined : await readExpected(roster, input_format, app_code, context);
    let findings = 0;
    for await (const finding of auditLicenses(licensesOf(expected, app_code, context), expected)) {
      findings += 1;
      yield finding;
    }
    if (findings === 0) context.note('no findings');
    if (findings > 0) throw new Failure('differences', `${findings} findings`);
  },

  show: {
    whole: ['license'],
    columns: ['finding', 'remote_user', 'app_code', 'license', 'detail'],
    data: (row) => ({ ...row, license: row.license?.fields ?? null }),
    cell: (row, column) => (column === 'license' && row.license ? row.license.key : undefined),
  },
});

type Expected = Pick<LicenseFields, 'remote_user' | 'app_code'>;

async function readExpected(
  file: string,
  format: RosterFormat | undefined,
  typed: number | undefined,
  context: Context,
): Promise<Rows<Expected>> {
  const text = await context.read(file);
  const completion = ownCodeIn<Values<typeof auditFields>>(typed, context);
  const read = await readRows(text, format ?? formatOf(file, text), auditFields, uniqueUser, completion);
  const placed = await withAppCodes(read, typed, context);
  refuseRepeats(placed, uniqueUser);
  return mapped(placed, placed.length, ({ row }) => row);
}

function codesOf(rows: Iterable<Expected>): Set<number> {
  const codes = new Set<number>();
  for (const { app_code } of rows) codes.add(app_code);
  return codes;
}

/** The licenses of every application that is asked about. */
async function* licensesOf(
  expected: Rows<Expected> | undefined,
  typed: number | undefined,
  context: Context,
): AsyncGenerator<Listed> {
  const codes = expected ? codesOf(expected) : [typed];
  for (const app_code of codes) {
    const own = app_code ?? (await context.licensingAccount({ app_code })).app_code;
    for await (const license of context.licensing({ app_code }).list({ app_code })) yield { app_code: own, license };
  }
}
