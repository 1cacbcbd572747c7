/**
 * Items that come while a batch is written, or before the next one is due, are written together, in their order. A
 * batch that fails rejects for its own items; `write` says whether the next one may be written.
 */
export function batched<T>(
  write: (items: readonly T[]) => Promise<void>,
  due: () => Promise<void> = () => Promise.resolve(),
): (item: T) => Promise<void> {
  let batch: { readonly items: T[]; readonly written: Promise<void> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (item) => {
    if (batch) batch.items.push(item);
    else {
      const items = [item];
      const written = last.then(async () => {
        await due();
        batch = undefined;
        await write(items);
      });
      batch = { items, written };
      last = written.catch(() => undefined);
    }
    return batch.written;
  };
}
