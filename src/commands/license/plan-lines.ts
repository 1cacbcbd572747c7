import { displayWidth } from '../../output/width.ts';
import type { Invocation, Terminal } from '../context.ts';

/** A change that a question asks about: `create`, the user, and what its license becomes. */
export type PlannedChange = readonly [kind: string, user: string, becomes: string];

/** What a license becomes, with its application if the changes are of several. */
export function inApp(becomes: string, app_code: number | undefined, apps: readonly (number | undefined)[]): string {
  return new Set(apps).size > 1 ? `${becomes}, application ${app_code}` : becomes;
}

/** Shows the changes, and asks below them. `all`: the options that show them all. @throws Failure cancelled on no */
export async function askAbout(
  changes: readonly PlannedChange[],
  all: string,
  question: string,
  { note, confirm, options }: Pick<Terminal, 'note' | 'confirm'> & Pick<Invocation, 'options'>,
): Promise<void> {
  if (!options.yes && changes.length > 0) note(planLines(changes, all));
  await confirm(question);
}

/** More are not read before an answer. */
const maxWhole = 20;
const maxFirst = 10;

/** The changes above a question: up to 20 whole, else the first ten by kind, creations first. */
export function planLines(changes: readonly PlannedChange[], all: string, title = 'This would change:'): string {
  const isWhole = changes.length <= maxWhole;
  const rank = ([kind]: PlannedChange): number => ['create', 'resize'].indexOf(kind) >>> 0;
  const shown = isWhole ? changes : [...changes].sort((one, other) => rank(one) - rank(other)).slice(0, maxFirst);
  const widths = [0, 1].map((column) => Math.max(0, ...shown.map((change) => displayWidth(change[column] ?? ''))));
  const pad = (text: string, column: number) =>
    text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(text)));
  const lines = shown.map((change) => change.map(pad).join('  ').trimEnd());
  return [title, ...lines, ...(isWhole ? [] : [`and ${changes.length - maxFirst} more: ${all}`])].join('\n');
}
