import { usage } from '../../core/failure.ts';
import { changeInWords } from '../../jobs/license/case-words.ts';
import type { RowResult } from '../../jobs/license/row-results.ts';
import { differencesTo, readPlan } from '../../jobs/license/reviewed-plan.ts';
import type { Rules } from '../../jobs/license/case.ts';
import { RunState } from '../../jobs/license/give-ports.ts';
import { rowOf } from '../../output/formats.ts';
import { licenseFields, rosterFields } from '../../schema/license.ts';
import { countField, flagField, optional, outputField, textField } from '../../schema/field.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { GlobalValues } from '../context.ts';
import { apiOfEachApp, defaultConcurrency, keepOptions, rosterOptions, workerOptions } from '../roster.ts';
import { plannedChange } from './change-in-plan.ts';
import { ofRoster, targetsOf, type Job } from './apply-plan.ts';
import { applyJob, dryRun } from './apply-run.ts';
import { keptColumns, readLicenseRoster, refuseOtherTargets, rosterOf, warnOfNames } from './license-roster.ts';
import { allowedBy, ensuringOptions, openLookups, openWriting, refuseRoster, spansOf } from './options.ts';

/** Longer rosters save memory: without that, 100,000 rows take 440 MiB while other programs use the cores. */
const manyRows = 10_000;

export default command({
  about: [
    'FILE is a roster, your list of who should have which license: a workbook (.xlsx), CSV with a header, or JSON. A user without a license gets one, and one of ' +
      'another size is resized. If a row is bad, nothing is sent. After Ctrl-C or a crash, run the same command again. Exits with 9 if a row is unknown, else with 8 if one failed.',
  ],
  input: { title: 'A roster', lines: ['remote_user,size_allowance', 'ada,4', 'grace,18'] },
  args: { file: { kind: 'string', file: true, placeholder: 'FILE', help: 'The roster; -f FILE is the same' } },
  options: {
    file_option: { ...textField('FILE', 'The roster; - is standard input'), flag: 'file', short: 'f' },
    ...rosterOptions,
    ...keepOptions,
    ...optional({ app_code: rosterFields.app_code }),
    size_allowance: {
      ...licenseFields.size_allowance,
      required: false,
      help: 'Size for rows without one, such as a list of names',
    },
    ...workerOptions,
    max_create: { ...countField('N', 'Change nothing if more than N would be created'), min: 0 },
    retire_missing: flagField('Retire licenses of users who are not in the roster, or whom --where omits'),
    max_retire: { ...countField('N', 'Change nothing if more than N would be retired'), min: 0 },
    write_plan: outputField('FILE', 'With --dry-run: write the plan to FILE, without keys'),
    plan: textField('FILE', 'Apply the plan in FILE instead of a roster'),
    changed: { kind: 'boolean', help: 'Omit rows whose license is unchanged' },
    exit_code: { kind: 'boolean', help: 'With --dry-run: exit code 10 if anything changes' },
    ...ensuringOptions,
  },
  examples: [
    'chatelaine license apply roster.csv --dry-run',
    'chatelaine license apply roster.csv --dry-run -o markdown',
    'chatelaine license apply roster.csv',
    'chatelaine license apply - --input-format csv -o ndjson < roster.csv',
    'chatelaine license apply - --size-allowance 4 < names.txt',
    'chatelaine license apply roster.csv --retire-missing --max-retire 5 --dry-run',
    'chatelaine license apply roster.csv --dry-run --write-plan plan.ndjson',
  ],

  rules: [
    {
      oneOf: ['file', 'file_option', 'plan'],
      say: 'give either one roster (FILE or --file FILE) or --plan FILE',
    },
    { option: 'plan', excludes: ofRoster, say: (other) => `${other} applies to a roster, and --plan has none` },
    { option: 'write_plan', needs: ['dry_run'] },
    { option: 'max_retire', needs: ['retire_missing'] },
    { option: 'exit_code', needs: ['dry_run'] },
  ],

  fields: ['license', 'change', 'size_allowance_before', 'error'],

  dryRun: ['rows', 'requests'],

  async *rows(values, context) {
    const { file = values.file_option ?? values.plan ?? '' } = values;
    refuseRoster('--write-plan', values.write_plan, file);
    const isAsked = context.terminal.canAsk() && !context.options.yes;
    if (values.retire_missing && values.max_retire === undefined && !isAsked && !context.options.dry_run)
      throw usage('--retire-missing needs --max-retire N without a terminal');
    const reviewed = values.plan === undefined ? undefined : readPlan(await context.disk.read(file), file);
    const roster = reviewed ? rosterOf(reviewed) : await readLicenseRoster(file, values, context);
    if (roster.rows.length > manyRows) context.program.saveMemory();
    context.checkFields(Object.keys(roster.others[0] ?? {}));
    const kept = keptColumns(roster);
    const place = file === '-' ? 'standard input' : file;
    warnOfNames(roster, place, context.warn);
    const users = roster.rows.map(({ remote_user }) => remote_user);
    const targets = await targetsOf(reviewed?.targets ?? roster.rows, values.app_code, context);
    if (reviewed) refuseOtherTargets(targets, reviewed, file);
    const accountOf = (code?: number) => targets.find(({ app_code }) => app_code === code)?.account;
    const licensing = apiOfEachApp(context, values.app_code);
    const lookups = openLookups(licensing, values, context);
    const rules: Rules = {
      ...spansOf(context, values.settle),
      ...allowedBy(values, users),
      wants: 'one license',
      ...(reviewed && { differs: differencesTo(reviewed.rows) }),
    };
    const concurrency = values.concurrency ?? defaultConcurrency;
    const writing = await openWriting(targets, { rules, lookups, concurrency }, context);
    const job: Job = {
      ...context,
      ...context.clock,
      ...writing,
      roster,
      reviewed,
      rules,
      place,
      values,
      targets,
      licensing,
      lookups,
      concurrency,
      creations: context.ledgers.creations(accountOf),
      several: new Map(),
      state: new RunState(context.signal),
    };
    const all = context.options.dry_run ? dryRun(job, context) : applyJob(job, context);
    for await (const row of all) if (isShown(row, values, context.options)) yield kept(row);
  },

  show: {
    columns: [
      ...whole('remote_user'),
      'app_code',
      'size_allowance',
      'status',
      { name: 'license_code', keep: 'whole', isLast: true, of: ({ license }) => license?.key },
      { name: 'error', when: 'for programs' },
      { name: 'license', when: 'asked' },
      { name: 'size_allowance_before', when: 'asked' },
    ],
    data: ({ license, size_allowance_before, error, ...row }) => {
      const isResized = row.status === 'resize' || row.status === 'resized';
      const isShrunk = row.status.startsWith('retire') && size_allowance_before !== row.size_allowance;
      const change = isResized || isShrunk ? changeInWords(size_allowance_before, row.size_allowance) : null;
      return { ...row, license: license?.fields ?? null, change, size_allowance_before, error };
    },
    others: 'kept',
    outcome: {
      plan: plannedChange,
      by: 'status',
      nothing: 'unchanged',
      columns: ['remote_user', 'app_code', 'size_allowance', 'status', 'change', 'error'],
    },
  },
});

/** --changed omits unchanged rows; -q omits all that succeeded, but not in plans and formats for programs. */
function isShown(
  { status }: RowResult<string>,
  { changed }: { readonly changed?: boolean | undefined },
  options: GlobalValues,
): boolean {
  if (changed && status === 'unchanged') return false;
  const isForPeople = options.output === undefined || rowOf(options.output)?.forPeople;
  return !(options.quiet && isForPeople && !options.dry_run) || status === 'failed' || status === 'unknown';
}
