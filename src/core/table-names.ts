/** The names of a table's rows in order. TypeScript has the keys of an object as `string`: the one cast is here. */
export function namesIn<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The properties that have a value: with exactOptionalPropertyTypes an optional property is absent, not undefined. */
export function defined<T extends object>(values: T): Defined<T> {
  const result: { -readonly [K in keyof T]?: Exclude<T[K], undefined> } = {};
  for (const name of namesIn(values)) {
    const value = values[name];
    if (isDefined(value)) result[name] = value;
  }
  return result;
}

function isDefined<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}
