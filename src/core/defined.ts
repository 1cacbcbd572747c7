import { namesIn } from './table-names.ts';

/** The same properties, each absent where it may be undefined. */
type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The properties that have a value: with exactOptionalPropertyTypes an optional property is absent, not undefined. */
export function defined<T extends object>(values: T): Defined<T> {
  const kept: { -readonly [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const name of namesIn(values)) {
    const value = values[name];
    if (isDefined(value)) kept[name] = value;
  }
  return kept;
}

function isDefined<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}
