import { listOfApplication } from '../../api/licensing/application.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import {
  auditLicenses,
  AuditCounts,
  findingNames,
  placeOf,
  type ExpectedLicense,
  type FindingRow,
  type Listed,
} from '../../jobs/license/audit-licenses.ts';
import { writeNamed } from '../../store/disk/files.ts';
import { oncePerUser } from '../../store/roster/read-roster.ts';
import { optional, outputField, textField } from '../../schema/field.ts';
import { licenseFilters } from '../../schema/license.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Accounts, Services, Terminal } from '../context.ts';
import { rosterOptions } from '../roster.ts';
import { allAppsOption, allAppsRule, ofEveryApp, storedServers, type OwnApp } from './apps.ts';
import { readUsers } from './license-roster.ts';
import { refuseRoster } from './options.ts';

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
    refuseRoster('--write-accepted', write_accepted, roster);
    const expected = roster === undefined ? undefined : (await readUsers(roster, values, oncePerUser, context)).rows;
    const accepted = readAccepted(accept === undefined ? '' : await context.disk.read(accept), accept ?? '');
    const counts = new AuditCounts();
    const findings = all_apps
      ? auditServers(await storedServers(context), expected, context, counts)
      : auditLicenses(licensesOf(expected, app_code, context), expected, counts);
    yield* countFindings(findings, counts, accepted, { roster, write_accepted }, context);
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

/** Audits each server alone: one name on two servers is two users. @throws as `auditLicenses`, after all servers */
async function* auditServers(
  servers: Awaited<ReturnType<typeof storedServers>>,
  roster: readonly ExpectedLicense[] | undefined,
  context: Services & Accounts,
  counts: AuditCounts,
): AsyncGenerator<FindingRow> {
  const origins = roster && servers.length > 1 ? await originsOfRows(roster, context) : undefined;
  let incomplete: Failure | undefined;
  for (const apps of servers) {
    const [server] = apps;
    const base_url = servers.length > 1 ? server.base_url : undefined;
    const isOwn = ({ app_code }: ExpectedLicense) => origins?.get(app_code) === context.accounts.identityOf(server);
    const own = origins ? roster?.filter(isOwn) : roster;
    try {
      const audit = auditLicenses(ofEveryApp([apps], context, ofOwnApp), own, counts, base_url);
      for await (const found of audit) yield base_url === undefined ? found : { ...found, base_url };
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
      const said = [base_url, cause.message].filter(Boolean).join(': ');
      incomplete = cause.as('incomplete', [incomplete?.message, said].filter(Boolean).join('\n'));
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

/** Writes a finding as one line, without a key; findings with the same line count as the same finding. */
function findingLine(found: Omit<FindingRow, 'license' | 'license_code' | 'size_allowance'>): string {
  const { finding, remote_user, app_code, base_url, detail } = found;
  const line = `${finding}: ${remote_user ?? 'no user'} in ${placeOf(app_code, base_url)}: ${detail}`;
  return line.replace(/[\p{C}\p{Zl}\p{Zp}#]/gu, (sign) => `\\u{${sign.codePointAt(0)?.toString(16) ?? ''}}`);
}

/**
 * Reads accepted findings: lines of `findingLine`, each with a reason after ` #`; others begin with `#`, or are blank.
 * @returns each finding with its whole line @throws Failure usage naming every line that is no finding
 */
function readAccepted(text: string, file: string): ReadonlyMap<string, string> {
  const accepted = new Map<string, string>();
  const problems: string[] = [];
  const lines = text.split(/\r?\n/);
  for (const [index, line] of lines.entries()) {
    const finding = line.replace(/(^|\s)#.*/, '').trim();
    if (finding === '') continue;
    accepted.set(finding, line);
    const name = finding.slice(0, finding.indexOf(': '));
    if (!findingNames.some((known) => known === name) || !/: .+ in application .+: /.test(finding))
      problems.push(`${file}:${index + 1}: '${finding}' is not a finding`);
  }
  if (problems.length === 0) return accepted;
  throw usage(problems, 'Each line is as license audit --write-accepted FILE writes it; a reason follows it after #.');
}

/** Yields the findings that are not accepted, then concludes. @throws Failure differences where there is one */
async function* countFindings(
  findings: AsyncIterable<FindingRow>,
  counts: AuditCounts,
  accepted: ReadonlyMap<string, string>,
  { roster, write_accepted: target }: { readonly [K in 'roster' | 'write_accepted']: string | undefined },
  { conclude, note }: Terminal,
): AsyncGenerator<FindingRow> {
  const found = new Map<string, string>();
  let [count, acceptedCount] = [0, 0];
  for await (const row of findings) {
    const line = findingLine(row);
    const known = accepted.get(line);
    if (known !== undefined || target !== undefined || accepted.size > 0) found.set(line, known ?? line);
    if (known !== undefined) acceptedCount += 1;
    else {
      count += 1;
      yield row;
    }
  }
  const { licenses, retired, places } = counts;
  // The lines of applications and of a roster that this run did not check are kept: it cannot know about them.
  const isLookedFor = (line: string): boolean =>
    (roster !== undefined || !/^(missing|unexpected|other-size):/.test(line)) &&
    [...places].some((place) => line.includes(` in ${place}: `));
  for (const [line, whole] of accepted)
    if (!found.has(line) && isLookedFor(line)) note(`no longer found, remove its line: ${line}`);
    else if (!found.has(line)) found.set(line, whole);
  if (target !== undefined) {
    const lines = [...found.values()].sort().map((line) => `${line}\n`);
    await writeNamed(target, (file) => file.writeFile(lines.join('')));
  }
  const beside = [retired > 0 && `${retired} retired`, acceptedCount > 0 && `${acceptedCount} accepted`].filter(
    Boolean,
  );
  const said = count === 0 ? 'no findings' : quantity(count, 'finding');
  const of = `${said} in ${quantity(licenses, 'license')}${beside.length > 0 ? ` (${beside.join(', ')})` : ''}`;
  const summary = target === undefined ? of : `${of}; accepted from now on by --accept ${target}`;
  conclude(summary);
  if (count > 0 && target === undefined) throw new Failure('differences', summary);
}
