import { shellWord } from '../../core/shell-word.ts';
import { orWarn } from '../../core/failure.ts';
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
  type RowResult,
} from '../../jobs/license/plan-roster.ts';
import { licenseJournal, recordedPast, type LicenseJournal } from '../../jobs/license/past.ts';
import type { Applying } from '../../jobs/license/roster-results.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { JournalHeader } from '../../store/journal.ts';
import type { Disk, GlobalValues, Invocation, Keys, Ledgers, Terminal, Time } from '../context.ts';
import { refusePlan, type PlanLimits } from './apply-plan.ts';
import { refuseReadOnly, settlingOf } from './options.ts';
import { answersOf, claimsOf, inTargets, profilesOf, type Target } from './target.ts';

/** On a terminal more resizes than these are asked about. */
const manyChanges = 100;

/** The parts of the context that `license apply` uses once the roster is read. */
type ApplyingParts = Invocation & Keys & Terminal & Disk & Ledgers & Time;

interface Job {
  /** The roster, and the options with which it is read again. */
  readonly file: string;
  readonly values: ResumeValues;
  readonly rows: readonly LicenseFields[];
  readonly targets: readonly Target[];
  /** It has the hash of the roster: another text is another job. */
  readonly header: JournalHeader;
  readonly journal: string | undefined;
  readonly settle: number;
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
export async function planOfDryRun(job: Job, planning: Unclaimed, context: ApplyingParts): Promise<Plan> {
  const journal = await context.readJournal(job.header, job.journal);
  return lookFirst(job, planning, { past: recordedPast(journal ?? { path: '', records: [] }, context) }, context);
}

export async function* applied(job: Job, planning: Unclaimed, context: ApplyingParts): AsyncGenerator<RowResult> {
  const { rows, targets, settle } = job;
  for (const { account } of targets) refuseReadOnly(account);
  const opened = await context.journal(job.header, job.journal);
  let isDone = false;
  let resized = 0;
  try {
    const journal = licenseJournal(opened, context);
    const asked = await askAboutPlan(job, planning, journal, context);
    const own = await claimsOf(targets, settle, context);
    const claiming = { ...context, journal, claims: own, openAnswers: answersOf(targets, context) };
    const { plan, claims, answerOf } = await planClaimed(rows, planning, claiming);
    try {
      refusePlan(plan, planning, job.limits);
      if (creationsIn(plan) > asked) await ask(plan, targets, context);
      for await (const row of carriedOut(plan, { ...planning, answerOf, journal, claims }, job, context)) {
        if (row.size_allowance_before !== null) resized += 1;
        yield row;
      }
    } finally {
      await claims.releaseAll();
    }
    isDone = true;
  } finally {
    // What was done decides how the run ends, and not whether its record could be put away.
    await orWarn(isDone ? opened.finish() : opened.close(), context.warn);
    const journal = `${opened.path}${isDone ? '.done' : ''}`;
    if (resized > 0)
      context.conclude(`to put ${sizesInWords(resized)} back: ${putBack(journal, job.values, context.options)}`);
  }
}

function sizesInWords(count: number): string {
  return count === 1 ? 'the size' : `${count} sizes`;
}

/** A journal is a roster of the licenses that it resized. None is created: a user who is gone stays gone. */
function putBack(journal: string, { app_code }: ResumeValues, options: GlobalValues): string {
  const line = commandLine(journal, { app_code }, options);
  return `${line} --column size_allowance=size_allowance_before --max-create 0`;
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
    resume: commandLine(job.file, job.values, context.options),
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
/** The command line that applies a roster. */
function commandLine(
  file: string,
  { app_code, input_format, journal }: ResumeValues,
  { profile, sandbox }: GlobalValues,
): string {
  const options = Object.entries({
    '--app-code': app_code,
    '--input-format': input_format,
    '--journal': journal,
    '--profile': profile,
  });
  const words = options.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
  return ['chatelaine license apply', ...[file, ...words].map(shellWord), ...(sandbox ? ['--sandbox'] : [])].join(' ');
}

interface ResumeValues {
  readonly app_code?: number | undefined;
  readonly input_format?: string | undefined;
  readonly journal?: string | undefined;
}
