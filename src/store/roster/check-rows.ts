import { Failure, usage } from '../../core/failure.ts';
import { isWithoutFormula } from '../../core/spreadsheet.ts';
import { readField, valuesOf, type Field, type Fields, type Values } from '../../schema/field.ts';
import type { BadRows, Fault } from './bad-rows.ts';
import { normalized, type RosterReader } from './header.ts';

/** The columns of a row that are carried through to the result, the same in each row; null where blank. */
export type OtherColumns = Readonly<Record<string, unknown>>;

/** Takes the rows of a file one by one, and keeps the good ones. The arrays are parallel. */
export interface RowChecker<R> extends RosterReader {
  readonly rows: R[];
  /** The line that each begins on; in a JSON array its number. */
  readonly lines: number[];
  /** Empty where other columns are not kept. @throws Failure usage where two of them would have one name */
  others(): OtherColumns[];
}

/** Checks each row by the table of fields; `beside` are the columns of the result, if other columns are kept. */
export function rowChecker<T extends Fields>(
  fields: T,
  beside: readonly string[] | undefined,
  bad: BadRows,
): RowChecker<Values<T>> {
  const rows: Values<T>[] = [];
  const lines: number[] = [];
  const kept: ReadonlyMap<string, unknown>[] = [];
  return {
    rows,
    lines,
    row(line, values) {
      const faults: Fault[] = [];
      const row = valuesOf(fields, (name, field) => readValue(name, field, values.get(name), faults));
      if (faults.length > 0) {
        bad.add(line, joined(faults));
        return;
      }
      rows.push(row);
      lines.push(line);
      if (beside) kept.push(values);
    },
    bad: bad.add,
    others: () => (beside ? otherColumns(kept, Object.keys(fields), beside) : []),
  };
}

export function joined(faults: readonly Fault[]): Fault {
  return {
    reason: faults.map(({ reason }) => reason).join('; '),
    rule: faults.map(({ reason, rule = reason }) => rule).join('; '),
    hint: faults.find(({ hint }) => hint !== undefined)?.hint,
  };
}

function readValue(name: string, field: Field, value: unknown, faults: Fault[]): unknown {
  if (value === undefined || value === '') {
    if (field.required) faults.push({ reason: `${name} is missing` });
    return undefined;
  }
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    faults.push({ reason: `${name}: neither a text nor a number` });
    return undefined;
  }
  const text = String(value);
  // A user with an apostrophe that --csv-safe added would get a second license under that name.
  if (isWithoutFormula(text)) {
    const hint = 'Write the file without --csv-safe, or remove the apostrophe: another user has the name without it.';
    const rule = 'begins with an apostrophe, as --csv-safe writes what could be a formula';
    faults.push({ reason: `${name}: ${text} ${rule}`, rule: `${name} ${rule}`, hint });
    return undefined;
  }
  try {
    return readField(name, field, text);
  } catch (cause) {
    faults.push(faultOf(cause, text));
    return undefined;
  }
}

/** A failure of one value; `text` is the value. Anything but a usage failure is thrown on. */
export function faultOf(cause: unknown, text: string): Fault {
  if (!(cause instanceof Failure) || cause.kind !== 'usage') throw cause;
  const reason = cause.message;
  const rule = reason
    .replace(`'${text}'`, 'the value')
    .replace(`: ${text} `, ': the value ')
    .replace(/\d+ char/, 'char');
  return { reason, rule, hint: cause.details.hint };
}

/** Every row gets each of the other columns, so that a table has them whatever its first row is. */
function otherColumns(
  rows: readonly ReadonlyMap<string, unknown>[],
  own: readonly string[],
  beside: readonly string[],
): OtherColumns[] {
  const names = new Set(rows.flatMap((each) => [...each.keys()]));
  const kept = [...names].filter((name) => !own.includes(name));
  const labels = kept.map((name) => (beside.includes(normalized(name)) ? `roster_${normalized(name)}` : name));
  const twice = labels.find((label, index) => labels.indexOf(label) !== index);
  if (twice !== undefined) throw usage(`--keep-columns: two columns would be named ${twice}`, 'Rename one of them.');
  return rows.map((row) =>
    Object.fromEntries(
      kept.map((name, at) => [labels[at] ?? name, row.get(name) === '' ? null : (row.get(name) ?? null)]),
    ),
  );
}
