import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Of the young objects, or of all. */
type Collection = 'minor' | 'full';

let collect: ((what: Collection) => void) | undefined;
let calls = 0;
let last: Collection = 'full';
/** Bytes outside the heap after all objects were looked at. */
let kept = 0;

/** All objects are looked at, for about 10 ms in place of 1, once so many more bytes are there, and every 16th time. */
const mostGrowth = 6 * 1024 * 1024;
const betweenFull = 16;

/**
 * Frees the buffers that nobody uses any longer. V8 looks for them when its own heap is full, which pages that stay bytes fill slowly:
 * without this, 60 MB of pages that were written wait for it. A minor collection leaves the buffers that were in use at two calls, and
 * those to which a dead object refers that was: a full one frees them.
 */
export function freeBuffers(): void {
  collect ??= collector();
  const { external_memory: used } = getHeapStatistics();
  kept = last === 'full' ? used : Math.min(kept, used);
  calls += 1;
  last = used - kept > mostGrowth || calls % betweenFull === 0 ? 'full' : 'minor';
  collect(last);
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
