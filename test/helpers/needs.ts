import { programs, type Need } from '../../scripts/needs.js';

/** Where a program is, or the folder that holds its commands; undefined where it is not installed. */
export function whereIs(program: keyof typeof programs): string | undefined {
  return programs[program].where();
}

/**
 * Options of a test that runs a program of the system, or needs what not every system can do: skipped without, and
 * named by `npm test`.
 */
export function needs(...tags: Need[]): { readonly tags: Need[] } {
  return { tags };
}
