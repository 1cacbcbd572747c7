import { Failure } from '../../core/failure.ts';
import { applyRoster } from '../../jobs/license/roster-run.ts';
import {
  countChanges,
  creationsIn,
  decideAll,
  dryRows,
  planInWords,
  planRoster,
  twinsIn,
  type DryRow,
  type Plan,
} from '../../jobs/license/plan.ts';
import { differencesTo, plannedRows } from '../../jobs/license/reviewed-plan.ts';
import { resultOf, type RowResult } from '../../jobs/license/row-results.ts';
import { smallest } from '../../jobs/license/license-user.ts';
import { retiredFields, type MissingUser } from '../../jobs/license/retire.ts';
import { each } from '../../jobs/work/each.ts';
import type { Disk, Invocation, Keys, Ledgers, Terminal, Time } from '../context.ts';
import {
  inTargets,
  noteDoubts,
  refuseOther,
  refusePlan,
  refusedByReason,
  showPlan,
  toRetire,
  warnOfFormer,
  type Job,
} from './apply-plan.ts';
import { askAbout, plannedChange, undoLine } from './change-in-plan.ts';
import { changeOne } from './changed.ts';
import { severalFailure } from './show.ts';

type ApplyingParts = Invocation & Keys & Terminal & Disk & Ledgers & Time;

/** Shows the plan: nothing is locked, recorded or sent. */
export async function* dryRun(job: Job, context: ApplyingParts): AsyncGenerator<DryRow> {
  const listed = await planRoster(job.roster.rows, await toRetire(job, context), job);
  const plan = await decideAll(listed, extentOf(job), job, context.progress);
  await warnOfFormer(plan, job, context);
  yield* showPlan(plan, job, context);
}

/** Plans, asks, gives each row its license, and retires the licenses of missing users. */
export async function* applyJob(job: Job, context: ApplyingParts) {
  const { plan, differs } = await agreedPlan(job, context).catch((cause: unknown) => {
    if (!(cause instanceof Failure) || !cause.isInterruption) throw cause;
    throw cause.as(cause.kind, cause.message, { hint: `Nothing was sent. To continue: ${context.again()}` });
  });
  const { several } = job;
  let [resized, retired, summary] = [0, 0, ''];
  try {
    const shown = { where: inTargets(job.targets), again: context.again(), progress: context.progress };
    const conclude = (text: string): void => void (summary = text);
    const rules = { ...job.rules, differs };
    for await (const row of applyRoster(plan, { ...job, ...shown, rules, conclude })) {
      if (row.size_allowance_before !== null) resized += 1;
      yield row.error === null ? row : { ...row, error: context.secrets.clean(row.error) };
    }
    for await (const row of retireAll(plan, job, context)) {
      retired += 1;
      yield row;
    }
  } catch (cause) {
    const failure = severalFailure([...several.values()]);
    if (failure) context.warn(failure.message);
    if (plan.missing.length > 0 && retired === 0)
      context.warn('no license was retired: that happens only once every row has its license');
    throw cause;
  } finally {
    const done = retired > 0 ? summary.replace(/ on |$/, (on) => `, ${retired} retired${on}`) : summary;
    if (done !== '') context.conclude(done.replace(/^, /, ''));
    if (resized + retired > 0) context.conclude(undoLine(job.run));
  }
  const failure = severalFailure([...several.values()]);
  if (failure) throw failure;
}

/** The plan that was agreed to, and the test for rows that differ from it. @throws Failure of a refusal; cancelled */
async function agreedPlan(job: Job, context: ApplyingParts) {
  const isAsked = context.terminal.canAsk() && !context.options.yes;
  const listed = await planRoster(job.roster.rows, await toRetire(job, context), job);
  const isWithin = creationsIn(listed).length <= (job.values.max_create ?? Infinity) && twinsIn(listed).length === 0;
  const isChecked = isAsked || job.reviewed !== undefined || !isWithin;
  const plan = isChecked ? await decideAll(listed, extentOf(job), job, context.progress) : listed;
  await warnOfFormer(plan, job, context);
  refuseOther(plan, job, context.warn);
  refusePlan(plan, job);
  if (!isAsked || countChanges(plan) === 0) return { plan, differs: job.rules.differs };
  noteDoubts(plan, job, context);
  await ask(plan, job, context);
  return { plan, differs: job.rules.differs ?? differencesTo(plannedRows(plan)) };
}

/** All users are looked up if a plan was read or creations are limited: the list alone may be wrong about them. */
function extentOf({ reviewed, values }: Job): 'few' | 'all' {
  return reviewed || values.max_create !== undefined ? 'all' : 'few';
}

async function ask(plan: Plan, { targets }: Job, context: ApplyingParts) {
  const isOfEnvironment = targets.some(({ account: { profile } }) => profile === undefined);
  const credentials = isOfEnvironment ? ' (credentials of the environment)' : '';
  const changes = dryRows(plan).flatMap(plannedChange);
  const question = `${planInWords(plan)} on ${inTargets(targets)}${credentials}. Continue?`;
  await askAbout(changes, question, context, refusedByReason(plan));
}

/** Retires these users' licenses in turn. @throws Failure incomplete where one is not retired; unknown; auth */
async function* retireAll(
  { missing }: Plan,
  { licensing, placesOf, history, signal }: Job,
  context: ApplyingParts,
): AsyncGenerator<RowResult<'retired'>> {
  const now = context.clock.now();
  const retire = async ({ key, ...user }: MissingUser): Promise<RowResult<'retired'>> => {
    const { app_code, remote_user } = user;
    const change = { api: licensing(app_code), code: key, listed: { key, fields: { ...user } }, status: 'retired' };
    const fieldsOf = () => retiredFields(remote_user, key, now);
    const ports = { places: placesOf(app_code), history, signal, app_code };
    const { before, ...license } = await changeOne({ ...change, fieldsOf }, ports, context);
    const size_before = Number(before.size_allowance ?? smallest);
    return resultOf({ ...user, size_allowance: smallest }, 'retired', license, null, size_before);
  };
  try {
    yield* each(missing, ({ remote_user }) => `the license of '${remote_user}'`, retire);
  } catch (cause) {
    if (!(cause instanceof Failure) || (cause.kind !== 'rejected' && cause.kind !== 'not_found')) throw cause;
    throw cause.as('incomplete', cause.message);
  }
}
