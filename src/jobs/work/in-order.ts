/** Results that come in any order and are read in the order of their keys; a key is an object. */
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

  /** Yields each result once those before it have come. Keys whose result never came are left out. */
  async *read(keys: Iterable<K>): AsyncGenerator<T> {
    for (const key of keys) {
      while (!this.#results.has(key) && !this.#isClosed) await this.#change();
      const result = this.#results.get(key);
      if (result === undefined) continue;
      this.#results.delete(key);
      yield result;
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
