import { sizeOf, textOf } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { quantity } from '../../core/duration.ts';
import { usage } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { isObject, jsonIn, writeJson } from '../../core/json.ts';
import { licenseFields, retiredName, type LicenseFields } from '../../schema/license.ts';
import { refuseNewer } from '../../store/disk/files.ts';
import { faultIn } from './audit-licenses.ts';
import { isRetired, userKey } from './license-user.ts';
import { changeInWords } from './case-words.ts';
import type { Plan } from './plan.ts';
import type { MissingUser } from './retire.ts';
import type { Rules } from './case.ts';

const changes = ['create', 'resize', 'unchanged', 'retire'] as const;

/** One license of a plan file that somebody has read. The file has no keys, only their last characters. */
export interface ReviewedRow extends LicenseFields {
  readonly change: (typeof changes)[number];
  readonly size_allowance_before?: number | undefined;
  readonly license_code_end?: string | undefined;
}

export interface PlanTarget {
  readonly app_code: number;
  readonly server: string;
}

export interface ReviewedPlan {
  readonly targets: readonly PlanTarget[];
  readonly rows: readonly ReviewedRow[];
}

const version = 1;

/** A plan file: a line with its targets and the number of rows, then the rows in the order of the roster. */
export function planText(targets: readonly PlanTarget[], plan: Plan): string {
  const retired = plan.missing.map(({ key, size_allowance, ...user }): ReviewedRow => {
    const was = { size_allowance_before: size_allowance, license_code_end: key.slice(-4) };
    return { change: 'retire', ...user, size_allowance: licenseFields.size_allowance.min, ...was };
  });
  const rows = [...plannedRows(plan), ...retired];
  const places = targets.map(({ app_code, server }) => ({ app_code, server }));
  const head = { license_plan: version, rows: rows.length, targets: places };
  return [head, ...rows].map((line) => `${writeJson(line)}\n`).join('');
}

/** @throws Failure usage naming every bad line; config where a newer version wrote it */
export function readPlan(text: string, file: string): ReviewedPlan {
  const [first = '', ...lines] = text.trimEnd().split(/\r?\n/);
  const head = jsonIn(first)?.value;
  const targets = isObject(head) && Array.isArray(head['targets']) ? head['targets'].filter(isTarget) : [];
  if (!isObject(head) || typeof head['license_plan'] !== 'number' || targets.length === 0)
    throw usage(
      `${file}: not a plan of license apply`,
      `Make one: ${commandLine('license apply', ['ROSTER'], { dry_run: true, write_plan: file })}`,
    );
  refuseNewer(file, head['license_plan'], version);
  const codes = new Set(targets.map(({ app_code }) => app_code));
  const problems: string[] = [];
  if (lines.length !== head['rows'])
    problems.push(`${file}: ${quantity(lines.length, 'row')} of a plan of ${String(head['rows'])}`);
  const seen = new Set<string>();
  const rows = lines.flatMap((line, index) => {
    const row = jsonIn(line)?.value;
    const key = isRow(row) && row.change !== 'retire' ? userKey(row) : line;
    if (isRow(row) && codes.has(row.app_code) && !seen.has(key)) return [(seen.add(key), row)];
    problems.push(`${file}:${index + 2}: ${seen.has(key) ? 'a license that is planned above' : 'not a row of a plan'}`);
    return [];
  });
  if (problems.length > 0) throw usage(problems, 'Make the plan again rather than edit it.');
  return { targets, rows };
}

function isTarget(value: unknown): value is PlanTarget {
  return isObject(value) && typeof value['app_code'] === 'number' && typeof value['server'] === 'string';
}

function isRow(value: unknown): value is ReviewedRow {
  if (!isObject(value) || !changes.some((change) => change === value['change'])) return false;
  const { remote_user, app_code, size_allowance, size_allowance_before: before, license_code_end: end, change } = value;
  const hasUser = typeof remote_user === 'string' && faultIn('remote_user', remote_user) === undefined;
  const hasSize = typeof size_allowance === 'number' && faultIn('size_allowance', size_allowance) === undefined;
  const hasBefore = before === undefined || typeof before === 'number';
  const hasEnd = change === 'create' || typeof end === 'string';
  return Number.isInteger(app_code) && hasUser && hasSize && hasBefore && hasEnd;
}

/** Finds the licenses that a plan retires; `other`: those that differ from the plan. @throws Failure incomplete */
export async function reviewedMissing(
  rows: readonly ReviewedRow[],
  licensing: (app_code: number) => Pick<LicensingApi, 'list'>,
): Promise<{ readonly missing: readonly MissingUser[]; readonly other: readonly string[] }> {
  const open = new Map(rows.map((row) => [`${userKey(row)}-${row.license_code_end ?? ''}`, row]));
  const missing: MissingUser[] = [];
  for (const app_code of new Set(rows.map((row) => row.app_code)))
    for await (const license of licensing(app_code).list({ app_code }, 'whole')) {
      const { key = '' } = license;
      const name = textOf(license, 'remote_user') ?? '';
      const end = isRetired(license) ? '' : `-${key.slice(-4)}`;
      const at = `${userKey({ app_code, remote_user: name.replace(end === '' ? retiredName : '', '') })}${end}`;
      const row = open.get(at);
      const size = sizeOf(license);
      if (!row || (end !== '' && size !== row.size_allowance_before)) continue;
      open.delete(at);
      if (end !== '') missing.push({ remote_user: name, app_code, size_allowance: size ?? 0, key });
    }
  const other = Array.from(open.values(), ({ remote_user, license_code_end: end = '' }) => {
    return `${remote_user}: the plan retires the license that ends with ${end}, which is not as it says`;
  });
  return { missing, other };
}

/** The rows of a plan that can be applied. */
export function plannedRows({ rows }: Plan): ReviewedRow[] {
  return rows.flatMap(({ row, step, status }): ReviewedRow[] => {
    if (status === 'create') return [{ change: status, ...row }];
    if (status === 'failed' || !('license' in step) || !step.license) return [];
    const { license } = step;
    const was = status === 'resize' ? { size_allowance_before: sizeOf(license) } : {};
    return [{ change: status, ...row, ...was, license_code_end: license.key?.slice(-4) }];
  });
}

/**
 * Returns a function that says how a write differs from the plan that a person has read or agreed to. It returns
 * undefined where the plan has this write, and where a row needs no write any more.
 */
export function differencesTo(rows: readonly ReviewedRow[]): NonNullable<Rules['differs']> {
  const planned = new Map(rows.flatMap((row) => (row.change === 'retire' ? [] : [[userKey(row), row] as const])));
  return (user, step) => {
    const row = planned.get(userKey(user));
    if (!row || step.do === 'end') return undefined;
    const { change, size_allowance, size_allowance_before: before, license_code_end: end } = row;
    const plan = `changed meanwhile: the plan says ${change === 'resize' ? `resize ${changeInWords(before, size_allowance)}` : change}`;
    if (step.do === 'create') return change === 'create' ? undefined : `${plan}, and the license is gone`;
    const isSame = step.licenses.some(({ key }) => key?.slice(-4) === end);
    if (isSame && change === 'resize' && sizeOf(step.license) === before) return undefined;
    const other = isSame || change === 'create' ? 'a' : 'another';
    return `${plan}, and now there is ${other} license of size ${sizeOf(step.license) ?? '?'}`;
  };
}
