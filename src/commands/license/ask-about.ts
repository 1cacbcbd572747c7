import { changeInWords } from '../../jobs/license/case-words.ts';
import type { RowResult } from '../../jobs/license/row-results.ts';
import { isWhole, planLines } from '../../output/plan.ts';
import type { PlannedChange } from '../../output/presentation.ts';
import type { Invocation, Terminal } from '../context.ts';

/**
 * Shows the changes, and lines such as why some fail, and asks below them; `v` shows all where only the first of each
 * kind were shown. @throws Failure cancelled
 */
export async function askAbout(
  changes: readonly PlannedChange[],
  question: string,
  { note, confirm, options }: Terminal & Invocation,
  below: readonly string[] = [],
): Promise<void> {
  const isCut = !options.quiet && !isWhole(changes);
  const show = (extent?: 'all'): void => {
    const cut = isCut && extent === undefined ? ['v shows all of them'] : [];
    note(['This would change:', ...planLines(changes, extent), ...cut, ...below].join('\n'));
  };
  if (!options.yes) show();
  await confirm(question, isCut ? () => show('all') : undefined);
}

/** The change of a row of a dry run, if there is one. */
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
