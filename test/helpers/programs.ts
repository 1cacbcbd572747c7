import { programs } from '../../scripts/programs.js';

type Program = keyof typeof programs;

/** Where a program is, or the folder that holds its commands; undefined where it is not installed. */
export function whereIs(program: Program): string | undefined {
  return programs[program].where();
}

/** Options of a test that runs programs of the system: skipped without them, and named by `npm test`. */
export function needs(...tags: Program[]): { readonly tags: Program[]; readonly skip: boolean } {
  return { tags, skip: tags.some((program) => whereIs(program) === undefined) };
}
