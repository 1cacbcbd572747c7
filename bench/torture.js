// Kills commands at random moments, against servers of random shapes, and counts the wrong results that they leave
// behind: `npm run torture` for every kind, `npm run torture -- apply record` for some. Each wrong is printed; one is
// enough for exit code 1.
import { readdirSync } from 'node:fs';
import { bareEnvironment } from './measure.js';
import { temporaryFolder } from './sandbox.js';

/**
 * Where a torture works: an empty home, an environment without settings, and the list to which it adds each wrong
 * result.
 * @typedef {{ home: string, bare: Record<string, string | undefined>, wrongs: string[] }} Place
 * @typedef {(place: Place) => Promise<string>} Torture returns what it did
 */

const kinds = readdirSync(new URL('torture', import.meta.url)).flatMap((file) => /^(.*)\.js$/.exec(file)?.[1] ?? []);
const unknown = process.argv.slice(2).filter((kind) => !kinds.includes(kind));
if (unknown.length > 0) throw new Error(`no torture ${unknown.join(', ')}; there are ${kinds.join(', ')}`);

for (const kind of process.argv.length > 2 ? process.argv.slice(2) : kinds) {
  /** @type {{ default: Torture }} */
  const { default: torture } = await import(`./torture/${kind}.js`);
  const home = temporaryFolder('torture');
  /** @type {string[]} */
  const wrongs = [];
  const begun = performance.now();
  const done = await torture({ home, bare: bareEnvironment(home), wrongs });
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  console.log(`${kind}: ${done}: ${wrongs.length} wrongs (${seconds} s)`);
  for (const wrong of wrongs.slice(0, 40)) console.log(`  ${wrong}`);
  if (wrongs.length > 0) process.exitCode = 1;
}
