/** A change that a question asks about: `create`, the user, and what its license becomes. */
export type PlannedChange = readonly [kind: string, user: string, becomes: string];

/** More are not read before an answer. */
const maxWhole = 20;
const maxFirst = 10;

/** The changes above a question: up to 20 whole, else the first ten by kind, creations first. `all`: the options that show them all. */
export function planLines(changes: readonly PlannedChange[], all: string): string {
  const isWhole = changes.length <= maxWhole;
  const rank = ([kind]: PlannedChange): number => ['create', 'resize'].indexOf(kind) >>> 0;
  const shown = isWhole ? changes : [...changes].sort((one, other) => rank(one) - rank(other)).slice(0, maxFirst);
  const widths = [0, 1].map((column) => Math.max(0, ...shown.map((change) => change[column]?.length ?? 0)));
  const lines = shown.map((change) =>
    change
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return ['This would change:', ...lines, ...(isWhole ? [] : [`and ${changes.length - maxFirst} more: ${all}`])].join(
    '\n',
  );
}
