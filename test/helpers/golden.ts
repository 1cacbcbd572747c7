import { resolve } from 'node:path';
import { expect } from 'vitest';

/** The text is that of a committed file of the repository, which `npm run golden` writes. */
export async function expectGolden(text: string, file: string): Promise<void> {
  await expect.soft(text, stale(file)).toMatchFileSnapshot(resolve(file));
}

/** What a reader of a failed comparison needs. */
export function stale(file: string): string {
  return `${file} is stale: read the difference, and if it is meant, npm run golden`;
}
