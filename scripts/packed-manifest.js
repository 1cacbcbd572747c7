// What users install has a package.json without `scripts` and `devDependencies`: `write` before packing, `restore` after it.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

const [action] = process.argv.slice(2);
const [manifest, whole] = ['package.json', 'package.json.whole'];
/** What only this repository needs. */
const ours = new Set(['scripts', 'devDependencies']);

if (action === 'write') {
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(whole, text);
  const packed = Object.entries(JSON.parse(text)).filter(([name]) => !ours.has(name));
  writeFileSync(manifest, `${JSON.stringify(Object.fromEntries(packed), null, 2)}\n`);
} else renameSync(whole, manifest);
