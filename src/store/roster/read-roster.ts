import { labelled, usage } from '../../core/failure.ts';
import { writeJson } from '../../core/json.ts';
import { isWithoutFormula } from '../../core/spreadsheet.ts';
import { alternatives, readField, valuesOf, type Field, type Fields, type Values } from '../../schema/field.ts';
import { badRowsOf, faultOf, joined, type BadRows, type Fault } from './bad-rows.ts';
import { columnOf, normalized, readAliases, type WantedColumns } from './header.ts';
import { openRosterFile, readRosterRows, type RosterFile } from './roster-file.ts';

/** The columns of a row that are carried through to the result, the same in each row; null where blank. */
export type OtherColumns = Readonly<Record<string, unknown>>;

/** A roster that was read once and is held whole. */
export interface CheckedRoster<R> {
  /** In the order of the file; at least one. */
  readonly rows: readonly R[];
  /** The line that each row begins on; in a JSON array its number. */
  readonly lines: readonly number[];
  readonly others: readonly OtherColumns[];
}

export interface RosterSource extends RosterFile {
  /** `NAME=HEADER` words: the column NAME is under that header. */
  readonly columns?: readonly string[] | undefined;
  /** Carries other columns through. One named like a column of the result, listed here, becomes `roster_NAME`. */
  readonly keepBeside?: readonly string[] | undefined;
  /** `COLUMN=VALUE` words: only rows that have it are read. */
  readonly where?: readonly string[] | undefined;
  readonly note?: ((text: string) => void) | undefined;
}

type Cells = ReadonlyMap<string, unknown>;

export interface RosterRules<T extends Fields, R extends Values<T>> {
  readonly fields: T;
  /** The column that a list without a header holds. */
  readonly alone?: string | undefined;
  /** A column that may be blank in a row, and must be there. */
  readonly column?: keyof T & string;
  /** What a roster names once: `user`. */
  readonly noun: string;
  readonly nameOf: (row: Values<T>) => string;
  /** Rows with equal keys repeat each other, which is refused; without it no row does. */
  readonly keyOf?: (row: Values<T>) => string;
  /** The column that distinguishes what is named twice. */
  readonly apart?: string;
  /** Makes the function that fills in what a row leaves to the run. It may fail with usage for one row. */
  readonly completion: (rows: readonly Values<T>[]) => Promise<(row: Values<T>) => R>;
}

/** How a roster of users compares rows: a user is named once in an application; without a code it is the run's own. */
export const oncePerUser = {
  noun: 'user',
  apart: 'app_code',
  nameOf: ({ remote_user }: { readonly remote_user: string }) => remote_user,
  keyOf: ({ remote_user, app_code }: { readonly remote_user: string; readonly app_code?: number }) =>
    `${app_code ?? ''} ${remote_user}`,
};

/** A file with bad rows is refused whole, each of them named. @throws Failure usage, or that of `completion` */
export async function readRoster<const T extends Fields, R extends Values<T>>(
  source: RosterSource,
  rules: RosterRules<T, R>,
): Promise<CheckedRoster<R>> {
  const opened = openRosterFile(source);
  const bad = badRowsOf(source.file, opened.format === 'json' ? 'row' : 'line');
  const { fields, column } = rules;
  const names = Object.keys(fields);
  const required = names.filter((name) => fields[name]?.required || name === column);
  const wanted = { names, required, aliases: readAliases(source.columns ?? [], names), alone: rules.alone };
  const chosen = rowsWhere(source.where ?? [], wanted);
  const read: Values<T>[] = [];
  const lines: number[] = [];
  const kept: Cells[] = [];
  const row = (line: number, values: Cells): void => {
    if (!chosen.takes(values)) return;
    const isJson = opened.format.endsWith('json');
    const slip = isJson ? undefined : slipIn(names, values);
    const faults: Fault[] = [];
    const lacks = column !== undefined && isJson && values.get(column) === undefined;
    const value = valuesOf(fields, (name, field) => {
      // A spreadsheet takes ="00123" for the text 00123.
      const text = String(values.get(name)).replace(/^="([^"]*)"$/, '$1');
      return orFault(text, faults, () => readValue(name, field, values.get(name), text));
    });
    if (slip) bad.add(line, slip);
    else if (lacks) bad.add(line, { reason: `${column} is missing` });
    else if (faults.length > 0) bad.add(line, joined(faults));
    else {
      read.push(value);
      lines.push(line);
      if (source.keepBeside) kept.push(values);
    }
  };
  await readRosterRows(opened, wanted, { row, bad: bad.add });
  labelled(source.file, () => chosen.end(source.note));
  const rows = await complete(read, lines, rules, bad);
  if (rows.length === 0) throw usage(`${source.file}: no rows`);
  const others = source.keepBeside ? otherColumns(kept, names, source.keepBeside) : [];
  return { rows, lines, others };
}

/** Takes the rows that `COLUMN=VALUE` words name: of one column any value, of several all. @throws Failure usage */
function rowsWhere(words: readonly string[], wanted: WantedColumns) {
  const sought = new Map<string, readonly string[]>();
  for (const word of words) {
    const at = word.indexOf('=');
    if (at < 1) throw usage(`--where ${word}: expected COLUMN=VALUE`);
    const column = normalized(columnOf(word.slice(0, at), wanted));
    sought.set(column, [...(sought.get(column) ?? []), word.slice(at + 1).trim()]);
  }
  let [taken, all] = [0, 0];
  const columns = new Set<string>();
  return {
    takes(values: Cells): boolean {
      const textOf = (value: unknown = ''): string => (typeof value === 'string' ? value : writeJson(value));
      const own = new Map([...values].map(([name, value]) => [normalized(name), textOf(value)]));
      const isTaken = [...sought].every(([column, texts]) => texts.includes(own.get(column) ?? ''));
      for (const name of own.keys()) columns.add(name);
      all += 1;
      taken += Number(isTaken);
      return isTaken;
    },
    /** Says how many rows were taken. @throws Failure usage where none was, or no row has the column */
    end(note: RosterSource['note']): void {
      if (sought.size === 0 || all === 0) return;
      // Each row is without a value in a column that is not there: COLUMN= would take them all.
      for (const name of sought.keys())
        if (!columns.has(name)) throw usage(`--where ${name}: no such column`, `There are ${[...columns].join(', ')}.`);
      const terms = [...sought].map(([column, texts]) => `${column} is ${alternatives(texts)}`);
      if (taken === 0) throw usage(`there is no row in which ${terms.join(' and ')}`);
      note?.(`${taken} of ${all} rows ${taken === 1 ? 'is' : 'are'} taken: ${terms.join(', ')}`);
    },
  };
}

/** A control character in a table is a mistake, such as an open quote over two lines. JSON spells it out. */
function slipIn(names: readonly string[], values: Cells): Fault | undefined {
  for (const name of names) {
    const [sign] = /\p{Cc}/u.exec(String(values.get(name))) ?? [];
    if (sign === undefined) continue;
    const code = `U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
    const held = /[\r\n]/.test(sign) ? 'a line break' : sign === '\t' ? 'a tab' : code;
    const hint = 'Look for a quote that is not closed. Only JSON can give a name that contains one.';
    return { reason: `${name} holds ${held}`, hint };
  }
  return undefined;
}

function readValue(name: string, field: Field, value: unknown, text: string): unknown {
  if (value === undefined || value === '') {
    if (field.required) throw usage(`${name} is missing`);
    return undefined;
  }
  if (field.kind === 'json' && typeof value === 'object') return value;
  if (!['string', 'number', 'bigint'].includes(typeof value)) throw usage(`${name}: neither a text nor a number`);
  // A user with an apostrophe that -o excel added would get a second license under that name.
  if (isWithoutFormula(text))
    throw usage(
      `${name}: ${text} has an apostrophe as -o excel puts one before what could be a formula`,
      'Write the file with -o csv, or remove the apostrophe: another user has the name without it.',
    );
  return readField(name, field, text);
}

function orFault<T>(text: string, faults: Fault[], read: () => T): T | undefined {
  try {
    return read();
  } catch (cause) {
    faults.push(faultOf(cause, text));
    return undefined;
  }
}

/** Fills in what rows leave to the run, and names repeated rows. @throws Failure usage naming every bad row */
async function complete<T extends Fields, R extends Values<T>>(
  rows: readonly Values<T>[],
  lines: readonly number[],
  { fields, noun, nameOf, keyOf, apart, completion }: RosterRules<T, R>,
  bad: BadRows,
): Promise<R[]> {
  const { unit } = bad;
  const fill = await completion(rows).catch((cause: unknown) => {
    throw bad.failure() ?? cause;
  });
  const earlier = new Map<string, number>();
  const completed: R[] = [];
  for (const [index, row] of rows.entries()) {
    const line = lines[index] ?? 0;
    const faults: Fault[] = [];
    const filled = orFault('', faults, () => fill(row));
    for (const fault of faults) bad.add(line, fault);
    if (!filled) continue;
    completed.push(filled);
    const key = keyOf?.(filled);
    const first = key === undefined ? undefined : earlier.get(key);
    if (key !== undefined && first === undefined) earlier.set(key, line);
    if (first === undefined) continue;
    const where = `is already ${unit === 'row' ? 'in' : 'on'} `;
    const isOpen = apart !== undefined && apart in fields && !(apart in row);
    const otherwise = isOpen ? `, or name their applications in a column ${apart}` : '';
    bad.add(line, {
      reason: `${noun} '${nameOf(filled)}' ${where}${unit} ${first}`,
      rule: `the ${noun} ${where}an earlier ${unit}`,
      hint: `Remove one of the ${unit}s${otherwise}.`,
    });
  }
  const failure = bad.failure();
  if (failure) throw failure;
  return completed;
}

/** Every row gets each of the other columns, so that a table has them whatever its first row is. */
function otherColumns(rows: readonly Cells[], own: readonly string[], beside: readonly string[]): OtherColumns[] {
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
