import { Planned, type Deciding } from '../../api/http/call.ts';
import { keyOf, sizeOf } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { plainName } from '../../core/fold-name.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { noRequests, type OpenAnswer } from '../../store/request-history.ts';
import { pool } from '../work/pool.ts';
import { caseOf, nextStep, type Case, type SeenUser } from './case.ts';
import { failureOf, inWords } from './case-words.ts';
import { lookUp, nearIn, nothing, userKey, usersOfEachApp, withNear, type LicenseUser } from './license-user.ts';
import { listUsers, type KnownLicense, type FormerList, type ListingApi } from './list-users.ts';
import { recall, type Creations } from './history.ts';
import { resultOf, type RowResult } from './report.ts';
import { retiredFields, type MissingUser } from './retire.ts';
import { answersBefore, type EarlierAnswers } from './roster-job.ts';
import { shareRoster, type RosterClaims, type SharingRoster } from './share-roster.ts';
import { idle, type Step, type Rules } from './step.ts';

export interface Plan {
  readonly rows: readonly PlannedRow[];
  /** When the lists that it follows from were begun, on the clock `elapsed`. */
  readonly listedAt: Milliseconds;
  /** Applications whose server tells as many licenses as it lists. */
  readonly counted: ReadonlySet<number>;
}

/** A row, and what it needs by what was seen of it; `look up`: its license is created unless a lookup shows one. */
export interface PlannedRow {
  readonly row: LicenseFields;
  readonly seen: SeenUser;
  readonly step: Step;
  readonly status: 'create' | 'resize' | 'unchanged' | 'failed';
}

export interface Planning {
  readonly concurrency: number;
  /** Shows how many of so many users were looked up. */
  readonly looking?: ((count: number) => { step(): void; end(): void }) | undefined;
  readonly rules: Rules;
  readonly creations: Creations;
  readonly licensing: (app_code: number) => ListingApi & Pick<LicensingApi, 'deciding'>;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
  /** What an earlier POST was answered, whose license no list has shown. */
  readonly answerOf: (user: LicenseFields) => OpenAnswer | undefined;
}

/** Decides by the list of each application; users whom it does not show are to be looked up. @throws as listRoster */
export async function planRoster(rows: readonly LicenseFields[], planning: Planning): Promise<Plan> {
  const { seenOf, ...list } = await listRoster(rows, planning);
  const planOne = (row: LicenseFields): PlannedRow => {
    const seen = seenOf(row);
    return planned(plannedCase(row, seen, planning), seen, planning);
  };
  return { ...list, rows: rows.map(planOne) };
}

function plannedCase(row: LicenseFields, seen: SeenUser, { answerOf }: Planning): Case {
  const answer = answerOf(row);
  return { ...caseOf(row, answer ? { answer } : noRequests, seen), claim: 'ours' };
}

function planned(one: Case, seen: SeenUser, { rules }: Planning): PlannedRow {
  const step = nextStep(one, idle, rules);
  const isMet = 'license' in step && !('why' in step);
  const isCreated = step.do === 'create' || step.do === 'look up';
  const status = isCreated ? 'create' : step.do === 'resize' ? 'resize' : isMet ? 'unchanged' : 'failed';
  return { row: one.asked, seen, step, status };
}

/**
 * Reads the list of each application, `deciding` about POSTs where it is given. @param known what they were answered
 * @throws Failure of a list that cannot be read
 */
export async function listRoster(
  rows: readonly LicenseUser[],
  {
    licensing,
    elapsed,
    concurrency,
    deciding,
    known,
  }: Pick<Planning, 'licensing' | 'elapsed' | 'concurrency'> & {
    readonly deciding?: Deciding | undefined;
    readonly known?: (app_code: number) => KnownLicense;
  },
) {
  const listedAt = elapsed();
  const lists = new Map<number, FormerList>();
  for (const [app_code, users] of usersOfEachApp(rows)) {
    const api = deciding ? licensing(app_code).deciding(deciding) : licensing(app_code);
    lists.set(app_code, await listUsers(api, app_code, users, { concurrency, known: known?.(app_code) }));
  }
  const counted = [...lists].flatMap(([app_code, { isCounted }]) => (isCounted ? [app_code] : []));
  const since = deciding?.since;
  const unlisted: SeenUser = { by: 'list', since, result: nothing };
  return {
    listedAt,
    counted: new Set(counted),
    seenOf({ remote_user, app_code }: LicenseUser): SeenUser {
      const list = lists.get(app_code);
      const result = list?.lookupResult(remote_user);
      if (result) return { by: 'filter', since, result };
      const near = list?.nearOf(remote_user) ?? [];
      return near.length === 0 ? unlisted : { by: 'list', since, result: withNear(nothing, near) };
    },
  };
}

/**
 * Looks up the undecided, and asks the history about users to be created.
 * @param believed applications whose list needs no lookups @throws Failure of a lookup
 */
export async function decideAll(plan: Plan, planning: Planning, believed: ReadonlySet<number>): Promise<Plan> {
  const decided = new Map<LicenseFields, PlannedRow>();
  const seeOne = async ({ row, seen, step }: PlannedRow): Promise<SeenUser> => {
    if (step.do !== 'look up') return seen;
    const near = nearIn(seen.result);
    const api = planning.licensing(row.app_code);
    const result = believed.has(row.app_code) ? withNear(nothing, near) : await lookUp(api, row, near);
    return { by: 'filter', result };
  };
  const decideOne = async (undecided: PlannedRow): Promise<void> => {
    const { row } = undecided;
    const seen = await seeOne(undecided);
    const one = plannedCase(row, seen, planning);
    const isCreated = planned(one, seen, planning).step.do === 'create';
    const known = isCreated ? await recall(one, planning.creations, planning.licensing) : one;
    decided.set(row, planned(known, seen, planning));
  };
  const open = plan.rows.filter(({ status }) => status === 'create');
  const progress = planning.looking?.(open.length);
  for await (const _ of pool(open, planning.concurrency, decideOne)) progress?.step();
  progress?.end();
  return { ...plan, rows: plan.rows.map((one) => decided.get(one.row) ?? one) };
}

/**
 * Rows are claimed only to create their licenses, when they are reached, and to close open answers
 * (docs/exactly-once.md, Claims). @throws Failure unavailable, config, or of a list that cannot be read
 */
export async function planClaimed(
  rows: readonly LicenseFields[],
  planning: Omit<Planning, 'answerOf'>,
  claiming: Omit<SharingRoster, 'listedAt' | 'before'> & EarlierAnswers,
): Promise<Pick<Planning, 'answerOf'> & { readonly plan: Plan; readonly claims: RosterClaims }> {
  // Claims that cannot be used are known before anything is listed or changed.
  const before = new Map<number, Milliseconds>();
  for (const [app_code, own] of claiming.claims) before.set(app_code, (await own.takeFree([])).now);
  const answerOf = await answersBefore(rows, claiming);
  const plan = await planRoster(rows, { ...planning, answerOf });
  // Rows that need no POST are claimed for this alone.
  const closed = plan.rows.flatMap(({ row, seen }) => (seen.result.shows === 'licenses' && answerOf(row) ? [row] : []));
  for (const [app_code, users] of usersOfEachApp(closed)) {
    const own = claiming.claims.get(app_code);
    await own?.takeFree(users);
    await own?.release(users, new Set(users));
  }
  const sent = plan.rows.flatMap((one) => (one.status === 'create' || refusalOf(one)?.why === 'open' ? [one.row] : []));
  const claims = shareRoster(sent, { ...claiming, listedAt: plan.listedAt, before });
  return { plan, claims, answerOf };
}

/** Why nothing can be done for a row; undefined where something can. */
export function refusalOf({ row, seen, step }: PlannedRow) {
  if (step.do !== 'end' || !('why' in step)) return undefined;
  return { why: step.why.is, failure: failureOf(caseOf(row, noRequests, seen), step) };
}

/** What a plan creates, resizes, leaves, refuses and retires: `2 to create, 15 to resize, 233 unchanged`. */
export function planInWords({ rows }: Plan, missing: readonly MissingUser[]): string {
  const countOf = (sought: PlannedRow['status']): number => rows.filter(({ status }) => status === sought).length;
  return inWords([
    [countOf('create'), 'to create'],
    [countOf('resize'), 'to resize'],
    [countOf('unchanged'), 'unchanged'],
    [countOf('failed'), 'failed'],
    [missing.length, 'to retire'],
  ]);
}

/** Users whose names differ so little that they are probably one, with one to be created: each with one before it. */
export function twinsIn({ rows }: Plan): (readonly [later: LicenseFields, earlier: LicenseFields])[] {
  const groups = new Map<string, PlannedRow[]>();
  for (const one of rows) {
    const key = userKey({ ...one.row, remote_user: plainName(one.row.remote_user) });
    if (!groups.get(key)?.push(one)) groups.set(key, [one]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first, ...others] = group;
    const isNew = first && group.some(({ status }) => status === 'create');
    return isNew ? others.map((other) => [other.row, first.row] as const) : [];
  });
}

export function creationsIn({ rows }: Plan): readonly LicenseFields[] {
  return rows.flatMap(({ status, row }) => (status === 'create' ? [row] : []));
}

export function changesIn({ rows }: Plan): string[] {
  return rows.flatMap(({ status, row }) =>
    status === 'create' || status === 'resize' ? [`${status} ${userKey(row)}`] : [],
  );
}

export type DryRow = RowResult<PlannedRow['status'] | 'retire'>;

export function dryRow(one: PlannedRow): DryRow {
  const { row, step, status } = one;
  const refusal = refusalOf(one);
  if (refusal) return resultOf(row, status, null, refusal.failure.message);
  const license = 'license' in step && step.license ? step.license : null;
  return resultOf(row, status, license, null, license && status === 'resize' ? (sizeOf(license) ?? null) : null);
}

/** Asks for each request of the plan, what is retired last: a dry run notes it and sends nothing. */
export async function planRequests(
  { rows }: Plan,
  missing: readonly MissingUser[],
  { licensing }: { readonly licensing: (app_code: number) => Pick<LicensingApi, 'create' | 'update'> },
  now: Milliseconds,
): Promise<void> {
  for (const { row, step, status } of rows) {
    const { app_code, size_allowance } = row;
    if (status === 'create') await notePlanned(licensing(app_code).create(row));
    if (step.do === 'resize') await notePlanned(licensing(app_code).update(keyOf(step.license), { size_allowance }));
  }
  for (const { key, remote_user, app_code } of missing)
    await notePlanned(licensing(app_code).update(key, retiredFields(remote_user, key, now)));
}

async function notePlanned(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (cause) {
    if (!(cause instanceof Planned)) throw cause;
  }
}
