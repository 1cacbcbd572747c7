import { Failure, nameOf } from '../core/failure.ts';
import { cellsOf } from '../output/columns.ts';
import { failureFields } from '../output/errors.ts';
import type { Show } from '../output/presentation.ts';
import { openSummaryFile } from '../store/log-file.ts';
import type { Messages, Redactor } from './messages.ts';

/** The file of `--summary`: what a later step needs to decide what to do. */
export type Summary = ReturnType<typeof openSummary>;

/** A run over more rows is summed up without the rest of them. */
const maxChanges = 1000;

/**
 * `command` is null where the line named none. Until the run ends, the file says that it is running, also after a kill.
 * @throws Failure where the file cannot be written
 */
export function openSummary(
  path: string,
  command: string | null,
  { messages, redactor }: { readonly messages: Messages; readonly redactor: Redactor },
) {
  const write = openSummaryFile(path);
  const counts: Record<string, number> = {};
  const changes: object[] = [];
  let left_out = 0;
  write(JSON.stringify({ command, outcome: 'running', exit: null }));
  return {
    /** Counts a row by its outcome; what a command does not say of its rows is not counted. */
    add(row: unknown, show: Show<unknown> | undefined): void {
      const { outcome } = show ?? {};
      const [status] = outcome?.of ? [outcome.of(row)] : outcome ? cellsOf(row, [outcome.by], show) : [];
      if (typeof status !== 'string') return;
      counts[status] = (counts[status] ?? 0) + 1;
      if (status === outcome?.nothing) return;
      if (changes.length < maxChanges) changes.push(changeIn(row, show, redactor));
      else left_out += 1;
    },
    /** Writes how the run ended; the exit code. */
    end(exit: number, failure?: Failure): number {
      const outcome = failure ? nameOf(failure.kind) : 'ok';
      const error = failure && failure.kind !== 'differences' ? failureFields(failure) : undefined;
      const rest = left_out > 0 ? { left_out } : {};
      try {
        write(JSON.stringify({ command, outcome, exit, counts, changes, ...rest, error }));
      } catch (cause) {
        if (!(cause instanceof Failure)) throw cause;
        // The exit code is that of the work, and not of the summary.
        messages.warn(cause.message);
      }
      return exit;
    },
  };
}

function changeIn(row: unknown, show: Show<unknown> | undefined, { clean }: Redactor): object {
  const { columns = [], by, of } = show?.outcome ?? {};
  const cells = cellsOf(row, columns, show).map((cell) => (typeof cell === 'string' ? clean(cell) : cell));
  const fields = columns.map((name, index) => [name, of && name === by ? of(row) : cells[index]] as const);
  return Object.fromEntries(fields.filter(([, cell]) => cell !== undefined && cell !== null));
}
