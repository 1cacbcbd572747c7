import { Planned, type PlannedCall, type PlannedRequest } from '../api/http/call.ts';
import type { AnyCommand } from '../commands/command.ts';
import { usage } from '../core/failure.ts';
import { cellsOf, cellText } from '../output/columns.ts';
import type { Show } from '../output/show.ts';
import type { Options } from './accounts.ts';
import type { Running } from './context.ts';
import { namesIn } from './fields.ts';
import { isRows, print, type Printing } from './print.ts';
import type { Redactor } from './redactor.ts';

/** @throws Failure usage where the lines of a dry run are asked for without one */
export function asksForCurl({ output, dry_run, typedLooks, fields }: Options): boolean {
  if (output !== 'curl') return false;
  if (typedLooks.includes('output') && !dry_run)
    throw usage('-o curl shows the requests of a dry run', 'Add --dry-run.');
  if (typedLooks.includes('fields') && fields !== undefined)
    throw usage('-o curl shows command lines, which have no fields', 'Leave out --fields.');
  return dry_run === true;
}

/** The requests that would have been sent; where there are none, what the command says itself. */
export async function printDry(
  outcome: unknown,
  command: AnyCommand,
  planned: readonly PlannedCall[],
  running: Running & Printing,
): Promise<void> {
  const { value, error } = await settled(outcome);
  if (running.options.output === 'curl') await printLines(planned, running);
  else if (planned.length > 0)
    await printPlan(
      planned.map(({ request }) => request),
      running,
    );
  else if (error === undefined || (Array.isArray(value) && value.length > 0)) await print(value, command, running);
  if (error !== undefined && !(error instanceof Planned)) throw error;
}

async function settled(outcome: unknown): Promise<{ value: unknown; error?: Error }> {
  const rows: unknown[] = [];
  try {
    if (!isRows(outcome)) return { value: await outcome };
    for await (const row of outcome) rows.push(row);
    return { value: rows };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { value: rows, error };
  }
}

/** The exact requests of a dry run; the values of passwords are removed. */
async function printPlan(planned: readonly PlannedRequest[], running: Running & Printing): Promise<void> {
  const rows = planned.map((request) => cleaned(request, running.redactor));
  const { fields: asked, ...options } = running.options;
  const fields = namesIn(asked).filter((name) => planColumns.includes(name));
  const looks = { ...options, quiet: false, ...(fields.length > 0 && { fields: fields.join(',') }) };
  await print(Promise.resolve(rows), { show: planShow }, { ...running, options: looks });
}

/** The lines of curl alone, so that bash can run what is printed; what the variables need is said on stderr. */
async function printLines(planned: readonly PlannedCall[], running: Running & Printing): Promise<void> {
  const { messages, redactor } = running;
  const setup = [...new Set(planned.flatMap((call) => call.setup))];
  if (planned.length === 0) messages.note('no request would be sent');
  else if (setup.length > 0) messages.note(`set the variables of these lines first: ${setup.join('; ')}`);
  const lines = planned.map(({ curl }) => `${redactor.clean(curl)}\n`);
  await print(Promise.resolve(lines), { show: { text: true } }, running);
}

/** The fields of a planned request. */
export const planColumns: readonly string[] = ['method', 'url', 'content_type', 'body'];

/** Whole on a terminal too: a request that is cut is not the exact one. */
const planShow: Show<unknown> = {
  columns: planColumns,
  others: true,
  line: (row) =>
    cellsOf(row, [...planColumns, 'headers'], undefined)
      .map((cell) => cellText(cell))
      .filter((text) => text !== '')
      .join(' '),
};

/** Value by value: a password may be a word or a sign of JSON itself. */
function cleaned(request: PlannedRequest, redactor: Redactor): object {
  return Object.fromEntries(Object.entries<string>({ ...request }).map(([name, text]) => [name, redactor.clean(text)]));
}
