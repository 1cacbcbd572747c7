import { asObject } from './columns.ts';
import type { Form } from './form.ts';
import type { Show } from './show.ts';

/** A form of objects that get only the fields asked for; a column of the command counts where the row has no such key. */
export function picking(form: Form, show: Show<unknown> | undefined, fields: readonly string[]): Form {
  const pick = (row: unknown): unknown => {
    const object = asObject(row, show);
    if (!object) return row;
    const pairs = fields.map((field) => [
      field,
      Object.hasOwn(object, field) ? object[field] : show?.cell?.(row, field),
    ]);
    return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
  };
  return { one: (value) => form.one(pick(value)), row: (row) => form.row(pick(row)), end: () => form.end() };
}
