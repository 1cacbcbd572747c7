/** The names of a table's rows, in its order. TypeScript knows the keys of an object as `string` only, so the one cast is here. */
export function namesIn<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}
