/** Results that come in any order and are taken in the order of their keys, by one reader; a key is an object. */
export class InOrder<K extends object, T> {
  readonly #results = new Map<K, T>();
  #isClosed = false;
  #wake = (): void => undefined;

  put(key: K, result: T): void {
    this.#results.set(key, result);
    this.#wake();
  }

  /** No more results come. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** Resolves when the result is there; undefined where it never comes. */
  async take(key: K): Promise<T | undefined> {
    while (!this.#results.has(key) && !this.#isClosed) await new Promise<void>((resolve) => (this.#wake = resolve));
    const result = this.#results.get(key);
    this.#results.delete(key);
    return result;
  }
}
