/**
 * The same items, where each is asked for while the one before it is used: two are on their way at most. What the source throws is
 * thrown in its place. When the user stops, the source is asked to end, and what is on its way is not waited for.
 */
export async function* ahead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = begun(source);
  try {
    for (let item = await next; !item.done; item = await next) {
      next = begun(source);
      yield item.value;
    }
  } finally {
    void Promise.allSettled([source.return(undefined)]);
  }
}

/** A failure waits until somebody awaits it. */
function begun<T>(source: AsyncGenerator<T>): Promise<IteratorResult<T>> {
  const next = source.next();
  next.catch(() => undefined);
  return next;
}
