/** Writes items that come together in one batch, in order; a batch that fails rejects for its own items. */
export function batched<T>(
  write: (items: readonly T[]) => Promise<void>,
  due = (): Promise<void> => Promise.resolve(),
) {
  let batch: { readonly items: T[]; readonly written: Promise<void> } | undefined;
  const oneTurn = inSequence();
  return (item: T): Promise<void> => {
    if (batch) batch.items.push(item);
    else {
      const items = [item];
      const written = oneTurn(async () => {
        await due();
        batch = undefined;
        await write(items);
      });
      batch = { items, written };
    }
    return batch.written;
  };
}

/** Lets one piece of work begin when the one before it has ended, however that ended. */
export function inSequence(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}

/** Makes a value when it is first asked for. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
