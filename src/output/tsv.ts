import { tsvCell } from '../core/tsv.ts';
import { writeJson } from '../core/json.ts';
import { asObject, cellText, cellsOf, columnsOf, namesOf, rulesOf, unlessNothing, watchDiffering } from './columns.ts';
import type { PeopleReader } from './people.ts';
import { plain } from './plain.ts';
import type { Formatter, Presentation, Show } from './presentation.ts';

/** One record a line, cells parted by tabs; a tab, line end or backslash inside a cell is `\t`, `\n`, `\r`, `\\`. */
export function tsv(presentation: Presentation): Formatter {
  const cell = (value: unknown): string => {
    const text = tsvCell(cellText(value));
    return presentation.terminal ? plain(text) : text;
  };
  return records(presentation, (cells) => `${cells.map(cell).join('\t')}\n`);
}

export type RecordChoices = Pick<Presentation, 'show' | 'fields' | 'header' | 'terminal'>;

/** A formatter of one record a row below a header (csv, tsv). A list without rows still shows a known header. */
export function records(
  choices: RecordChoices,
  write: (cells: readonly unknown[]) => string,
  reader?: PeopleReader,
): Formatter {
  const { show, fields } = choices;
  let columns: readonly string[] | undefined;
  let leftOut: ReturnType<typeof fieldsLeftOut> | undefined;
  const { differing, see } = watchDiffering();
  const header = (names: readonly string[]): string => (choices.header && names.length > 0 ? write(names) : '');
  const line = (row: unknown, names: readonly string[]): string => {
    const cells = cellsOf(row, names, fields && !reader ? withoutWords(show) : show);
    return write(reader ? cells.map((cell, index) => reader(cell, names[index] ?? '', row) ?? cell) : cells);
  };
  const row = (value: unknown): string => {
    let head = '';
    if (!columns) {
      columns = columnsOf(value, choices);
      head = header(columns);
      if (show.others === 'any' && !fields) leftOut = fieldsLeftOut(columns, show);
    }
    if (leftOut) see(leftOut(value));
    return head + line(value, columns);
  };
  return {
    one: unlessNothing(row),
    row,
    end: () => (columns ? '' : header(fields ?? namesOf(show))),
    remark: () => (differing.size === 0 ? undefined : `left out: ${[...differing].join(', ')}; --fields names columns`),
  };
}

function withoutWords({ columns = [], ...show }: Show<unknown>): Show<unknown> {
  return { ...show, columns: columns.filter((column) => typeof column === 'string' || !column.isWords) };
}

/** The fields of a row that no column shows: the first row decides on the columns, and later ones may have more. */
function fieldsLeftOut(columns: readonly string[], show: Show<unknown>) {
  // The key of a license is shown under our name for it.
  const made = columns.filter((name) => rulesOf(show, name)?.of);
  return (row: unknown) => {
    const object = asObject(row, show) ?? {};
    const names = Object.keys(object).filter((name) => !columns.includes(name));
    const shown = names.length > 0 ? cellsOf(row, made, show) : [];
    return names.flatMap((name) => (shown.includes(object[name]) ? [] : [[name, writeJson(object[name])] as const]));
  };
}
