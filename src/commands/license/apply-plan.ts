import { quantity } from '../../core/duration.ts';
import { Failure, orWarn, usage } from '../../core/failure.ts';
import { severalWarning } from '../../jobs/license/case-words.ts';
import {
  correctedNames,
  countChanges,
  creationsIn,
  dryRows,
  refusalOf,
  planInWords,
  planRequests,
  twinsIn,
  type DryRow,
  type Plan,
} from '../../jobs/license/plan.ts';
import { failuresByReason, type FailedRow } from '../../jobs/work/each.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { GivePorts } from '../../jobs/license/give-ports.ts';
import { formerUsers } from '../../jobs/license/history.ts';
import type { LicenseUser } from '../../store/record/writes.ts';
import { missingUsers } from '../../jobs/license/retire.ts';
import { planText, reviewedMissing, type ReviewedPlan } from '../../jobs/license/reviewed-plan.ts';
import { writeNamed } from '../../store/disk/files.ts';
import type { CheckedRoster } from '../../store/roster/read-roster.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import type { Accounts, Disk, Invocation, Terminal } from '../context.ts';
import { keepOptions, rosterOptions } from '../roster.ts';

export interface Target {
  readonly app_code: number;
  readonly account: LicensingCredential;
  /** The name of the server in records. */
  readonly origin: string;
}

/** A roster, and how it is to be applied. */
export interface Job extends GivePorts {
  readonly run: string;
  readonly roster: CheckedRoster<LicenseFields>;
  readonly place: string;
  readonly targets: readonly Target[];
  /** The plan of --plan, which is applied exactly as it was read. */
  readonly reviewed?: ReviewedPlan | undefined;
  readonly values: Partial<{
    write_plan: string;
    where: readonly string[];
    max_create: number;
    max_retire: number;
    exit_code: boolean;
    retire_missing: boolean;
  }>;
}

/** Where each application's licenses are created, by code. @throws Failure config where a credential is missing */
export async function targetsOf(
  rows: readonly Pick<LicenseUser, 'app_code'>[],
  explicit: number | undefined,
  { licensingAccount, accounts: { identityOf } }: Accounts,
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const app_code of [...new Set(rows.map((row) => row.app_code))].sort((one, other) => one - other)) {
    const account = await licensingAccount({ app_code: explicit, row_app_code: app_code });
    targets.push({ app_code, account, origin: identityOf(account) });
  }
  return targets;
}

/** The targets in words: `licenses.example.com, application 4711 (profile app)`. */
export function inTargets(targets: readonly Target[]): string {
  const hosts = [...new Set(targets.map(({ account }) => new URL(account.base_url).host))];
  const codes = targets.map(({ app_code }) => app_code);
  const profiles = [...new Set(targets.flatMap(({ account: { profile } }) => profile ?? []))];
  const named = profiles.length === 0 ? '' : ` (${profiles.map((name) => `profile ${name}`).join(', ')})`;
  return `${hosts.join(' and ')}, application${codes.length === 1 ? '' : 's'} ${codes.join(', ')}${named}`;
}

/**
 * Shows a dry run, with a warning for each user who has several licenses; -o curl shows only its requests.
 * @throws Failure incomplete where a row cannot be applied; differences where they were asked for
 */
export async function* showPlan(plan: Plan, job: Job, context: Terminal & Invocation): AsyncGenerator<DryRow> {
  const { conclude, warn, options } = context;
  refusePlan(plan, job);
  if (options.output === 'curl' || options.verbose) await planRequests(plan, job);
  if (options.output !== 'curl') {
    for (const { row, seen } of plan.rows)
      if (seen.result.shows === 'licenses' && seen.result.licenses.length > 1) warn(severalWarning(row));
    yield* dryRows(plan);
  }
  conclude(`${planInWords(plan)} on ${inTargets(job.targets)}`);
  noteDoubts(plan, job, context);
  refuseOther(plan, job, warn);
  const refused = plan.rows.flatMap((planned) => refusalOf(planned) ?? []);
  if (refused.length > 0) {
    const { hint } = (refused.find(({ why }) => why === 'open') ?? refused[0])?.failure.details ?? {};
    const text = `${refused.length} of ${plan.rows.length} rows cannot be applied`;
    throw new Failure('incomplete', [text, ...refusedByReason(plan)].join('\n'), { hint });
  }
  if (job.values.write_plan !== undefined) await writePlan(job.values.write_plan, plan, job, context);
  const changes = countChanges(plan);
  if (job.values.exit_code && changes > 0) throw new Failure('differences', `licenses that would change: ${changes}`);
}

/** Lines that say why rows of a plan cannot be applied. */
export function refusedByReason({ rows }: Plan): string[] {
  const failed = rows.flatMap((planned): FailedRow[] => {
    const refusal = refusalOf(planned);
    return refusal ? [[planned.row.remote_user, refusal.failure.message]] : [];
  });
  return failuresByReason(failed);
}

/**
 * Refuses a plan that is probably not meant: above `--max-create`, or with a user whose name differs from another
 * one of the roster only by case, runs of blanks, Unicode form or leading zeros. @throws Failure usage
 */
export function refusePlan(plan: Plan, job: Job): void {
  const { roster, values } = job;
  const { max_create = Infinity } = values;
  const creations = creationsIn(plan).length;
  if (creations > max_create)
    throw usage(`this would create more licenses than --max-create ${max_create}: ${creations}; nothing was changed`);
  const twins = job.rules.similar === 'allow' ? [] : twinsIn(plan);
  if (twins.length === 0) return;
  const places = new Map(roster.rows.map((row, index) => [row, roster.lines[index] ?? 0]));
  const lines = twins.slice(0, maxListed).map(([later, earlier]) => {
    const [line, first] = [places.get(later) ?? 0, places.get(earlier) ?? 0];
    return `${job.place}:${line}: user '${later.remote_user}' is like '${earlier.remote_user}' on line ${first}`;
  });
  const rest = twins.length - lines.length;
  throw usage(
    rest > 0 ? [...lines, `and ${rest} more`] : lines,
    'If each pair is two users, repeat with --allow-similar. Nothing was changed.',
  );
}

/** Notes users to create who are only missing from a list, and names that may have been corrected on the server. */
export function noteDoubts(plan: Plan, { lookups }: Job, { note }: Terminal): void {
  const { unsure } = plan;
  if (unsure > 0) note(`${quantity(unsure, 'user')} to create: not in the list; each is looked up before its request`);
  const pairs = correctedNames(plan, (app_code) => lookups.of(app_code).others);
  const [[created, listed] = []] = pairs;
  if (created !== undefined)
    note(
      `${quantity(pairs.length, 'user')} to create may be listed under another name, such as '${created}' as ` +
        `'${listed}'. To rename instead: chatelaine license rename --from FILE`,
    );
}

/**
 * The users whose licenses are to be retired; a user whose name is similar to a roster's is noted instead.
 * @throws Failure usage where more would be retired than is probably meant; of the list
 */
export async function toRetire(job: Job, { note, warn }: Terminal): Promise<Plan['missing']> {
  const { retire_missing, max_retire, where } = job.values;
  if (job.reviewed) {
    const rows = job.reviewed.rows.filter(({ change }) => change === 'retire');
    const { missing, other } = await reviewedMissing(rows, job.licensing);
    refuseEach(other, warn);
    return missing;
  }
  if (!retire_missing) return [];
  const { missing, similar, active } = await missingUsers(job.roster.rows, job.licensing);
  for (const { listed, row } of similar) note(`'${listed}' is not retired: the roster has the similar name '${row}'`);
  const { length } = missing;
  if (length > (max_retire ?? Infinity))
    throw usage(`this would retire more licenses than --max-retire ${max_retire}: ${length}; nothing was changed`);
  if (max_retire === undefined && length * 2 > active)
    throw usage(
      `${length} of ${active} licenses would be retired: more than half; nothing was changed`,
      'If the roster is complete, give --max-retire N.',
    );
  if (length > 0 && where) note('users of rows that --where omits are retired too');
  return missing;
}

/** Applies a plan that was read completely or not at all. @throws Failure differences, incomplete before sending */
export function refuseOther({ rows }: Plan, { reviewed }: Job, warn: Terminal['warn']): void {
  const others = (reviewed ? rows : []).flatMap((planned) => {
    const { why, failure } = refusalOf(planned) ?? { why: 'open' };
    if (!failure || why === 'open') return [];
    if (why !== 'differs' && why !== 'similar') throw failure.as('incomplete', `${failure.message}; nothing was sent`);
    return [`${planned.row.remote_user}: ${failure.message}`];
  });
  refuseEach(others, warn);
}

/** Warns of each difference. @throws Failure differences where there is one */
function refuseEach(others: readonly string[], warn: Terminal['warn']): void {
  if (others.length === 0) return;
  for (const text of others.slice(0, maxListed)) warn(text);
  const count = others.length === 1 ? 'a license' : `${others.length} licenses`;
  const text = `nothing was sent: ${count} would not change as planned`;
  warn(`${text}. Make a new plan, and review it: --dry-run --write-plan FILE`);
  throw new Failure('differences', text);
}

/** Options that --plan excludes, since the plan contains the roster. */
export const ofRoster: readonly string[] = [
  ...Object.keys({ ...rosterOptions, ...keepOptions }),
  ...'app_code size_allowance retire_missing write_plan'.split(' '),
];
const ofDryRun = 'max_retire file dry_run exit_code output json'.split(' ');

async function writePlan(
  file: string,
  plan: Plan,
  { targets }: Job,
  { conclude, again }: Terminal & Invocation,
): Promise<void> {
  const places = targets.map(({ app_code, origin }) => ({ app_code, server: origin }));
  await writeNamed(file, (opened) => opened.writeFile(planText(places, plan)));
  const left = Object.fromEntries([...ofRoster, ...ofDryRun].map((name) => [name, undefined]));
  conclude(`to apply exactly this plan: ${again({ ...left, plan: file }, [])}`);
}

/** Warns if this computer renamed or retired a user whom the plan creates: the sheet may be older than that. */
export async function warnOfFormer(plan: Plan, { targets }: Job, { record, warn }: Disk & Terminal): Promise<void> {
  const created = creationsIn(plan);
  if (created.length === 0) return;
  const users = created.map(({ app_code, remote_user }) => {
    return { app_code, remote_user, origin: targets.find((target) => target.app_code === app_code)?.origin ?? '' };
  });
  const found = (await orWarn(formerUsers(users, record), warn)) ?? [];
  for (const text of found.slice(0, maxListed)) warn(`${text}; this roster asks for a new license`);
  if (found.length > maxListed) warn(`and ${found.length - maxListed} more users of former names`);
}

/** How many users or warnings a message lists: a faulty sheet must not fill the screen. */
const maxListed = 20;
