import { commandLine } from '../../core/shell-word.ts';
import { Failure, orWarn } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { applyRoster, type Applying } from '../../jobs/license/roster-run.ts';
import {
  changesIn,
  creationsIn,
  decideAll,
  planClaimed,
  planInWords,
  planRoster,
  dryRow,
  type DryRow,
  twinsIn,
  type Plan,
  type Planning,
} from '../../jobs/license/plan.ts';
import type { RowResult } from '../../jobs/license/report.ts';
import { givenNames, type GivenNames } from '../../jobs/license/given-names.ts';
import { changesOf, type RecordEvent } from '../../jobs/license/history.ts';
import { changeInWords } from '../../jobs/license/case-words.ts';
import { answersBefore, rosterJob, type RosterJob } from '../../jobs/license/roster-job.ts';
import { retiredFields, retireMissing, type MissingUser } from '../../jobs/license/retire.ts';
import { userKey } from '../../jobs/license/license-user.ts';
import { each } from '../../jobs/work/each.ts';
import { begunIn, type JournalContent, type JournalHeader } from '../../store/journal.ts';
import type { QueuedClaims } from '../../store/claims.ts';
import { hashOf } from '../../store/lock/request-record.ts';
import type { RequestHistory } from '../../store/request-history.ts';
import type { Disk, Invocation, Keys, Ledgers, Terminal, Time } from '../context.ts';
import { inTargets, refuseOther, refusePlan, showPlan, toRetire, warnOfFormer, type Job } from './apply-plan.ts';
import { warnOfDoubles, type CreatedFor } from './several-licenses.ts';
import { askAbout, inApp } from './plan-lines.ts';

type ApplyingParts = Invocation & Keys & Terminal & Disk & Ledgers & Time;

/** Another roster, server or application is another job. */
function headerOf({ roster, targets, reviewed }: Job): JournalHeader {
  const target = targets.map(({ app_code, origin }) => ({ app_code, origin }));
  return { job: 'license apply', target, input: reviewed ? `plan ${roster.sha256}` : roster.sha256 };
}

/** Earlier runs of the job, by its journal, the record and the history. */
async function earlierRuns(job: Job, journal: JournalContent | undefined, context: ApplyingParts): Promise<RosterJob> {
  const begun = journal && begunIn(journal);
  const nameOf = (code: number) => `${job.targets.find(({ app_code }) => app_code === code)?.origin ?? ''} ${code}`;
  if (begun === undefined)
    return rosterJob(journal, { begun, recorded: () => undefined, changes: [], nameOf }, context.clock);
  const recorded = new Map<string, RequestHistory>();
  for (const { app_code, account } of job.targets) {
    const users = job.roster.rows.flatMap((row) => (row.app_code === app_code ? [row.remote_user] : []));
    const known = await context.ledgers.ofJob(account, app_code, users, { name: nameIn(headerOf(job)), begun });
    for (const [remote_user, history] of known) recorded.set(userKey({ remote_user, app_code }), history);
  }
  const past = changesOf((await orWarn(context.record.past('remote_user', '"license apply"'), context.warn)) ?? []);
  const changes = past.filter(({ time, isNew }) => !isNew && Date.parse(time) >= begun);
  return rosterJob(journal, { begun, recorded: (row) => recorded.get(userKey(row)), changes, nameOf }, context.clock);
}

function nameIn(header: JournalHeader): string {
  return hashOf(writeJson(header));
}

async function planUnclaimed(job: Job, earlier: RosterJob, context: ApplyingParts): Promise<Plan> {
  const { rows } = job.roster;
  const planning = { ...job, answerOf: await answersBefore(rows, { ...job, job: earlier }) };
  const plan = await planRoster(rows, planning);
  const decided = await decideAll(plan, planning, plan.counted);
  await warnOfFormer(decided, job, context);
  return decided;
}

/** A dry run reads what earlier runs of the job recorded, and holds nothing. */
export async function* dryRun(job: Job, context: ApplyingParts): AsyncGenerator<DryRow> {
  const journal = await context.record.readJournal(headerOf(job), job.values.journal);
  const earlier = await earlierRuns(job, journal, context);
  yield* showPlan(await planUnclaimed(job, earlier, context), await toRetire(job, context), job, context);
}

export async function* applyJob(job: Job, context: ApplyingParts) {
  const { roster, targets, values } = job;
  const opened = await context.record.journal(headerOf(job), values.journal);
  const doubled: CreatedFor[] = [];
  let [isBegun, isDone] = [false, false];
  let differences: Failure | undefined;
  const recorders = new Map(targets.map(({ app_code, account }) => [app_code, context.record.recorder(account)]));
  const run = [...recorders.values()][0]?.run ?? '';
  const record: RecordEvent = async (event) => recorders.get(event.app_code ?? NaN)?.record(event);
  let [resized, retired] = [0, 0];
  try {
    const earlier = await earlierRuns(job, opened, context);
    const missing = await toRetire(job, context);
    const asked = await askAboutPlan(job, earlier, missing, context);
    const copy = values.journal === undefined ? undefined : (line: object) => opened.append(line);
    const own = new Map<number, QueuedClaims>();
    const { settle } = job.rules;
    const ofJob = { name: nameIn(headerOf(job)), copy };
    for (const { app_code, account } of targets)
      own.set(app_code, await context.ledgers.claims(account, app_code, settle, job.concurrency, ofJob));
    const claiming = { ...context, ...context.clock, ...job, job: earlier, claims: own };
    const { plan: listed, ...known } = await planClaimed(roster.rows, job, claiming);
    try {
      const plan = await recheck(listed, asked, { ...job, ...known });
      refuseOther(plan, job, context.warn);
      refusePlan(plan, job);
      if (!changesIn(plan).every(asked)) await ask(plan, job, [], context);
      const profileOf = (code: number) => targets.find(({ app_code }) => app_code === code)?.account.profile;
      const seen: Applying['doubled'] = ({ app_code }, licenses) =>
        void doubled.push({ licenses, profile: profileOf(app_code) });
      const queues = new Map([...own].map(([code, { queue }]) => [code, queue]));
      const where = inTargets(targets);
      const progress = context.progress('licenses', plan.rows.length);
      const shown = { where, resume: context.again(), progress, isAlone: false, doubled: seen };
      const applying = { ...claiming, ...known, ...shown, record, queues };
      if (!earlier.isResumed) await opened.append({ begun: context.clock.now() });
      isBegun = true;
      for await (const row of applyRoster(plan, applying)) {
        if (row.size_allowance_before !== null) resized += 1;
        yield row.error === null ? row : { ...row, error: context.secrets.clean(row.error) };
      }
    } catch (cause) {
      if (missing.length > 0) context.warn('no license was retired: that is done once every row has its license');
      throw cause;
    } finally {
      differences = warnOfDoubles(doubled, context);
      await known.claims.releaseAll();
    }
    const giving = { settle, claimsOf: async (app_code: number) => own.get(app_code) };
    const names = givenNames({ ...context, ...context.clock, ...giving });
    for await (const row of retireAll(missing, job, { record, names }, context)) {
      retired += 1;
      yield row;
    }
    isDone = true;
  } catch (cause) {
    if (isBegun || !(cause instanceof Failure) || !cause.isInterruption) throw cause;
    const hint = `Nothing was sent. To go on: ${context.again()}`;
    throw cause.as(cause.kind, cause.message, { hint });
  } finally {
    // The work decides how the run ends, and not whether its record could be put away.
    await orWarn(isDone ? opened.finish() : opened.close(), context.warn);
    const count = resized + retired;
    const what = retired > 0 ? 'license' : 'size';
    if (count > 0)
      context.conclude(
        `to put ${count === 1 ? `the ${what}` : `${count} ${what}s`} back: ${commandLine('license undo', [run])}`,
      );
  }
  if (differences) throw differences;
}

/** A plan is refused, or asked about, for what a look shows, and not for what its list leaves open. */
async function recheck(plan: Plan, asked: Asked, planning: Job & Planning): Promise<Plan> {
  const isFew = creationsIn(plan).length <= (planning.values.max_create ?? Infinity);
  const isWithin = !planning.reviewed && isFew && changesIn(plan).every(asked);
  return isWithin && twinsIn(plan).length === 0 ? plan : decideAll(plan, planning, new Set());
}

/**
 * Asks before anything is changed; a script has said what it wants. The plan is made without claims, so nobody waits
 * for a question. A run that resumes was answered before.
 */
async function askAboutPlan(job: Job, earlier: RosterJob, missing: readonly MissingUser[], context: ApplyingParts) {
  const isAgreed = earlier.isResumed && missing.length === 0;
  if (!context.interactive() || context.options.yes || isAgreed) return () => true;
  const plan = await planUnclaimed(job, earlier, context);
  refuseOther(plan, job, context.warn);
  refusePlan(plan, job);
  const changes = new Set(changesIn(plan));
  if (changes.size > 0 || missing.length > 0) await ask(plan, job, missing, context);
  return (change: string) => changes.has(change);
}

/** A change (`changesIn`) was agreed to, or needs no question. */
type Asked = (change: string) => boolean;

async function ask(plan: Plan, { targets }: Job, missing: readonly MissingUser[], context: ApplyingParts) {
  const profiles = targets.map(({ account: { profile } }) =>
    profile === undefined ? 'credentials of the environment' : `profile ${profile}`,
  );
  const credentials = [...new Set(profiles)].join(', ');
  const changes = plan.rows.map(dryRow).filter(({ status }) => status !== 'unchanged');
  const apps = targets.map(({ app_code }) => app_code);
  const lines = changes.map(({ status, remote_user, app_code, size_allowance: size, ...row }) => {
    const { size_allowance_before: before, error } = row;
    const becomes = before === null ? `size ${size}` : changeInWords(before, size);
    return [status, remote_user, inApp(error ?? becomes, app_code, apps)] as const;
  });
  const retiring = missing.map(({ remote_user, app_code, size_allowance, key }) => {
    const { size_allowance: size } = retiredFields(remote_user, key, context.clock.now());
    const becomes = `${changeInWords(size_allowance, size)}, ends with ${key.slice(-4)}`;
    return ['retire', remote_user, inApp(becomes, app_code, apps)] as const;
  });
  const question = `${planInWords(plan, missing)} on ${inTargets(targets)} (${credentials}). Continue?`;
  await askAbout([[retiring, 'In no row, and retired last:'], [lines]], question, context);
}

/** Retires these users' licenses in turn. @throws Failure incomplete where one is not retired; unknown; auth */
async function* retireAll(
  missing: readonly MissingUser[],
  { licensing, targets }: Job,
  { record, names }: { readonly record: RecordEvent; readonly names: GivenNames },
  { clock, conclude }: ApplyingParts,
): AsyncGenerator<RowResult<'retired'>> {
  let count = 0;
  const now = clock.now();
  const retire = (user: MissingUser) => retireMissing(user, licensing(user.app_code), now, record, names);
  try {
    const named = ({ remote_user: user, key, ...rest }: MissingUser) => ({ ...rest, ...retiredFields(user, key, now) });
    const retired = () => each(missing, ({ remote_user }) => `the license of '${remote_user}'`, retire);
    for await (const row of names.during(missing.map(named), retired)) {
      count += 1;
      yield row;
    }
  } catch (cause) {
    if (!(cause instanceof Failure) || (cause.kind !== 'rejected' && cause.kind !== 'not_found')) throw cause;
    throw cause.as('incomplete', cause.message);
  } finally {
    if (count > 0) conclude(`${count} retired on ${inTargets(targets)}`);
  }
}
