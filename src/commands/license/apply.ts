import { orWarn, usage } from '../../core/failure.ts';
import { applyRoster } from '../../jobs/license/roster-run.ts';
import {
  changesIn,
  creationsIn,
  planClaimed,
  planInWords,
  answersBefore,
  planToShow,
  type Plan,
  type Planning,
} from '../../jobs/license/plan-roster.ts';
import { licenseJournal, recordedPast, type LicenseJournal } from '../../jobs/license/past.ts';
import type { Applying, RowResult } from '../../jobs/license/roster-results.ts';
import { rosterFields, type LicenseFields } from '../../schema/license.ts';
import { optional } from '../../schema/field.ts';
import type { JournalHeader } from '../../store/journal.ts';
import { command } from '../command.ts';
import { apiOfEachApp, defaultConcurrency, keepOptions, rosterOptions, workerOptions } from '../roster.ts';
import { planned, refusePlan, warnOfNames, type PlanLimits } from './apply-plan.ts';
import { commandLine, isShown, type ApplyingParts } from './apply-rows.ts';
import { applyColumns, keptColumns, readLicenseRoster } from './license-roster.ts';
import { answersOf, claimsOf, inTargets, profilesOf, targetsOf, type Target } from './target.ts';
import {
  defaultSettle,
  refuseReadOnly,
  sendAgainOf,
  sendAgainOptions,
  settleOptions,
  settlingOf,
  similarOf,
  similarOptions,
} from './options.ts';

/** For a roster of more rows memory is saved: V8 would let 100,000 rows take 440 MiB while other programs use the cores. */
const manyRows = 10_000;
/** On a terminal more resizes than these are asked about. */
const manyChanges = 100;

export default command({
  about: [
    'The file is a workbook (.xlsx), CSV with a header, a JSON object on each line, or a JSON array. Columns: remote_user, size_allowance and, if you like, ' +
      'app_code, which picks the stored key of that application; --keep-columns carries others through to the result. A file with bad rows is refused whole, every bad ' +
      'line named, and nothing is sent.',
    'A user without a license gets one; a license of another size is resized; one of the right size stays. Each row ends as created, ' +
      'resized, unchanged, failed or unknown, in the order of the file; the counts come last on standard error, and after a failure are part of its message. Exit code 9 if a ' +
      'row is unknown, else 8 if one failed; 4 where the key is refused.',
    'With -q the table shows only rows that failed or are unknown; formats for programs keep all rows.',
    'Every step is on disk before and after its request: the same command resumes after Ctrl-C, a crash or a full disk. A user never ' +
      'gets two licenses, as long as the server carries a request out within --settle, or not at all.',
    'A row fails, and nothing is created for it, where the list of licenses is not whole or shows a license of a similar name that the ' +
      'server may have made of this one; --allow-similar creates it all the same.',
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
    max_create: {
      kind: 'integer',
      min: 0,
      placeholder: 'N',
      help: 'Change nothing if more licenses than N would be created',
    },
    changed: { kind: 'boolean', help: 'Leave rows out whose license is unchanged' },
    exit_code: { kind: 'boolean', help: 'With --dry-run: exit code 10 if anything would change' },
    ...settleOptions,
    ...similarOptions,
    ...sendAgainOptions,
  },
  examples: [
    'chatelaine license apply roster.csv --dry-run',
    'chatelaine license apply roster.csv',
    'chatelaine license apply - --input-format csv -o ndjson < roster.csv',
  ],

  fields: ['license', 'change', 'error'],
  fieldsFromFile: 'keep_columns',

  dryRun: ['rows', 'requests'],

  async *run(values, context) {
    const file = values.file ?? values.file_option;
    if (file === undefined || (values.file !== undefined && values.file_option !== undefined))
      throw usage('give one roster: FILE or --file FILE');
    if (values.exit_code && !context.options.dry_run) throw usage('--exit-code needs --dry-run');
    const roster = await readLicenseRoster(file, values, context);
    if (roster.rows.length > manyRows) context.saveMemory();
    context.checkFields(Object.keys(roster.others[0] ?? {}));
    const kept = keptColumns(roster);
    const limits = { roster, file: file === '-' ? 'standard input' : file, max_create: values.max_create };
    warnOfNames(roster, limits.file, context.warn);
    const { rows, sha256: input } = roster;
    const users = new Set(values.send_again ? rows.map(({ remote_user }) => remote_user) : []);
    const sendAgain = sendAgainOf(values.send_again, (user) => users.has(user));
    const targets = await targetsOf(rows, values.app_code, context);
    const planning = {
      licensing: apiOfEachApp(context, values.app_code),
      concurrency: values.concurrency ?? defaultConcurrency,
      similar: similarOf(values.allow_similar),
      sendAgain,
      elapsed: context.elapsed,
    };
    const { changed, journal, settle = defaultSettle } = values;
    const resume = commandLine(file, values, context.options);
    const shown = { targets, tellsChanges: values.exit_code, limits };
    const target = targets.map(({ app_code, origin }) => ({ app_code, origin }));
    const header = { job: 'license apply', target, input };
    const job = { rows, targets, header, journal, settle, resume, limits };
    const all = context.options.dry_run
      ? planned(await planOfDryRun(job, planning, context), planning, shown, context)
      : applied(job, planning, context);
    for await (const row of all) if (isShown(row, { changed }, context.options)) yield kept(row);
  },

  show: {
    untruncated: ['license_code', 'remote_user', 'status'],
    layout: { error: { priority: 1, minWidth: 20 }, change: { priority: 1 } },
    columns: applyColumns,
    data: (row) => ({ ...row, license: row.license?.fields ?? null }),
    cell: (row, column) => (column === 'license_code' && row.license ? row.license.key : undefined),
    others: 'known',
    consumed: () => ['license'],
  },
});

interface Job {
  readonly rows: readonly LicenseFields[];
  readonly targets: readonly Target[];
  /** It has the hash of the roster: another text is another job. */
  readonly header: JournalHeader;
  readonly journal: string | undefined;
  readonly settle: number;
  /** The command that resumes the job. */
  readonly resume: string;
  readonly limits: PlanLimits;
}

/** A plan is made before its claims are taken. */
type Unclaimed = Omit<Planning, 'answerOf'>;

async function lookFirst(
  { rows, targets }: Pick<Job, 'rows' | 'targets'>,
  planning: Unclaimed,
  journal: Pick<LicenseJournal, 'past'>,
  context: ApplyingParts,
): Promise<Plan> {
  const answerOf = await answersBefore(rows, { journal, openAnswers: answersOf(targets, context) });
  return planToShow(rows, { ...planning, answerOf });
}

/** A dry run reads what earlier runs of the job recorded, and holds nothing. */
async function planOfDryRun(job: Job, planning: Unclaimed, context: ApplyingParts): Promise<Plan> {
  const journal = await context.readJournal(job.header, job.journal);
  return lookFirst(job, planning, { past: recordedPast(journal ?? { path: '', records: [] }, context) }, context);
}

async function* applied(job: Job, planning: Unclaimed, context: ApplyingParts): AsyncGenerator<RowResult> {
  const { rows, targets, settle } = job;
  for (const { account } of targets) refuseReadOnly(account);
  const opened = await context.journal(job.header, job.journal);
  let isDone = false;
  try {
    const journal = licenseJournal(opened, context);
    const asked = await askAboutPlan(job, planning, journal, context);
    const own = await claimsOf(targets, settle, context);
    const claiming = { ...context, journal, claims: own, openAnswers: answersOf(targets, context) };
    const { plan, claims, answerOf } = await planClaimed(rows, planning, claiming);
    try {
      refusePlan(plan, planning, job.limits);
      if (creationsIn(plan) > asked) await ask(plan, targets, context);
      yield* carriedOut(plan, { ...planning, answerOf, journal, claims }, job, context);
    } finally {
      await claims.releaseAll();
    }
    isDone = true;
  } finally {
    // What was done decides how the run ends, and not whether its record could be put away.
    await orWarn(isDone ? opened.finish() : opened.close(), context.warn);
  }
}

async function* carriedOut(
  plan: Plan,
  started: Planning & Pick<Applying, 'journal' | 'claims'>,
  job: Job,
  context: ApplyingParts,
): AsyncGenerator<RowResult> {
  const { signal, conclude, clean } = context;
  const progress = context.progress('licenses', plan.rows.length);
  const where = inTargets(job.targets);
  const applying = {
    ...started,
    ...settlingOf(context, job.settle),
    signal,
    conclude,
    where,
    resume: job.resume,
    finished: () => progress.step(),
  };
  try {
    for await (const row of applyRoster(plan, applying))
      yield row.error === null ? row : { ...row, error: clean(row.error) };
  } finally {
    progress.end();
  }
}

/**
 * Asks on a terminal before anything is created, since a license cannot be taken back; a script has said what it wants. The plan is made
 * without claims: nobody waits for a question. A run that resumes was answered before.
 * @returns how many creations were agreed to
 */
async function askAboutPlan(
  { rows, targets, limits }: Job,
  planning: Unclaimed,
  journal: LicenseJournal,
  context: ApplyingParts,
): Promise<number> {
  if (!context.interactive() || context.options.yes || journal.isResumed) return Infinity;
  const plan = await lookFirst({ rows, targets }, planning, journal, context);
  refusePlan(plan, planning, limits);
  const creations = creationsIn(plan);
  if (creations > 0 || changesIn(plan) > manyChanges) await ask(plan, targets, context);
  return creations;
}

async function ask(plan: Plan, targets: readonly Target[], context: ApplyingParts): Promise<void> {
  await context.confirm(`${planInWords(plan)} on ${inTargets(targets)} (${profilesOf(targets)}). Go on?`);
}
