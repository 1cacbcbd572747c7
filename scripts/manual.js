// node scripts/manual.js: makes the pages of the manual in man/pages, and man/manual.html with all of them for a
// browser, which git ignores, from the texts in man and the tables of the program: npm does so before it packs, and the
// scripts that make the other packages.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { showUsage } from './usage.js';

const clone = resolve(import.meta.dirname, '..');

/**
 * All pages, such as `chatelaine-license-create.1`.
 * @returns {Promise<readonly { readonly file: string, readonly text: string }[]>}
 */
export const manualPages = async () => (await bundledPages()).manualFiles();

/**
 * The texts of `chatelaine help WORD`, by word.
 * @returns {Promise<Readonly<Record<string, string>>>}
 */
export const guideTexts = async () => (await bundledPages()).guideTexts();

/** @type {Promise<typeof import('./manual/pages.ts')> | undefined} */
let bundled;

/** Loads the pages once in a process. */
function bundledPages() {
  return (bundled ??= bundlePages());
}

/** @returns {Promise<typeof import('./manual/pages.ts')>} */
async function bundlePages() {
  const before = process.cwd();
  process.chdir(clone);
  // Node 20 reads no TypeScript. The bundle is where the packages that it names are found.
  const file = resolve(`node_modules/.cache/manual-${process.pid}.mjs`);
  try {
    const input = 'scripts/manual/pages.ts';
    const bundle = await rolldown({ input, platform: 'node', external: (name) => /^[^./]/.test(name) });
    await bundle.write({ file, format: 'esm', codeSplitting: false });
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(file, { force: true });
    process.chdir(before);
  }
}

if (process.argv[1] === import.meta.filename) {
  showUsage(import.meta.filename);
  const folder = join(clone, 'man/pages');
  const pages = await manualPages();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const { file, text } of pages) writeFileSync(join(folder, file), text);
  writeFileSync(join(clone, 'man/manual.html'), await (await bundledPages()).manualWeb());
}
