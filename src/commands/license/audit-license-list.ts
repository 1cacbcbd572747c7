import { listOfApplication } from '../../api/licensing/application.ts';
import { Failure, orWarn } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import {
  auditLicenses,
  findingLine,
  readAccepted,
  type AuditCounts,
  type ExpectedLicense,
  type FindingRow,
} from '../../jobs/license/audit-licenses.ts';
import { changesOf } from '../../jobs/license/history.ts';
import type { Listed } from '../../jobs/license/kept-licenses.ts';
import { retiredBy } from '../../jobs/license/retire.ts';
import { writeWhole } from '../../store/disk/files.ts';
import { oncePerUser, readRoster } from '../../store/roster/read-roster.ts';
import { optional, type Values, textField } from '../../schema/field.ts';
import { rosterFields } from '../../schema/license.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Terminal, Accounts, Disk, Services } from '../context.ts';
import { appCodeOfEach, rosterOptions, rosterSource, type RosterValues } from '../roster.ts';
import { allAppsOption, ofEveryApp, allAppsRule, type OwnApp } from './apps.ts';

const auditFields = {
  remote_user: rosterFields.remote_user,
  size_allowance: { ...rosterFields.size_allowance, required: false },
  app_code: rosterFields.app_code,
} as const;

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
    write_accepted: textField(
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

  async *run({ app_code, all_apps, roster, accept, write_accepted, ...options }, context) {
    const expected = roster === undefined ? undefined : await readExpected(roster, options, app_code, context);
    const licenses = all_apps ? ofEveryApp(context, ofOwnApp) : licensesOf(expected, app_code, context);
    const accepted =
      accept === undefined ? new Map<string, string>() : readAccepted(await context.disk.read(accept), accept);
    const isRetired = retiredBy(changesOf((await orWarn(context.record.history(), context.warn)) ?? []));
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

interface Accepting {
  readonly accepted: ReadonlyMap<string, string>;
  readonly write_accepted: string | undefined;
  readonly hasRoster: boolean;
}

/** The findings that are not accepted, and at the end their number. @throws Failure differences where there is one */
async function* countFindings(
  findings: AsyncGenerator<FindingRow, AuditCounts>,
  { accepted, write_accepted: target, hasRoster }: Accepting,
  { conclude, note }: Pick<Terminal, 'conclude' | 'note'>,
): AsyncGenerator<FindingRow> {
  const found = new Map<string, string>();
  let [count, acceptedCount, hasSeveral] = [0, 0, false];
  let result = await findings.next();
  try {
    for (; !result.done; result = await findings.next()) {
      const line = findingLine(result.value);
      const known = accepted.get(line);
      if (known !== undefined || target !== undefined || accepted.size > 0) found.set(line, known ?? line);
      if (known !== undefined) acceptedCount += 1;
      else {
        count += 1;
        hasSeveral ||= result.value.finding === 'several-licenses';
        yield result.value;
      }
    }
  } finally {
    // Where nobody reads on, the list is not read on either.
    await findings.return({ licenses: 0, retired: 0, apps: new Set() });
  }
  const { licenses, retired, apps } = result.value;
  if (hasSeveral)
    conclude(`to keep one of several licenses, retire each of the others: ${commandLine('license retire', ['CODE'])}`);
  // Of another application, and of a roster that is not given, nothing can be said: these lines stay.
  const isLookedFor = (line: string): boolean =>
    (hasRoster || !/^(missing|unexpected|other-size):/.test(line)) &&
    [...apps].some((app_code) => line.includes(` in application ${app_code ?? '?'}: `));
  for (const [line, whole] of accepted)
    if (!found.has(line) && isLookedFor(line)) note(`no longer found, remove its line: ${line}`);
    else if (!found.has(line)) found.set(line, whole);
  if (target !== undefined) {
    const lines = [...found.values()].sort().map((line) => `${line}\n`);
    await writeWhole(target, (file) => file.writeFile(lines.join('')), 0o666);
  }
  const counts = [...counted(retired, 'retired'), ...counted(acceptedCount, 'accepted')].join(', ');
  const all = `${count === 0 ? 'no' : count} finding${count === 1 ? '' : 's'} in ${licenses} license${licenses === 1 ? '' : 's'}`;
  const summary = `${all}${counts && ` (${counts})`}${target === undefined ? '' : `; accepted from now on by --accept ${target}`}`;
  conclude(summary);
  if (count > 0 && target === undefined) throw new Failure('differences', summary);
}

function counted(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${count} ${what}`];
}

async function readExpected(
  file: string,
  options: RosterValues,
  explicit: number | undefined,
  context: Accounts & Disk & Terminal,
): Promise<readonly ExpectedLicense[]> {
  const source = await rosterSource(file, options, context);
  const completion = async (read: readonly Values<typeof auditFields>[]) => {
    const codeOf = await appCodeOfEach(read, explicit, context);
    return (row: Values<typeof auditFields>) => ({ ...row, app_code: codeOf(row) });
  };
  const { rows } = await readRoster(source, { fields: auditFields, ...oncePerUser, completion });
  return rows;
}

async function* licensesOf(
  expected: readonly ExpectedLicense[] | undefined,
  explicit: number | undefined,
  context: Services & Accounts,
): AsyncGenerator<Listed> {
  const codes = expected ? new Set(expected.map(({ app_code }) => app_code)) : [explicit];
  for (const app_code of codes) {
    const choice = { app_code: explicit, row_app_code: app_code };
    const own = app_code ?? (await context.licensingAccount(choice)).app_code;
    const licenses = listOfApplication(context.licensing(choice), { app_code }, { app_code: own, extent: 'whole' });
    for await (const license of licenses) yield { app_code: own, license };
  }
}

async function* ofOwnApp({ api, app_code }: OwnApp): AsyncGenerator<Listed> {
  for await (const license of listOfApplication(api, {}, { app_code, extent: 'whole' })) yield { app_code, license };
}
