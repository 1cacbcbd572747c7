import type { License } from '../../api/licensing/license.ts';
import { plainName } from '../../api/licensing/user-licenses.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { OpenAnswer } from '../../store/request-history.ts';
import { pool } from '../work/pool.ts';
import { lookUp, nothing, userKey, withNear, type LicenseUser } from './license-user.ts';
import { decide, isCreation, needsClaim, type Decision, type KnownUsers, type Undecided } from './decide.ts';
import { historyOf, type LicenseJournal } from './roster-journal.ts';
import { shareRoster, type RosterClaims, type SharingRoster } from './share-roster.ts';
import { listUsers, type KnownLicense, type ListedUsers, type ListingApi, type LookingUp } from './list-users.ts';

export interface Plan {
  readonly rows: readonly PlannedRow[];
  /** When the lists that it follows from were begun, on the clock `elapsed`. */
  readonly listedAt: Milliseconds;
  /** Applications whose server tells as many licenses as it lists. */
  readonly counted: ReadonlySet<number>;
}

export interface PlannedRow {
  readonly row: LicenseFields;
  readonly decision: Decision | Undecided;
}

export interface Planning extends KnownUsers, LookingUp {
  readonly licensing: (app_code: number) => ListingApi;
  /** A clock that nobody sets. */
  readonly elapsed: () => Milliseconds;
}

/** Decides by the list of each application; users whom it does not show are to be looked up. @throws as listRoster */
export async function planRoster(rows: readonly LicenseFields[], planning: Planning): Promise<Plan> {
  const { planned, ...list } = await listRoster(rows, planning);
  return { ...list, rows: [...planned()] };
}

/**
 * Reads the list of each application; each row is decided when it is reached, since the last list is when the memory of
 * a long run peaks. @param known what the POSTs of this run were answered @throws Failure of a list that cannot be read
 */
export async function listRoster(
  rows: readonly LicenseFields[],
  planning: Planning,
  known?: (app_code: number) => KnownLicense,
) {
  const listedAt = planning.elapsed();
  const lists = new Map<number, ListedUsers>();
  for (const [app_code, users] of usersOfEachApp(rows)) {
    const listing = { ...planning, known: known?.(app_code) };
    lists.set(app_code, await listUsers(planning.licensing(app_code), app_code, users, listing));
  }
  const counted = [...lists].flatMap(([app_code, { isCounted }]) => (isCounted ? [app_code] : []));
  const planned = function* (): Generator<PlannedRow> {
    for (const row of rows) {
      const list = lists.get(row.app_code);
      const result = list?.lookupResult(row.remote_user);
      if (result) yield { row, decision: decide(result, row, planning) };
      else if (list) yield { row, decision: { step: 'look up', near: list.nearOf(row.remote_user) } };
    }
  };
  return { listedAt, counted: new Set(counted), planned };
}

/** Looks up the undecided. @param believed applications whose list needs no lookups @throws Failure of a lookup */
export async function decideAll(plan: Plan, planning: Planning, believed: ReadonlySet<number>): Promise<Plan> {
  const decisions = new Map<LicenseFields, Decision>();
  const decideOne = async ({ row, decision }: PlannedRow): Promise<void> => {
    if (decision.step !== 'look up') return;
    const { near } = decision;
    const api = planning.licensing(row.app_code);
    const result = believed.has(row.app_code) ? withNear(nothing, near) : await lookUp(api, row, near);
    decisions.set(row, decide(result, row, planning));
  };
  const open = plan.rows.filter(({ decision }) => decision.step === 'look up');
  const progress = planning.looking?.(open.length);
  for await (const _ of pool(open, planning.concurrency, decideOne)) progress?.step();
  progress?.end();
  return { ...plan, rows: plan.rows.map(({ row, decision }) => ({ row, decision: decisions.get(row) ?? decision })) };
}

export function usersOfEachApp(rows: readonly LicenseUser[]): Map<number, string[]> {
  const users = new Map<number, string[]>();
  for (const { app_code, remote_user } of rows)
    if (!users.get(app_code)?.push(remote_user)) users.set(app_code, [remote_user]);
  return users;
}

export interface EarlierAnswers {
  readonly journal: Pick<LicenseJournal, 'history'>;
  readonly openAnswers: (app_code: number, users: readonly string[]) => Promise<ReadonlyMap<string, OpenAnswer>>;
}

/** What was answered before, for a plan of which nothing is claimed. @throws Failure of the claims */
export async function answersBefore(
  rows: readonly LicenseFields[],
  { journal, openAnswers }: EarlierAnswers,
): Promise<Planning['answerOf']> {
  const answers = new Map<number, ReadonlyMap<string, OpenAnswer>>();
  for (const [app_code, users] of usersOfEachApp(rows)) answers.set(app_code, await openAnswers(app_code, users));
  const history = ({ app_code, remote_user }: LicenseUser) => ({ answer: answers.get(app_code)?.get(remote_user) });
  return (row) => historyOf(row, { journal, claims: { history } }).answer;
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
  const { journal } = claiming;
  // Claims that cannot be used are known before anything is listed or changed.
  const before = new Map<number, Milliseconds>();
  for (const [app_code, own] of claiming.claims) before.set(app_code, (await own.takeFree([])).now);
  const answerBefore = await answersBefore(rows, claiming);
  const plan = await planRoster(rows, { ...planning, answerOf: answerBefore });
  // Rows that need no POST are claimed for this alone.
  const closed = plan.rows.flatMap(({ row, decision }) => ('license' in decision && answerBefore(row) ? [row] : []));
  for (const [app_code, users] of usersOfEachApp(closed)) {
    const own = claiming.claims.get(app_code);
    await own?.takeFree(users);
    await own?.release(users, new Set(users));
  }
  const sent = plan.rows.flatMap(({ row, decision }) => (needsClaim(decision) ? [row] : []));
  const claims = shareRoster(sent, { ...claiming, listedAt: plan.listedAt, before });
  return { plan, claims, answerOf: (row) => historyOf(row, { journal, claims }).answer };
}

/** What came of a row; of a dry run, what would. */
export interface RowResult<Status = 'created' | 'resized' | 'unchanged' | 'failed' | 'unknown'> extends LicenseFields {
  readonly status: Status;
  /** As the server returned it; null where it is not known. */
  readonly license: License | null;
  /** Of a license that is resized; null also where no list tells it. */
  readonly size_allowance_before: number | null;
  readonly error: string | null;
}

/** Written out, since a copy by spread of an object that is a key of a Map takes 600 bytes: 60 MB for 100,000 rows. */
export function resultOf<S>(
  { remote_user, app_code, size_allowance }: LicenseFields,
  status: S,
  license: License | null,
  error: string | null = null,
  size_allowance_before: number | null = null,
): RowResult<S> {
  return { remote_user, app_code, size_allowance, status, license, size_allowance_before, error };
}

/** How many rows a plan creates, resizes, leaves and refuses, in words: `2 to create, 15 to resize, 233 unchanged`. */
export function planInWords({ rows }: Pick<Plan, 'rows'>): string {
  const counts = { create: 0, 'look up': 0, resize: 0, unchanged: 0, refused: 0 };
  for (const { decision } of rows) counts[decision.step] += 1;
  return inWords([
    [counts.create + counts['look up'], 'to create'],
    [counts.resize, 'to resize'],
    [counts.unchanged, 'unchanged'],
    [counts.refused, 'failed'],
  ]);
}

export function inWords(counts: readonly (readonly [count: number, word: string])[]): string {
  return counts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(', ');
}

/** Users whose names differ so little that they are probably one, with one to be created: each with one before it. */
export function twinsIn({ rows }: Pick<Plan, 'rows'>): (readonly [later: LicenseFields, earlier: LicenseFields])[] {
  const groups = new Map<string, PlannedRow[]>();
  for (const planned of rows) {
    const key = userKey({ ...planned.row, remote_user: plainName(planned.row.remote_user) });
    if (!groups.get(key)?.push(planned)) groups.set(key, [planned]);
  }
  return [...groups.values()].flatMap(([first, ...others]) =>
    first && [first, ...others].some(({ decision }) => isCreation(decision))
      ? others.map((other) => [other.row, first.row] as const)
      : [],
  );
}

export function creationsIn({ rows }: Pick<Plan, 'rows'>): number {
  return rows.filter(({ decision }) => isCreation(decision)).length;
}

/** What a plan creates and resizes, each by its kind and user. */
export function changesIn({ rows }: Pick<Plan, 'rows'>): string[] {
  return rows.flatMap(({ row, decision }) =>
    decision.step === 'resize' || isCreation(decision) ? [`${decision.step === 'resize'} ${userKey(row)}`] : [],
  );
}
