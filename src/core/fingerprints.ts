import { hash } from 'node:crypto';

/** Which texts there are, in eight bytes for each: what it does not have is not there, what it has is almost certainly. */
export interface Fingerprints {
  /** Sorted, each once. */
  readonly values: Float64Array;
  /** Whether one stood twice. */
  readonly repeats: boolean;
  has(value: number): boolean;
}

/** 48 bits of the SHA-256 of a text. */
export function fingerprint(text: string): number {
  return parseInt(hash('sha256', text).slice(0, 12), 16);
}

export function fingerprintsOf(texts: Iterable<string>): Fingerprints {
  const found: number[] = [];
  for (const text of texts) found.push(fingerprint(text));
  return inOrder(found);
}

/** Fingerprints in any order. */
export function inOrder(found: ArrayLike<number>): Fingerprints {
  const sorted = Float64Array.from(found).sort();
  const values = sorted.filter((value, index) => value !== sorted[index - 1]);
  return { values, repeats: values.length < sorted.length, has: (value) => isIn(values, value) };
}

function isIn(sorted: Float64Array, value: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
