import { afterAll, beforeAll } from 'vitest';
import { openBrowser, type Browser } from '../helpers/chromium.ts';
import { whereIs } from '../helpers/needs.ts';

/** In one file, so that one Chromium has all pages: the first one is open until the last test has ended. */

let first: Browser | undefined;

beforeAll(async () => {
  if (whereIs('chromium') !== undefined) first = await openBrowser();
});

afterAll(() => first?.close());

await import('./look.ts');
await import('./page.ts');
await import('./site.ts');
