// Writes man/, and the list of its pages in package.json, from docs/manual and the tables of the program: `npm run
// golden` does so, and npm before it packs.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

process.chdir(resolve(import.meta.dirname, '..'));
// Node 20 reads no TypeScript. The bundle is where the packages that it names are found.
const file = resolve(`node_modules/.cache/manual-${process.pid}.mjs`);
const input = 'scripts/manual/pages.ts';
const bundle = await rolldown({ input, platform: 'node', external: (name) => /^[^./]/.test(name) });
try {
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  const { manualFiles } = await import(pathToFileURL(file).href);
  const pages = await manualFiles();
  for (const name of readdirSync('man')) rmSync(join('man', name));
  for (const { file, text } of pages) writeFileSync(join('man', file), text);
  const man = readdirSync('man').sort();
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync('package.json', `${JSON.stringify({ ...manifest, man: man.map((name) => `man/${name}`) }, null, 2)}\n`);
} finally {
  rmSync(file, { force: true });
}
