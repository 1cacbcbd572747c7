import { createHash } from 'node:crypto';
import { Failure, usage } from '../../core/failure.ts';
import type { Fields, Values } from '../../schema/field.ts';
import { readAliases } from '../../store/roster/header.ts';
import { openRosterFile, readRosterRows, type RosterFile } from '../../store/roster/roster-file.ts';
import { badRowsOf, type BadRows, type Place } from './bad-rows.ts';
import { faultOf, rowChecker, type RosterRow } from './check-rows.ts';

/** A roster that was read once and is held whole. */
export interface CheckedRoster<R> {
  /** In the order of the file; at least one. */
  readonly rows: readonly RosterRow<R>[];
  /** The hash of the bytes and of how columns are named: another roster is another job. */
  readonly sha256: string;
}

/** A roster as it was given, and how its columns are read. */
export interface RosterSource extends RosterFile {
  /** `NAME=HEADER` words: the column NAME is under that header. */
  readonly columns?: readonly string[] | undefined;
  /** Carries other columns through. One named like a column of the result, listed here, becomes `roster_NAME`. */
  readonly keepBeside?: readonly string[] | undefined;
}

/** What makes a row good. */
export interface RosterRules<T extends Fields, R extends Values<T>> {
  readonly fields: T;
  /** What a roster names once: `user`. */
  readonly noun: string;
  readonly nameOf: (row: Values<T>) => string;
  /** Rows with equal keys repeat each other. */
  readonly keyOf: (row: Values<T>) => string;
  /** Makes the function that fills in what a row leaves to the run. It may fail with usage for one row. */
  readonly completion: (rows: readonly RosterRow<Values<T>>[]) => Promise<(row: RosterRow<Values<T>>) => RosterRow<R>>;
}

/** How a roster of users compares rows: a user is named once in an application; without a code it is the run's own. */
export const oncePerUser = {
  noun: 'user',
  nameOf: ({ remote_user }: { readonly remote_user: string }) => remote_user,
  keyOf: ({ remote_user, app_code }: { readonly remote_user: string; readonly app_code?: number }) =>
    `${app_code ?? ''} ${remote_user}`,
};

/**
 * Reads a roster once and checks every row, repeated ones included. A file with bad rows is refused whole, each of them named.
 * @throws Failure usage; where all rows are good, the failure of `completion`
 */
export async function readRoster<const T extends Fields, R extends Values<T>>(
  source: RosterSource,
  rules: RosterRules<T, R>,
): Promise<CheckedRoster<R>> {
  const opened = openRosterFile(source);
  const place = { file: source.file, unit: opened.format === 'json' ? 'row' : 'line' } as const;
  const bad = badRowsOf(place);
  const read = rowChecker(rules.fields, source.keepBeside, bad);
  const names = Object.keys(rules.fields);
  const required = names.filter((name) => rules.fields[name]?.required);
  const wanted = { names, required, aliases: readAliases(source.columns ?? [], names) };
  await readRosterRows(opened, wanted, read);
  const rows = await complete(read.rows(), rules, bad, place);
  if (rows.length === 0) throw usage(`${source.file}: no rows`);
  return { rows, sha256: hashOf(source) };
}

/** Fills in what rows leave to the run and names repeated rows. Where nothing can be filled in, rows are compared as they are. */
async function complete<T extends Fields, R extends Values<T>>(
  rows: readonly RosterRow<Values<T>>[],
  { noun, nameOf, keyOf, completion }: RosterRules<T, R>,
  bad: BadRows,
  place: Place,
): Promise<RosterRow<R>[]> {
  const fill = await completion(rows).catch((cause: unknown) => {
    if (cause instanceof Failure) return cause;
    throw cause;
  });
  const earlier = new Map<string, number>();
  const completed: RosterRow<R>[] = [];
  for (const row of rows) {
    const filled = fill instanceof Failure ? row : filledBy(fill, row, bad);
    if (!filled) continue;
    const first = earlier.get(keyOf(filled));
    if (first === undefined) earlier.set(keyOf(filled), row.line);
    else {
      const where = `is already ${place.unit === 'row' ? 'in' : 'on'} `;
      bad.add(
        row.line,
        `${noun} '${nameOf(filled)}' ${where}${place.unit} ${first}`,
        `the ${noun} ${where}an earlier ${place.unit}`,
      );
    }
    if (!(fill instanceof Failure)) completed.push(filled as RosterRow<R>);
  }
  const failure = bad.failure() ?? (fill instanceof Failure ? fill : undefined);
  if (failure) throw failure;
  return completed;
}

function filledBy<A extends { readonly line: number }, B>(fill: (row: A) => B, row: A, bad: BadRows): B | undefined {
  try {
    return fill(row);
  } catch (cause) {
    const { reason, rule, hint } = faultOf(cause, '');
    bad.add(row.line, reason, rule, hint);
    return undefined;
  }
}

function hashOf({ bytes, columns = [] }: RosterSource): string {
  const hash = createHash('sha256').update(bytes);
  if (columns.length > 0) hash.update(JSON.stringify([...columns].sort()));
  return hash.digest('hex');
}
