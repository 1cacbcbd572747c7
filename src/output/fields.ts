import { usage, type Failure } from '../core/failure.ts';
import { asObject } from './columns.ts';
import type { Form } from './form.ts';
import type { Show } from './show.ts';

/** The refusal of `--fields` that this row, the first, does not know: neither as a key nor as a column of the command. */
export function unknownFields(
  row: unknown,
  show: Show<unknown> | undefined,
  fields: readonly string[] | undefined,
): Failure | undefined {
  const object = asObject(row, show);
  if (!object || !fields) return undefined;
  const known = [...new Set([...(show?.columns ?? []), ...(show?.known ?? []), ...Object.keys(object)])];
  const strange = fields.filter((field) => !known.includes(field));
  if (strange.length === 0) return undefined;
  return usage(
    strange.map((field) => `There is no field '${field}' in the result.`),
    `Its fields are ${known.join(', ')}.`,
  );
}

/**
 * Refuses `--fields` that a command cannot have, before it runs: where its columns say all that its rows hold.
 * @throws Failure usage
 */
export function refuseFields(show: Show<unknown> | undefined, fields: readonly string[] | undefined): void {
  if (!show?.columns || show.others) return;
  const refusal = unknownFields({}, show, fields);
  if (refusal) throw refusal;
}

/**
 * A form that refuses fields which the first row does not know, before anything is written.
 * @throws Failure usage, from `row`
 */
export function refusing(form: Form, show: Show<unknown> | undefined, fields: readonly string[]): Form {
  let state: 'new' | 'checked' | 'refused' = 'new';
  return {
    one: (value) => form.one(value),
    row(row) {
      const refusal = state === 'new' ? unknownFields(row, show, fields) : undefined;
      state = refusal ? 'refused' : 'checked';
      if (refusal) throw refusal;
      return form.row(row);
    },
    end: () => (state === 'refused' ? '' : form.end()),
    remark: () => form.remark?.(),
  };
}

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
