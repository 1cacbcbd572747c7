import { licenseNames, sizeOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { namesIn } from '../../core/table-names.ts';
import { changeInWords } from '../../jobs/license/case-words.ts';
import type { RowResult } from '../../jobs/license/row-results.ts';
import { isWhole, planLines } from '../../output/plan.ts';
import type { PlannedChange } from '../../output/presentation.ts';
import type { Invocation, Terminal } from '../context.ts';
import type { ChangedLicense, FieldsBefore } from './show.ts';

/** The earlier values of those requested fields that change. */
export function changedFrom(license: License, asked: EditedFields): FieldsBefore {
  const changed = licenseNames.flatMap((name) => {
    const was = textOf(license, name);
    if (was === undefined || asked[name] === undefined || was === String(asked[name])) return [];
    return [[name, name === 'remote_user' ? was : Number(was)] as const];
  });
  return Object.fromEntries(changed);
}

export function isAsAsked(license: License, asked: EditedFields): boolean {
  return licenseNames.every((name) => asked[name] === undefined || textOf(license, name) === String(asked[name]));
}

function changeNote({ before: { size_allowance: size, ...others }, after, status }: ChangedLicense): string {
  if (status === 'retired')
    return 'retired; remove the user from your roster too, or license apply creates a new license';
  const resized = size === undefined ? [] : [`resized ${changeInWords(Number(size), after?.size_allowance ?? 0)}`];
  const renamed = namesIn(others).map((name) => `${name} ${inQuotes(others[name])} -> ${inQuotes(after?.[name])}`);
  return [...(status === 'changed' ? [] : [status]), ...resized, ...renamed].join(', ');
}

const inQuotes = (value: string | number | undefined) => (typeof value === 'string' ? `'${value}'` : value);

/** Describes a change for a plan. `status`: what the license is afterwards. */
export function plannedFrom(license: License, code: string, after: EditedFields, status: string): PlannedChange {
  const { size_allowance: size, remote_user: name, app_code } = after;
  const [before, user = '?'] = [sizeOf(license), textOf(license, 'remote_user')];
  const sizes = size === undefined || size === before ? undefined : changeInWords(before, size);
  const end = `ends with ${code.slice(-4)}`;
  if (status === 'retired') return { kind: 'retire', user, becomes: [sizes, end].filter(Boolean).join(', ') };
  const renamed = name !== undefined && name !== user && `-> ${name}`;
  const moved = app_code !== undefined && `application -> ${app_code}`;
  const becomes = [renamed, moved, end].filter(Boolean).join(', ');
  if (sizes === undefined) return { kind: 'rename', user, becomes };
  const kind = before !== undefined && size !== undefined && before > size ? 'smaller' : 'larger';
  return { kind, sizes, user, becomes };
}

/** The license as a change in a dry run would make it. */
export function dryChange(found: License, code: string, fields: EditedFields, status: string): ChangedLicense {
  const before = changedFrom(found, fields);
  const planned = plannedFrom(found, code, fields, status);
  const after = { key: found.key, fields: { ...found.fields, ...fields } };
  return { ...after, before, after: fields, status: `would be ${status}`, planned };
}

/** The user of a license. @throws Failure rejected where the server does not name one */
export function userOf(license: License): string {
  const user = textOf(license, 'remote_user');
  if (user !== undefined) return user;
  throw new Failure('rejected', 'the server does not say whose license this is; it was not changed');
}

/** Yields the changes of a run, and concludes with a summary and the command that undoes them. */
export async function* withUndo(licenses: AsyncIterable<ChangedLicense>, run: string, context: Terminal) {
  const changed: ChangedLicense[] = [];
  try {
    for await (const license of licenses) {
      changed.push(license);
      yield license;
    }
  } finally {
    concludeChanges(changed, run, context);
  }
}

export function concludeChanges(licenses: readonly ChangedLicense[], run: string, { conclude }: Terminal): void {
  const [first, ...others] = licenses.filter(({ before, planned }) => Object.keys(before).length > 0 && !planned);
  if (first === undefined) return;
  conclude(others.length === 0 ? changeNote(first) : `${others.length + 1} ${first.status}`);
  conclude(undoLine(run, first.before));
}

/** The last line of a run that can be undone; a license that left its application is moved back by an edit. */
export function undoLine(run: string, before: FieldsBefore = {}): string {
  const line =
    before.app_code === undefined ? commandLine('license undo', [run]) : commandLine('license edit', ['CODE'], before);
  return `undo: ${line}`;
}

/** Shows the changes and the lines of `below`, such as why rows fail, and then asks. @throws Failure cancelled */
export async function askAbout(
  changes: readonly PlannedChange[],
  question: string,
  { say, confirm, options }: Terminal & Invocation,
  below: readonly string[] = [],
): Promise<void> {
  const cut = isWhole(changes) ? [] : ['--dry-run -o table shows all of them'];
  if (!options.yes) say(['This would change:', ...planLines(changes), ...cut, ...below].join('\n'));
  await confirm(question);
}

export function plannedChange(row: RowResult<string>): readonly PlannedChange[] {
  const { status, remote_user: user, app_code, size_allowance: size, size_allowance_before: before } = row;
  const change = changeInWords(before, size);
  switch (status) {
    case 'resize':
      return [{ kind: before !== null && before > size ? 'smaller' : 'larger', sizes: change, user, app_code }];
    case 'create':
      return [{ kind: status, user, becomes: `size ${size}`, app_code }];
    case 'retire':
      return [{ kind: status, user, becomes: change, app_code }];
    case 'failed':
      return [{ kind: status, user, app_code }];
    default:
      return [];
  }
}
