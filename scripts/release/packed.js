// What users install has a package.json of its own: `write` before packing, `restore` after it. It has no `scripts` and
// no `devDependencies`, and names the pages of the manual, so that npm links them; `bugs` and `homepage` follow from
// `repository`, so that the owner of a fork names one address.
// The modes of what is packed are the same under any umask, so that the same sources give the same bytes; an image gets
// these `modes` alone.
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [action] = process.argv.slice(2);
const [manifest, whole] = ['package.json', 'package.json.whole'];
const pages = 'man/pages';
/** What only this repository needs. */
const ours = new Set(['scripts', 'devDependencies']);

if (action === 'modes') setAll(JSON.parse(readFileSync(manifest, 'utf8')).files);
else if (action === 'write') {
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(whole, text);
  const all = JSON.parse(text);
  const packed = Object.fromEntries(Object.entries(all).filter(([name]) => !ours.has(name)));
  const man = existsSync(pages) ? readdirSync(pages).map((name) => `${pages}/${name}`) : [];
  const own = { ...packed, ...(man.length > 0 && { man }), ...addresses(all.repository?.url) };
  writeFileSync(manifest, `${JSON.stringify(own, null, 2)}\n`);
  setAll(all.files);
} else renameSync(whole, manifest);

/** @param {string | undefined} url as npm has it: git+https://…/OWNER/NAME.git */
function addresses(url) {
  if (url === undefined) return {};
  const page = url.replace(/^git\+/, '').replace(/\.git$/, '');
  return { bugs: { url: `${page}/issues` }, homepage: `${page}#readme` };
}

/** @param {readonly string[]} files */
function setAll(files) {
  for (const path of [manifest, ...files]) setModes(path);
}

/** Of a file, or of all files below a folder. @param {string} path */
function setModes(path) {
  if (!statSync(path).isDirectory()) return chmodSync(path, path.startsWith('bin') ? 0o755 : 0o644);
  chmodSync(path, 0o755);
  for (const name of readdirSync(path)) setModes(join(path, name));
}
