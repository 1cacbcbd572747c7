import { rulesOf } from './columns.ts';
import type { Cell, ColumnSize } from './grid.ts';
import { plain } from './plain.ts';
import type { Presentation } from './presentation.ts';
import { orderOf } from './sort.ts';
import { displayWidth } from './width.ts';

/** Minimum width of a column of text, in terminal columns. */
const minTextWidth = 10;

/** A wider text takes several lines, and so does a change that is wider than a folded column. */
const longText = 40;
const foldedWidth = 24;

/** People copy a key with one click, and compare states at a glance. */
const inOneLine: ReadonlySet<string> = new Set(['license_code', 'status']);

/** How wide each column is, by the first rows, and which may leave. */
export function columnSizes(
  names: readonly string[],
  rows: readonly (readonly Cell[])[],
  { show, header, sort }: Presentation,
): readonly ColumnSize[] {
  return Array.from({ length: Math.max(1, names.length) }, (_, index) => {
    const name = names[index] ?? '';
    const values = rows.flatMap((row) => row[index] ?? []);
    const headWidth = header ? displayWidth(plain(name)) : 1;
    const wanted = values.reduce((most, { width }) => Math.max(most, width), Math.max(1, headWidth));
    // A name, a number and a date are never cut: a part of them would be wrong.
    const whole = values.reduce((most, { fixed, width }) => (fixed ? Math.max(most, width) : most), headWidth);
    const { width: minWidth = minTextWidth, keep = 0 } = rulesOf(show, name) ?? {};
    // What became of the row is shown whole, or the row is a record.
    const isAnswer = name === 'status' || name === 'change';
    const isWhole = isAnswer || keep === 'whole';
    const isAsked = sort !== undefined && orderOf(sort).field === name;
    const isLong = wanted > (name === 'change' ? foldedWidth : longText);
    const folds = isWhole && isLong && whole < wanted && !inOneLine.has(name);
    const priority = isAsked ? Infinity : keep === 'whole' ? 0 : keep;
    const isConstant = values.length > 1 && values.every(({ shown }) => shown === values[0]?.shown);
    return {
      index,
      wanted,
      least: leastOf(wanted, { folds, isWhole, narrowest: Math.max(whole, minWidth) }),
      isWhole: isWhole || minWidth === Infinity,
      folds,
      isNumber: values.some(({ isNumber }) => isNumber) && values.every((one) => one.isNumber || one.shown === ''),
      isEmpty: !isAsked && values.every(({ shown }) => shown === ''),
      goes:
        isAnswer || (isWhole && !isConstant) ? 'never' : !isConstant ? 'text' : isWhole ? 'constant whole' : 'constant',
      priority: isConstant ? Math.min(0, priority) : priority,
    };
  });
}

function leastOf(
  wanted: number,
  { folds, isWhole, narrowest }: { readonly folds: boolean; readonly isWhole: boolean; readonly narrowest: number },
): number {
  if (folds) return foldedWidth;
  return isWhole ? wanted : Math.min(wanted, narrowest);
}
