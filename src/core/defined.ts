export type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The properties that have a value: with exactOptionalPropertyTypes an optional property is absent, not undefined. */
export function defined<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>;
}
