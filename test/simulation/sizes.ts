/**
 * Sizes of the program and the sandbox that a history makes small, so that a world of 60 messages has pages, batches
 * and looks at the newest messages alone. `bundle.js` puts a call of `sized` beside each of them.
 */
export interface Sizes {
  /** Messages of a page of an archive. */
  readonly page: number;
  /** Messages of a page of a purge. */
  readonly look: number;
  /** Messages that one transaction of the server deletes. */
  readonly batch: number;
  /** Messages that a look before a delete call reads at least. */
  readonly newest: number;
  /** Ids up to its last one that a pull looks at again. */
  readonly window: number;
  /** Bytes of the largest attached file that is kept. */
  readonly file: number;
}

/** What they are outside of a simulation. */
const usual: Sizes = { page: 1000, look: 5000, batch: 100, newest: 5000, window: 1000, file: 100_000_000 };

const known: [name: keyof Sizes, set: (size: number) => void][] = [];
let current = usual;

/** A module of the program may be loaded in the middle of the first history. */
export function sized(name: keyof Sizes, set: (size: number) => void): void {
  known.push([name, set]);
  set(current[name]);
}

export function setSizes(sizes: Partial<Sizes> = {}): void {
  current = { ...usual, ...sizes };
  for (const [name, set] of known) set(current[name]);
}
