import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Of the young objects, or of all. */
type Collection = 'minor' | 'full';

let collect: ((what: Collection) => void) | undefined;
let calls = 0;

/** Every sixth time all objects are looked at, for about 6 ms in place of 1. */
const betweenFull = 6;

/**
 * Frees the buffers that nobody uses any longer. V8 looks for them when its own heap is full, which pages that stay bytes fill slowly:
 * without this, 60 MB of pages that were written wait for it. Pages that were in use at a few calls are freed by a full collection only.
 */
export function freeBuffers(): void {
  collect ??= collector();
  calls += 1;
  collect(calls % betweenFull === 0 ? 'full' : 'minor');
}

/** The flag is taken back at once: V8 refuses compiled code that was cached under other flags. */
function collector(): NonNullable<typeof collect> {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  // V8 of Node 20 takes every object of options for a minor collection.
  return (what) => {
    if (typeof found === 'function') Reflect.apply(found, undefined, what === 'minor' ? [{ type: 'minor' }] : []);
  };
}
