import { shellWord } from '../../core/shell-word.ts';
import { severalWarning } from '../../jobs/license/decide.ts';
import { plannedRow, type Plan, type PlannedRow } from '../../jobs/roster/plan-roster.ts';
import type { AppliedRow } from '../../jobs/roster/roster-outcome.ts';
import type { Disk } from '../context/disk.ts';
import type { GlobalValues, Invocation } from '../context/invocation.ts';
import type { Keys } from '../context/keys.ts';
import type { Ledgers } from '../context/ledgers.ts';
import type { Terminal } from '../context/terminal.ts';
import type { Time } from '../context/time.ts';

/** The parts of the context that `license apply` uses once the roster is read. */
export type ApplyingParts = Invocation & Keys & Terminal & Disk & Ledgers & Time;

/** Whether a row is printed: `--changed` leaves unchanged rows out, `-q` all rows without trouble, but not from formats for programs. */
export function isShown(
  { status }: AppliedRow | PlannedRow,
  { changed }: { readonly changed: boolean | undefined },
  options: GlobalValues,
): boolean {
  if (changed && status === 'unchanged') return false;
  const isForPeople = options.output === undefined || options.output === 'table';
  return !(options.quiet && isForPeople) || status === 'failed' || status === 'unknown';
}

/** The rows of a plan, with a warning for each user who has several licenses. */
export function* plannedRows({ tasks }: Plan, warn: Terminal['warn']): Generator<PlannedRow> {
  for (const task of tasks) {
    if ('hasSeveral' in task.decision && task.decision.hasSeveral) warn(severalWarning(task.row));
    yield plannedRow(task);
  }
}

/** The command line that applies the same roster again. */
export function commandLine(
  file: string,
  { app_code, input_format, journal }: ResumeValues,
  { profile }: GlobalValues,
): string {
  const options = Object.entries({
    '--app-code': app_code,
    '--input-format': input_format,
    '--journal': journal,
    '--profile': profile,
  });
  const words = options.flatMap(([name, value]) => (value === undefined ? [] : [name, String(value)]));
  return `chatelaine license apply ${[file, ...words].map(shellWord).join(' ')}`;
}

interface ResumeValues {
  readonly app_code?: number | undefined;
  readonly input_format?: string | undefined;
  readonly journal?: string | undefined;
}
