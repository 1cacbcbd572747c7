import { Failure, usage } from '../../core/failure.ts';
import { applyRoster } from '../../jobs/roster/apply-roster.ts';
import { claimRoster, type RosterClaims } from '../../jobs/roster/claim-roster.ts';
import { planAtFirst, plannedRow, type PlannedRow, type Planning } from '../../jobs/roster/plan-roster.ts';
import { rosterOf, type Roster } from '../../jobs/roster/roster.ts';
import { rosterJournal, type RosterJournal } from '../../jobs/roster/roster-journal.ts';
import type { AppliedRow, Applying } from '../../jobs/roster/roster-run.ts';
import { rosterFields } from '../../schema/license.ts';
import { optional } from '../../schema/field.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { apiOfEachApp, defaultConcurrency, keepOptions, rosterOptions, workerOptions } from '../roster.ts';
import { applyColumns, keptColumns, licenseOf, readLicenseRoster, refuseStrangeFields } from './roster.ts';
import { claimsOf, targetOf, type Target } from './target.ts';
import { settleOptions, settlingOf } from './options.ts';

/** On a terminal more changes than these are asked about once. */
const manyChanges = 100;

export default command({
  name: 'license apply',
  summary: 'Give every user of a file one license',
  about: [
    'The file is CSV with a header, a JSON object on each line, or a JSON array. Columns: remote_user, size_allowance and, if you like, ' +
      'app_code, which picks the stored key of that application; --keep-columns carries others through to the result. A file with bad rows is refused whole, every bad ' +
      'line named, and nothing is sent.',
    'A user without a license gets one; a license of another size is resized; one of the right size stays. Each row ends as created, ' +
      'resized, unchanged, failed or unknown. Exit code 9 if a row is unknown, else 8 if one failed; 4 where the key is refused.',
    'Every step is on disk before and after its request: the same command goes on after Ctrl-C, a crash or a full disk. A user never ' +
      'gets two licenses, as long as the server carries a request out within --settle, or not at all.',
  ],
  input: { title: 'A roster', lines: ['remote_user,size_allowance', 'ada,4', 'grace,18'] },
  args: { file: { kind: 'string', file: true, placeholder: 'FILE', help: 'The roster; -f FILE is the same' } },
  options: {
    file_option: {
      kind: 'string',
      flag: 'file',
      short: 'f',
      nonempty: true,
      placeholder: 'FILE',
      help: 'The roster; - is standard input',
    },
    ...rosterOptions,
    ...keepOptions,
    ...optional({ app_code: rosterFields.app_code }),
    ...workerOptions,
    journal: {
      kind: 'string',
      nonempty: true,
      placeholder: 'FILE',
      help: 'Where the steps are recorded (default: in the state folder, a journal for each server and file)',
    },
    exit_code: { kind: 'boolean', help: 'With --dry-run: exit code 10 if anything would change' },
    ...settleOptions,
  },
  examples: [
    'chatelaine license apply roster.csv --dry-run',
    'chatelaine license apply roster.csv',
    'chatelaine license apply - --input-format csv -o ndjson < roster.csv',
  ],

  plans: true,

  async *run(
    { file: argument, file_option, concurrency = defaultConcurrency, journal, exit_code, settle, ...reading },
    context,
  ) {
    const file = argument ?? file_option;
    if (file === undefined || (argument !== undefined && file_option !== undefined))
      throw usage('give one roster: FILE or --file FILE');
    if (exit_code && !context.options.dry_run) throw usage('--exit-code needs --dry-run');
    const { rows, sha256: input } = await readLicenseRoster(file, reading, context);
    refuseStrangeFields(context.options, Object.keys(rows[0]?.others ?? {}));
    const kept = keptColumns(rows);
    const roster = rosterOf(rows.map(licenseOf));
    const applying = { licensing: apiOfEachApp(context), concurrency };
    if (context.options.dry_run) {
      for await (const row of plan(roster, applying, exit_code ?? false)) yield kept(row);
      return;
    }
    const target = await targetOf(roster, context);
    const how = { ...applying, ...settlingOf(context, settle) };
    for await (const row of apply(roster, how, { input, target, journal }, context)) yield kept(row);
  },

  show: {
    toTheEnd: true,
    whole: ['license'],
    columns: applyColumns,
    data: (row) => ({ ...row, license: row.license?.fields ?? null }),
    cell: (row, column) => (column === 'license' && row.license ? row.license.key : undefined),
    others: true,
  },
});

interface Job {
  /** The hash of the roster: another text is another job. */
  readonly input: string;
  readonly target: readonly Target[];
  readonly journal: string | undefined;
}

type How = Pick<Applying, 'licensing' | 'concurrency' | 'settle' | 'sleep' | 'note'>;

async function* apply(
  roster: Roster,
  how: How,
  { input, target, journal: file }: Job,
  context: Context,
): AsyncGenerator<ToldRow> {
  const journal = await context.journal({ job: 'license apply', target, input }, file);
  let isDone = false;
  try {
    const name = `license apply ${input} ${file ?? ''}`;
    const known = journal.records.length > 0 ? name : undefined;
    const claims = await claimsOf(name, target, context);
    const { now, warn } = context;
    const claimed = await claimRoster(roster, { claims, known, now, warn });
    yield* applyClaimed(roster, how, claimed, rosterJournal(journal), context);
    isDone = true;
  } finally {
    await (isDone ? journal.finish() : journal.close());
  }
}

async function* applyClaimed(
  roster: Roster,
  how: How,
  claimed: RosterClaims,
  journal: RosterJournal,
  context: Context,
): AsyncGenerator<ToldRow> {
  const progress = context.progress('licenses', roster.length);
  try {
    await askAboutMany(roster, how, context);
    const { now, signal, warn } = context;
    const applying = { ...how, abandoned: claimed.abandoned, journal, now, signal, warn };
    for await (const row of applyRoster(roster, applying)) {
      progress.step();
      if (!journal.isOpen(row)) await claimed.free(row);
      yield { ...row, error: row.error === undefined ? null : context.clean(row.error) };
    }
  } finally {
    progress.end();
    await claimed.freeAllBut(journal.open());
  }
}

/** The reason stands in every row, so that tables and CSV have its column whatever the first row is. */
interface ToldRow extends Omit<AppliedRow, 'error'> {
  readonly error: string | null;
}

/** A question on a terminal only: a script has said what it wants. */
async function askAboutMany(roster: Roster, how: How, context: Context): Promise<void> {
  if (roster.length <= manyChanges || !context.interactive() || context.options.yes) return;
  let changes = 0;
  for (const { decision } of await planAtFirst(roster, how)) if (decision.step !== 'unchanged') changes += 1;
  if (changes > manyChanges) await context.confirm(`${changes} licenses will be created or resized. Go on?`);
}

async function* plan(roster: Roster, how: Planning, tell: boolean): AsyncGenerator<PlannedRow> {
  let changes = 0;
  for (const task of await planAtFirst(roster, how)) {
    if (task.decision.step !== 'unchanged') changes += 1;
    yield plannedRow(task);
  }
  if (tell && changes > 0) throw new Failure('differences', `${changes} licenses would change`);
}
