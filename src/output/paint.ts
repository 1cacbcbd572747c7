import { Chalk, type ChalkInstance } from 'chalk';
import { namesIn } from '../core/table-names.ts';

/** Colour by our own policy (hasColor): chalk's detection ignores NO_COLOR and knows nothing of `--color`. */
export function painter(level: 0 | 1): ChalkInstance {
  return new Chalk({ level });
}

/** The colours of statuses; the words say the same without them. */
const statusColors = {
  green: 'created create ok deleted',
  yellow: 'resized resize retired retire lent never-activated unseen',
  red: 'failed unknown error incomplete refused',
  dim: 'unchanged',
} as const;

/** The colour of a status; undefined for one that needs none. */
export function statusPaint(status: string): ((text: string) => string) | undefined {
  const chosen = namesIn(statusColors).find((color) => statusColors[color].split(' ').includes(status));
  return chosen && painter(1)[chosen];
}
