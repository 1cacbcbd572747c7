/**
 * Yields results that come in any order in the order of their keys; each is held back until those before it have come. Results after a
 * key that never comes are yielded at the end.
 */
export async function* inOrder<T>(
  keys: readonly string[],
  results: AsyncIterable<T>,
  keyOf: (result: T) => string,
): AsyncGenerator<T> {
  const waiting = new Map<string, readonly [T]>();
  let next = 0;
  for await (const result of results) {
    waiting.set(keyOf(result), [result]);
    for (let ready = waiting.get(keys[next] ?? ''); ready; ready = waiting.get(keys[next] ?? '')) {
      waiting.delete(keys[next] ?? '');
      next += 1;
      yield* ready;
    }
  }
  for (const key of keys.slice(next)) yield* waiting.get(key) ?? [];
}
