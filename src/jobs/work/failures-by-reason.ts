import { quantity } from '../../core/duration.ts';

/** What a row is called, and why it failed. */
export type FailedRow = readonly [label: string, reason: string];

/** More reasons are counted. */
const maxReasons = 20;

/** Failed rows grouped by reason, two lines each: `5 failed (ada and 4 more):`, and below it the reason. */
export function failuresByReason(rows: readonly FailedRow[], what = 'failed'): string[] {
  const groups = new Map<string, string[]>();
  for (const [label, reason] of rows) if (!groups.get(reason)?.push(label)) groups.set(reason, [label]);
  const lines = [...groups].slice(0, maxReasons).flatMap(([reason, labels]) => {
    const [first = '', ...others] = labels;
    const named = others.length === 0 ? first : `${first} and ${others.length} more`;
    return [`${labels.length} ${what} (${named}):`, `  ${reason}`];
  });
  const rest = groups.size - maxReasons;
  return rest > 0 ? [...lines, `and ${quantity(rest, 'other reason')}: -o csv has all of them`] : lines;
}
