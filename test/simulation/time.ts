/** Virtual time: what is due happens in the order of its moment, one step at a time. Nothing waits in real time. */
export interface Time {
  /** Milliseconds since 1970; every computer's true time. */
  now(): number;
  /** Calls `step` once, so many milliseconds from now; the function that it returns cancels that. */
  after(span: number, step: () => void): () => void;
  /** Runs steps until `isDone`; false where nothing was left to do, or the moment `limit` came first. */
  runUntil(isDone: () => boolean, limit: number): Promise<boolean>;
}

interface Due {
  readonly at: number;
  /** Of two at one moment the one that was asked for first comes first. */
  readonly order: number;
  step: (() => void) | undefined;
}

/** Milliseconds since 1970 have steps of 0.00024. */
const leastSpan = 0.001;

export function createTime(start: number): Time {
  let now = start;
  let order = 0;
  const queue = createHeap();
  return {
    now: () => now,
    after(span, step) {
      // A span that a number of this size cannot hold would pass no time: whoever waits until a moment would not end.
      const due: Due = { at: now + (span > 0 ? Math.max(leastSpan, span) : 0), order: (order += 1), step };
      queue.add(due);
      return () => void (due.step = undefined);
    },
    async runUntil(isDone, limit) {
      // What was begun before the first step.
      await idle();
      while (!isDone()) {
        const due = queue.take();
        if (!due || due.at > limit) return false;
        if (!due.step) continue;
        now = due.at;
        due.step();
        await idle();
      }
      return true;
    },
  };
}

/**
 * Resolves when everything that a step set off has run. Promises and ticks run before the next turn of the real event
 * loop, and nothing in a simulated process asks for a real turn of its own.
 */
function idle(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function createHeap() {
  const heap: Due[] = [];
  const isBefore = (one: Due, other: Due): boolean =>
    one.at < other.at || (one.at === other.at && one.order < other.order);
  const at = (index: number): Due => {
    const due = heap[index];
    if (!due) throw new Error('outside of the heap');
    return due;
  };
  const swap = (one: number, other: number): void => {
    [heap[one], heap[other]] = [at(other), at(one)];
  };
  return {
    add(due: Due): void {
      let place = heap.push(due) - 1;
      for (let parent = (place - 1) >> 1; place > 0 && isBefore(due, at(parent)); parent = (place - 1) >> 1) {
        swap(place, parent);
        place = parent;
      }
    },
    take(): Due | undefined {
      const [first] = heap;
      const last = heap.pop();
      if (!first || !last || heap.length === 0) return first;
      heap[0] = last;
      for (let place = 0; ;) {
        const [left, right] = [2 * place + 1, 2 * place + 2];
        let least = place;
        if (left < heap.length && isBefore(at(left), at(least))) least = left;
        if (right < heap.length && isBefore(at(right), at(least))) least = right;
        if (least === place) return first;
        swap(place, least);
        place = least;
      }
    },
  };
}
