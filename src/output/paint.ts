import { Chalk, type ChalkInstance } from 'chalk';

/** Colour by our own policy (style.ts): chalk's detection ignores NO_COLOR and knows nothing of `--color`. */
export function painter(level: 0 | 1): ChalkInstance {
  return new Chalk({ level });
}
