import { displayWidth } from '../../output/width.ts';
import type { Invocation, Terminal } from '../context.ts';

/** A change that a question asks about: `create`, the user, and what its license becomes. */
export type PlannedChange = readonly [kind: string, user: string, becomes: string];

export function inApp(becomes: string, app_code: number | undefined, apps: readonly (number | undefined)[]): string {
  return new Set(apps).size > 1 ? `${becomes}, application ${app_code}` : becomes;
}

type PlannedGroup = readonly [changes: readonly PlannedChange[], title?: string];

/** Shows the changes, and asks below them; `v` shows all where only the first were shown. @throws Failure cancelled */
export async function askAbout(
  groups: readonly PlannedGroup[],
  question: string,
  { note, confirm, options }: Terminal & Invocation,
): Promise<void> {
  const show = (extent?: 'all'): void => {
    for (const [changes, title] of groups) if (changes.length > 0) note(planLines(changes, extent, title));
  };
  const isCut = !options.quiet && groups.some(([changes]) => changes.length > maxWhole);
  if (!options.yes) show();
  await confirm(question, isCut ? () => show('all') : undefined);
}

/** More are not read before an answer. */
const maxWhole = 20;
const maxFirst = 10;
/** A longer name moves no other line. */
const widest = 32;

/** The changes above a question: up to 20 whole, else the first ten by kind, creations first. */
export function planLines(changes: readonly PlannedChange[], extent?: 'all', title = 'This would change:'): string {
  const isWhole = extent === 'all' || changes.length <= maxWhole;
  const rank = ([kind]: PlannedChange): number => ['create', 'resize'].indexOf(kind) >>> 0;
  const shown = isWhole ? changes : [...changes].sort((one, other) => rank(one) - rank(other)).slice(0, maxFirst);
  const widths = [0, 1].map((column) =>
    Math.min(widest, Math.max(0, ...shown.map((change) => displayWidth(change[column] ?? '')))),
  );
  const pad = (text: string, column: number) =>
    text + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(text)));
  const lines = shown.map((change) => change.map(pad).join('  ').trimEnd());
  return [title, ...lines, ...(isWhole ? [] : [`and ${changes.length - maxFirst} more: v shows all of them`])].join(
    '\n',
  );
}
