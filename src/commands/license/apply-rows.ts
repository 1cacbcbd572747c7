import { rowOf } from '../../output/formats.ts';
import { shellWord } from '../../core/shell-word.ts';
import { severalWarning } from '../../jobs/license/decide.ts';
import { dryRow, type DryRow, type Plan } from '../../jobs/license/plan-roster.ts';
import type { RowResult } from '../../jobs/license/roster-results.ts';
import type { Disk, GlobalValues, Invocation, Keys, Ledgers, Terminal, Time } from '../context.ts';

/** The parts of the context that `license apply` uses once the roster is read. */
export type ApplyingParts = Invocation & Keys & Terminal & Disk & Ledgers & Time;

/** Whether a row is printed: `--changed` leaves unchanged rows out, `-q` all rows without trouble, but not from formats for programs. */
export function isShown(
  { status }: RowResult | DryRow,
  { changed }: { readonly changed: boolean | undefined },
  options: GlobalValues,
): boolean {
  if (changed && status === 'unchanged') return false;
  const isForPeople = options.output === undefined || rowOf(options.output)?.forPeople;
  return !(options.quiet && isForPeople) || status === 'failed' || status === 'unknown';
}

/** The rows of a plan, with a warning for each user who has several licenses. */
export function* plannedRows({ rows }: Plan, warn: Terminal['warn']): Generator<DryRow> {
  for (const planned of rows) {
    const { row, decision } = planned;
    if ('hasSeveral' in decision && decision.hasSeveral) warn(severalWarning(row));
    yield dryRow(planned);
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
