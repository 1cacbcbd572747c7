import { Failure, usage } from '../core/failure.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { mapped, type Rows } from '../core/rows.ts';
import { collect, readField, type Fields, type Values } from '../spec/field.ts';
import { readRoster, type RosterFormat, type RosterRecord } from '../store/roster.ts';

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

/**
 * Reads a roster against a table of fields. A file with bad rows is refused whole, every bad line named: a rule broken, or a row
 * that repeats an earlier one. Other columns are ignored.
 * @throws Failure usage
 */
export async function readRows<const T extends Fields>(
  text: string,
  format: RosterFormat,
  fields: T,
  unique: Unique<Values<T>>,
): Promise<Rows<Placed<Values<T>>>> {
  const required = Object.entries(fields).flatMap(([name, field]) => (field.required ? [name] : []));
  const records = await readRoster(text, format, required);
  const read = ({ place, values }: RosterRecord): Placed<Values<T>> => ({
    place,
    row: readRow(place, values(), fields),
  });
  const length = checked(records, read, unique);
  return mapped(records, length, read);
}

function readRow<T extends Fields>(place: string, values: Readonly<Record<string, string>>, fields: T): Values<T> {
  const read = collect(Object.entries(fields), ([name, field]) => {
    const text = values[name];
    if (text !== undefined) return [[name, within(place, () => readField(name, field, text))] as const];
    if (field.required) throw usage(`${place}: ${name} is missing`);
    return [];
  });
  return Object.fromEntries(read.flat()) as Values<T>;
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
  checked(rows, (row) => row, unique);
}

/** How many rows there are. Only where something may be wrong with one are they looked at side by side. */
function checked<I, R>(items: Iterable<I>, read: (item: I) => Placed<R>, unique: Unique<R>): number {
  const count = countUnlessWrong(items, read, unique);
  if (count !== undefined) return count;
  const refuse = refuserOfRepeats(unique);
  return collect(items, (item) => {
    const { place, row } = read(item);
    refuse(place, row);
  }).length;
}

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
