import { listOfApplication } from '../../api/licensing/application.ts';
import { countFindings } from '../../jobs/license/accepted-findings.ts';
import { auditLicenses, readAccepted, type ExpectedLicense } from '../../jobs/license/audit-licenses.ts';
import type { Listed } from '../../jobs/license/kept-licenses.ts';
import { retiredHere } from '../../jobs/license/retire.ts';
import { oncePerUser } from '../../store/roster/read-roster.ts';
import { optional, outputField, textField } from '../../schema/field.ts';
import { rosterFields } from '../../schema/license.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Accounts, Services } from '../context.ts';
import { rosterOptions } from '../roster.ts';
import { allAppsOption, ofEveryApp, allAppsRule, type OwnApp } from './apps.ts';
import { readUsers } from './license-roster.ts';

export default command({
  about: [
    'Finds several-licenses (of one user in one application), shared-key (one key under two users), similar-name (two users whose names differ only by case, runs of blanks or leading zeros), bad-name and bad-size (outside ' +
      'the rules); with --roster also missing (a user without a license), unexpected (a license of a user who is not in the roster) and ' +
      'other-size (not the size_allowance of the roster, if it has that column). The last line counts findings and licenses. It also counts retired licenses; they are not findings.',
    'With -o csv the findings are a roster for license apply: check them first, and remove the lines that you do not want. size_allowance is that of the roster ' +
      'for missing and other-size, else that of the license.',
    'To accept findings, write those of today with --write-accepted FILE, a line each; you can add the reason after #. --accept FILE then only counts them. A ' +
      'finding whose values change is shown again; one that is gone is named, so that you can remove its line.',
    'Exit code 10 if there is a finding that is not accepted; 8 if the list is incomplete: then only the part received is audited, and nothing is reported as missing.',
  ],
  options: {
    ...optional({ app_code: rosterFields.app_code }),
    ...allAppsOption,
    roster: textField(
      'FILE',
      'Who should have a license: remote_user, optional size_allowance and app_code; - is standard input',
    ),
    ...rosterOptions,
    accept: textField('FILE', 'Findings that are accepted: they are counted and not shown'),
    write_accepted: outputField(
      'FILE',
      'Write the findings of today for --accept; lines of --accept that are still found, or not looked for, are kept',
    ),
  },
  examples: [
    'chatelaine license audit',
    'chatelaine license audit --roster roster.csv -o json',
    'chatelaine license audit --write-accepted accepted.txt',
  ],

  rules: [allAppsRule],

  async *rows({ app_code, all_apps, roster, accept, write_accepted, ...options }, context) {
    const values = { ...options, app_code };
    const expected = roster === undefined ? undefined : (await readUsers(roster, values, oncePerUser, context)).rows;
    const licenses = all_apps ? ofEveryApp(context, ofOwnApp) : licensesOf(expected, app_code, context);
    const accepted =
      accept === undefined ? new Map<string, string>() : readAccepted(await context.disk.read(accept), accept);
    const isRetired = await retiredHere(context.record, context.warn);
    const accepting = { accepted, write_accepted, hasRoster: expected !== undefined };
    yield* countFindings(auditLicenses(licenses, expected, isRetired), accepting, context);
  },

  fields: ['license'],

  show: {
    columns: [
      ...whole('finding', 'remote_user'),
      'app_code',
      { name: 'size_allowance', keep: -1, width: 14 },
      ...whole('license_code'),
      { name: 'detail', keep: 1, width: 20 },
    ],
    data: (row) => ({ ...row, license: row.license?.fields ?? null }),
    outcome: { by: 'finding', columns: ['finding', 'remote_user', 'app_code', 'size_allowance'] },
  },
});

async function* licensesOf(
  expected: readonly ExpectedLicense[] | undefined,
  explicit: number | undefined,
  context: Services & Accounts,
): AsyncGenerator<Listed> {
  const codes = expected ? new Set(expected.map(({ app_code }) => app_code)) : [explicit];
  for (const app_code of codes) {
    const choice = { app_code: explicit, row_app_code: app_code };
    const own = app_code ?? (await context.licensingAccount(choice)).app_code;
    const licenses = listOfApplication(context.licensing(choice), { app_code }, own);
    for await (const license of licenses) yield { app_code: own, license };
  }
}

async function* ofOwnApp({ api, app_code }: OwnApp): AsyncGenerator<Listed> {
  for await (const license of listOfApplication(api, {}, app_code)) yield { app_code, license };
}
