import { notePlanned } from '../../api/http/call.ts';
import { keyOf, sizeOf } from '../../api/licensing/license.ts';
import { plainName } from '../../core/fold-name.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { editDistance } from '../../schema/nearest.ts';
import { noWrites, type KnownWrites } from '../../store/record/writes.ts';
import { pool } from '../work/pool.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { caseOf, lookUpNow, type Case, type Rules, type SeenUser, type Step } from './case.ts';
import { nextStep } from './next-step.ts';
import { failureOf, inWords } from './case-words.ts';
import type { GivePorts } from './give-ports.ts';
import { recall } from './history.ts';
import { fewUsers, groupBy, smallest, userKey } from './license-user.ts';
import { resultOf, type RowResult } from './row-results.ts';
import { retiredFields, type MissingUser } from './retire.ts';

export interface Plan {
  readonly rows: readonly PlannedRow[];
  /** Licenses that are retired last. */
  readonly missing: readonly MissingUser[];
  /** How many rows are to be created only because a list, which may lack rows, does not show their users. */
  readonly unsure: number;
}

/** A row, what a list or lookup showed of its user, and the step that follows. */
export interface PlannedRow {
  readonly row: LicenseFields;
  readonly seen: SeenUser;
  readonly step: Step;
  readonly status: 'create' | 'resize' | 'unchanged' | 'failed';
}

/** Plans each row by one list of its application. @throws Failure of a list without a response */
export async function planRoster(
  rows: readonly LicenseFields[],
  missing: Plan['missing'],
  { lookups, rules }: GivePorts,
): Promise<Plan> {
  const resultOf = await lookups.list(rows);
  const planned = rows.map((row): PlannedRow => {
    const result = resultOf(row);
    if (!result) return { row, seen: noHint, step: lookUpNow, status: 'create' };
    return plannedRow(caseOf(row, { by: 'hint', isSettled: false, result }), rules);
  });
  return { rows: planned, missing, unsure: planned.filter(({ step }) => step.do === 'look up').length };
}

/**
 * Looks up users whom only the list does not show, if they are few, and reads record and history for users to be
 * created. @throws Failure of a lookup
 */
export async function decideAll(
  plan: Plan,
  extent: 'few' | 'all',
  ports: GivePorts,
  show: WorkMessages['progress'],
): Promise<Plan> {
  const { rules, creations, lookups, concurrency } = ports;
  const open = plan.rows.filter(({ status }) => status === 'create');
  const isLookedUp = extent === 'all' || (plan.unsure > 0 && plan.unsure <= fewUsers);
  const recorded = await recordedOf(open, ports);
  const decided = new Map<LicenseFields, PlannedRow>();
  const decideOne = async ({ row, seen: hint }: PlannedRow): Promise<void> => {
    const result = isLookedUp ? await lookups.of(row.app_code).lookUp(row.remote_user, 'given') : hint.result;
    const seen = { by: 'lookup', isSettled: true, result } as const;
    const one = { ...caseOf(row, seen), recorded: recorded.get(row) ?? noWrites };
    decided.set(row, plannedRow(await recall(one, creations), rules));
  };
  const progress = isLookedUp ? show('users looked up', open.length) : undefined;
  for await (const _ of pool(open, concurrency, decideOne)) progress?.step();
  progress?.end();
  const rows = plan.rows.map((one) => decided.get(one.row) ?? one);
  return { ...plan, rows, unsure: isLookedUp ? 0 : plan.unsure };
}

/** The writes of earlier runs for the users of these rows. */
export async function recordedOf(
  rows: readonly PlannedRow[],
  { placesOf }: GivePorts,
): Promise<Map<LicenseFields, KnownWrites>> {
  const recorded = new Map<LicenseFields, KnownWrites>();
  for (const [app_code, own] of groupBy(rows, ({ row }) => row.app_code)) {
    const known = await placesOf(app_code).store.allKnown(own.map(({ row }) => row));
    for (const [index, { row }] of own.entries()) {
      const writes = known[index] ?? noWrites;
      if (writes.pending.length > 0 || writes.open) recorded.set(row, writes);
    }
  }
  return recorded;
}

function plannedRow(one: Case, rules: Rules): PlannedRow {
  const step = nextStep({ ...one, recorded: one.recorded ?? noWrites }, rules);
  const isMet = 'license' in step && !('why' in step);
  const isCreated = step.do === 'create' || step.do === 'look up';
  const status = isCreated ? 'create' : step.do === 'resize' ? 'resize' : isMet ? 'unchanged' : 'failed';
  return { row: one.asked, seen: one.seen ?? noHint, step, status };
}

const noHint: SeenUser = { by: 'hint', isSettled: false, result: { shows: 'nothing' } };

/** Why nothing can be done for a row; undefined where a step is possible. */
export function refusalOf({ row, seen, step }: PlannedRow) {
  if (step.do !== 'end' || !('why' in step)) return undefined;
  return { why: step.why.is, failure: failureOf(caseOf(row, seen), step) };
}

/** The plan in words: `2 to create, 15 to resize, 233 unchanged`. */
export function planInWords({ rows, missing }: Plan): string {
  const countOf = (sought: PlannedRow['status']): number => rows.filter(({ status }) => status === sought).length;
  return inWords([
    [countOf('create'), 'to create'],
    [countOf('resize'), 'to resize'],
    [countOf('unchanged'), 'unchanged'],
    [countOf('failed'), 'failed'],
    [missing.length, 'to retire'],
  ]);
}

/** Pairs of users whose names differ so little that they are probably one user, if one of them is to be created. */
export function twinsIn({ rows }: Plan): (readonly [later: LicenseFields, earlier: LicenseFields])[] {
  const plain = ({ row }: PlannedRow) => userKey({ ...row, remote_user: plainName(row.remote_user) });
  return [...groupBy(rows, plain).values()].flatMap((group) => {
    const [first, ...others] = group;
    const isNew = first && group.some(({ status }) => status === 'create');
    return isNew ? others.map((other) => [other.row, first.row] as const) : [];
  });
}

export function creationsIn({ rows }: Plan): readonly LicenseFields[] {
  return rows.flatMap(({ status, row }) => (status === 'create' ? [row] : []));
}

export function countChanges({ rows, missing }: Plan): number {
  return rows.filter(({ status }) => status === 'create' || status === 'resize').length + missing.length;
}

/** The rows of a dry run. */
export function dryRows({ rows, missing }: Plan): DryRow[] {
  const retired = missing.map(({ size_allowance: before, ...user }) =>
    resultOf({ ...user, size_allowance: smallest }, 'retire' as const, null, null, before),
  );
  return [...rows.map(dryRow), ...retired];
}

export type DryRow = RowResult<PlannedRow['status'] | 'retire'>;

function dryRow(one: PlannedRow): DryRow {
  const { row, step, status } = one;
  const refusal = refusalOf(one);
  if (refusal) return resultOf(row, status, null, refusal.failure.message);
  const license = 'license' in step && step.license ? step.license : null;
  return resultOf(row, status, license, null, license && status === 'resize' ? (sizeOf(license) ?? null) : null);
}

/** Makes each request of the plan, which a dry run notes instead of sending it. */
export async function planRequests({ rows, missing }: Plan, { licensing, now }: GivePorts): Promise<void> {
  for (const { row, step, status } of rows) {
    const { app_code, size_allowance } = row;
    if (status === 'create') await notePlanned(licensing(app_code).create(row));
    if (step.do === 'resize')
      await notePlanned(licensing(app_code).update({ code: keyOf(step.license), fields: { size_allowance } }));
  }
  for (const { key, remote_user, app_code } of missing)
    await notePlanned(licensing(app_code).update({ code: key, fields: retiredFields(remote_user, key, now()) }));
}

/** The most pairs of new and listed names to compare; these take a second. */
const maxPairs = 4_000_000;

/** Users to be created, each with the listed user in no row whose name differs by one or two letters. */
export function correctedNames(
  plan: Plan,
  othersIn: (app_code: number) => ReadonlySet<string>,
): (readonly [string, string])[] {
  return [...groupBy(creationsIn(plan), ({ app_code }) => app_code)].flatMap(([app_code, users]) => {
    const listed = Array.from(othersIn(app_code), spelledOf);
    if (users.length * listed.length > maxPairs) return [];
    return users.flatMap(({ remote_user }) => {
      const own = spelledOf(remote_user);
      const other = listed.find((one) => isCorrected(own, one));
      return other === undefined ? [] : [[remote_user, other.name] as const];
    });
  });
}

/** A name, its digits, and how often it has each letter. */
interface SpelledName {
  readonly name: string;
  readonly digits: string;
  readonly letters: Uint8Array;
}

function spelledOf(name: string): SpelledName {
  const letters = new Uint8Array(32);
  for (let at = 0; at < name.length; at += 1)
    letters[name.charCodeAt(at) % 32] = (letters[name.charCodeAt(at) % 32] ?? 0) + 1;
  return { name, digits: name.replace(/\D/g, ''), letters };
}

const maxLetters = 2;
/** In a shorter name two different letters make another name. */
const minChars = 6;

/** Only letters may differ, since names that differ in digits are usually different users. */
function isCorrected({ name, digits, letters }: SpelledName, other: SpelledName): boolean {
  if (Math.min(name.length, other.name.length) < minChars || digits !== other.digits) return false;
  let others = 0;
  for (let at = 0; at < 32; at += 1) others += Math.abs((letters[at] ?? 0) - (other.letters[at] ?? 0));
  return others <= 2 * maxLetters && editDistance(name, other.name) <= maxLetters;
}
