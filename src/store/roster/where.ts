import { alternatives } from '../../schema/field.ts';
import { writeJson } from '../../core/json.ts';
import { usage } from '../../core/failure.ts';
import { suggestion } from '../../schema/nearest.ts';
import { columnOf, normalized, type WantedColumns } from './header.ts';

/** Takes the rows that `COLUMN=VALUE` words name: of one column any value, of several all. @throws Failure usage */
export function rowsWhere(words: readonly string[], wanted: WantedColumns) {
  const sought = new Map<string, Set<string>>();
  for (const word of words) {
    const at = word.indexOf('=');
    if (at < 1) throw usage(`--where ${word}: expected COLUMN=VALUE`);
    const column = normalized(columnOf(word.slice(0, at), wanted));
    const value = word.slice(at + 1).trim();
    if (!sought.get(column)?.add(value)) sought.set(column, new Set([value]));
  }
  /** Values of the rows, by the normalized name of each column. */
  const columns = new Map<string, { readonly name: string; readonly values: Set<string> }>();
  let [taken, all] = [0, 0];
  return {
    takes(values: ReadonlyMap<string, unknown>): boolean {
      if (sought.size === 0) return true;
      const own = new Map<string, string>();
      for (const [name, value] of values) {
        const text = typeof value === 'string' ? value : value === undefined ? '' : writeJson(value);
        own.set(normalized(name), text);
        const column = columns.get(normalized(name)) ?? { name, values: new Set<string>() };
        if (column.values.size < maxValues) column.values.add(text);
        columns.set(normalized(name), column);
      }
      const isTaken = [...sought].every(([column, texts]) => texts.has(own.get(column) ?? ''));
      all += 1;
      taken += Number(isTaken);
      return isTaken;
    },
    /** Says how many rows were taken. @throws Failure usage where none was */
    end(note: ((text: string) => void) | undefined): void {
      if (sought.size === 0 || all === 0) return;
      const names = [...columns.values()].map(({ name }) => name);
      for (const word of words) {
        const [typed = ''] = word.split('=', 1);
        if (!columns.has(normalized(columnOf(typed, wanted))))
          throw usage(
            `no row has a column ${typed}`,
            suggestion(typed, names) ?? `The columns are ${names.join(', ')}.`,
          );
      }
      if (taken === 0) {
        const [[column = '', texts] = []] = sought;
        const { name = column, values = new Set<string>() } = columns.get(column) ?? {};
        const [text = ''] = texts ?? [];
        const known = [...values];
        throw usage(`no row has ${name}=${text}; it is ${known.slice(0, 5).join(', ')}`, suggestion(text, known));
      }
      const terms = [...sought].map(([column, texts]) => {
        return `${columns.get(column)?.name ?? column} is ${alternatives([...texts])}`;
      });
      note?.(`${taken} of ${all} rows ${taken === 1 ? 'is' : 'are'} taken: ${terms.join(', ')}`);
    },
  };
}

const maxValues = 100;
