import { listOfApplication } from '../../api/licensing/application.ts';
import { Failure } from '../../core/failure.ts';
import { countFindings, readAccepted } from '../../jobs/license/accepted-findings.ts';
import {
  auditLicenses,
  AuditCounts,
  type ExpectedLicense,
  type FindingRow,
  type Listed,
} from '../../jobs/license/audit-licenses.ts';
import { oncePerUser } from '../../store/roster/read-roster.ts';
import { optional, outputField, textField } from '../../schema/field.ts';
import { licenseFilters } from '../../schema/license.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Accounts, Services } from '../context.ts';
import { rosterOptions } from '../roster.ts';
import { allAppsOption, allAppsRule, ofEveryApp, storedServers, type OwnApp } from './apps.ts';
import { readUsers } from './license-roster.ts';

export default command({
  about: [
    'Finds several-licenses (of one user in one application), shared-key (one key under two users), similar-name (two users whose names differ only by case, runs of blanks, Unicode form, leading zeros or doubled backslashes), bad-name and bad-size (outside ' +
      'the rules); with --roster also missing (a user without a license), unexpected (a license of a user who is not in the roster) and ' +
      'other-size (not the size_allowance of the roster, if it has that column). The last line counts findings and licenses. It also counts retired licenses; they are not findings.',
    "With -o csv the findings are a roster for license apply: check them first, and remove the lines that you do not want. size_allowance is the roster's " +
      "for missing and other-size, otherwise the license's.",
    'To accept findings, write the current ones with --write-accepted FILE, a line each; you can add the reason after #. --accept FILE then only counts them. A ' +
      'finding whose values change is shown again; one that no longer exists is named, so you can remove its line.',
    'Exit code 10 if there is a finding that is not accepted; 8 if the list is incomplete: then only the part received is audited, and nothing is reported as missing.',
  ],
  options: {
    ...optional({ app_code: licenseFilters.app_code }),
    ...allAppsOption,
    roster: textField(
      'FILE',
      'Who should have a license: remote_user, optional size_allowance and app_code; - is standard input',
    ),
    ...rosterOptions,
    accept: textField('FILE', 'Accepted findings: count them, but do not show them'),
    write_accepted: outputField(
      'FILE',
      'Write the current findings for --accept; keeps the lines of --accept that were found again, or not checked',
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
    const accepted =
      accept === undefined ? new Map<string, string>() : readAccepted(await context.disk.read(accept), accept);
    const accepting = { accepted, write_accepted, hasRoster: expected !== undefined };
    const counts = new AuditCounts();
    const findings = all_apps
      ? auditServers(await storedServers(context), expected, context, counts)
      : auditLicenses(licensesOf(expected, app_code, context), expected, counts);
    yield* countFindings(findings, counts, accepting, context);
  },

  fields: ['license', 'base_url'],

  show: {
    columns: [
      ...whole('finding', 'remote_user'),
      'app_code',
      { name: 'size_allowance', keep: -1, width: 14 },
      ...whole('license_code'),
      { name: 'detail', keep: 1, width: 20 },
      { name: 'license', when: 'asked' },
    ],
    others: 'known',
    data: (row) => ({ ...row, license: row.license?.fields ?? null }),
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

/** Each server by itself: a user of another one is another user. @throws as `auditLicenses`, after all servers */
async function* auditServers(
  servers: Awaited<ReturnType<typeof storedServers>>,
  roster: readonly ExpectedLicense[] | undefined,
  context: Services & Accounts,
  counts: AuditCounts,
): AsyncGenerator<FindingRow> {
  const [first, second] = servers;
  if (first && !second) {
    yield* auditLicenses(ofEveryApp(servers, context, ofOwnApp), roster, counts);
    return;
  }
  const originOfRow = roster && (await originsOfRows(roster, context));
  let incomplete: Failure | undefined;
  for (const apps of servers) {
    const [{ base_url }] = apps;
    const own = roster?.filter((row) => originOfRow?.get(row.app_code) === context.accounts.identityOf({ base_url }));
    try {
      const audit = auditLicenses(ofEveryApp([apps], context, ofOwnApp), own, counts, base_url);
      for await (const found of audit) yield { ...found, base_url };
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
      incomplete = cause.as('incomplete', [...(incomplete ? [incomplete.message] : []), cause.message].join('\n'));
    }
  }
  if (incomplete) throw incomplete;
}

/** The server of each application in the roster. @throws Failure config where one is not stored */
async function originsOfRows(roster: readonly ExpectedLicense[], { licensingAccount, accounts }: Accounts) {
  const origins = new Map<number, string>();
  for (const { app_code } of roster)
    if (!origins.has(app_code))
      origins.set(app_code, accounts.identityOf(await licensingAccount({ row_app_code: app_code })));
  return origins;
}

async function* ofOwnApp({ api, app_code }: OwnApp): AsyncGenerator<Listed> {
  for await (const license of listOfApplication(api, {}, app_code)) yield { app_code, license };
}
