import { Failure, usage } from '../core/failure.ts';
import { collect, readField, type Fields, type Values } from '../spec/field.ts';
import { readRoster, type RosterFormat } from '../store/roster.ts';

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

/** A user stands once in an application; without a code it is the run's own. */
export const uniqueUser: Unique<{ readonly remote_user: string; readonly app_code?: number }> = {
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
): Promise<Placed<Values<T>>[]> {
  const required = Object.entries(fields).flatMap(([name, field]) => (field.required ? [name] : []));
  const records = await readRoster(text, format, required);
  const refuse = refuserOfRepeats(unique);
  return collect(records, ({ place, values }) => {
    const row = readRow(place, values(), fields);
    refuse(place, row);
    return { place, row };
  });
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
export function refuseRepeats<R>(rows: readonly Placed<R>[], unique: Unique<R>): void {
  const refuse = refuserOfRepeats(unique);
  collect(rows, ({ place, row }) => refuse(place, row));
}

function refuserOfRepeats<R>({ key, label }: Unique<R>): (place: string, row: R) => void {
  const first = new Map<string, string>();
  return (place, row) => {
    const earlier = first.get(key(row));
    if (earlier !== undefined) throw usage(`${place}: ${label(row)} stands on ${earlier} already`);
    first.set(key(row), place);
  };
}
