import { Failure, usage } from '../../core/failure.ts';
import { fingerprintsOf } from '../../core/fingerprints.ts';
import { mapped, type Rows } from '../../core/rows.ts';
import { collect, readField, type Field, type Fields, type Values } from '../../schema/field.ts';
import { readRoster, type RosterFormat, type RosterRecord } from '../../store/roster/roster-file.ts';

/** A row of a roster with the place it stands on, for messages. */
export interface Placed<T> {
  readonly place: string;
  readonly row: T;
}

/** What may stand in a roster once. */
export interface Unique<R> {
  readonly key: (row: R) => string;
  readonly label: (row: R) => string;
}

/** A user as a roster names one. */
export interface User {
  readonly remote_user: string;
  readonly app_code?: number;
}

/** A user stands once in an application; without a code it is the run's own. */
export const uniqueUser: Unique<User> = {
  key: ({ remote_user, app_code }) => `${app_code ?? ''} ${remote_user}`,
  label: ({ remote_user }) => `the user '${remote_user}'`,
};

/** Fills in what a row leaves to the run, as far as that is known. @throws Failure usage where the row is bad */
export type Completion<R> = (row: R) => R;

/**
 * Reads a roster against a table of fields. A file with bad rows is refused whole, every bad line named: a rule broken, or a row
 * that repeats an earlier one, which is seen once `completion` has filled in what rows leave out. Other columns are ignored.
 * @throws Failure usage
 */
export async function readRows<const T extends Fields>(
  text: string,
  format: RosterFormat,
  fields: T,
  unique: Unique<Values<T>>,
  completion: () => Promise<Completion<Values<T>>>,
): Promise<Rows<Placed<Values<T>>>> {
  const entries = Object.entries(fields);
  const required = entries.flatMap(([name, field]) => (field.required ? [name] : []));
  const records = await readRoster(text, format, required);
  const read = ({ place, values }: RosterRecord): Placed<Values<T>> => ({
    place,
    row: readRow(place, values(), entries),
  });
  const length =
    countUnlessWrong(records, read, unique) ?? countOrRefuse(records, read, unique, await known(completion));
  return mapped(records, length, read);
}

function readRow<T extends Fields>(
  place: string,
  values: Readonly<Record<string, string>>,
  fields: readonly (readonly [string, Field])[],
): Values<T> {
  const row: Record<string, unknown> = {};
  collect(fields, ([name, field]) => {
    const text = values[name];
    if (text !== undefined) row[name] = within(place, () => readField(name, field, text));
    else if (field.required) throw usage(`${place}: ${name} is missing`);
  });
  return row as Values<T>;
}

/** Says where a bad value stands. */
export function within<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'usage')
      throw usage(`${place}: ${cause.message}`, cause.details.hint);
    throw cause;
  }
}

/**
 * Refuses rows that repeat an earlier one, once defaults are filled in.
 * @throws Failure usage naming each of them
 */
export function refuseRepeats<R>(rows: Iterable<Placed<R>>, unique: Unique<R>): void {
  const asIs = (row: Placed<R>): Placed<R> => row;
  if (countUnlessWrong(rows, asIs, unique) === undefined) countOrRefuse(rows, asIs, unique, (row) => row);
}

/** What is wrong with a file is told also where a credential is missing: then rows are compared as they stand. */
async function known<R>(completion: () => Promise<Completion<R>>): Promise<Completion<R>> {
  try {
    return await completion();
  } catch (cause) {
    if (cause instanceof Failure) return (row) => row;
    throw cause;
  }
}

/** Only where something may be wrong with a row are rows looked at side by side. */
function countOrRefuse<I, R>(
  items: Iterable<I>,
  read: (item: I) => Placed<R>,
  unique: Unique<R>,
  complete: Completion<R>,
): number {
  const refuse = refuserOfRepeats(unique);
  return collect(items, (item) => {
    const { place, row } = read(item);
    refuse(
      place,
      within(place, () => complete(row)),
    );
  }).length;
}

/** Undefined where a row is bad, or may repeat another. */
function countUnlessWrong<I, R>(
  items: Iterable<I>,
  read: (item: I) => Placed<R>,
  { key }: Unique<R>,
): number | undefined {
  const keys = function* (): Generator<string> {
    for (const item of items) yield key(read(item).row);
  };
  try {
    const { repeats, values } = fingerprintsOf(keys());
    return repeats ? undefined : values.length;
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'usage') return undefined;
    throw cause;
  }
}

function refuserOfRepeats<R>({ key, label }: Unique<R>): (place: string, row: R) => void {
  const first = new Map<string, string>();
  return (place, row) => {
    const earlier = first.get(key(row));
    if (earlier !== undefined) throw usage(`${place}: ${label(row)} stands on ${earlier} already`);
    first.set(key(row), place);
  };
}
