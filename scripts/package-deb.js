// node scripts/package-deb.js [FOLDER]: makes chatelaine_VERSION_all.deb of the built program (npm run build), with
// manual pages and completions in their places. Needs dpkg-deb.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { manualPages } from './manual.js';
import { showUsage } from './usage.js';

showUsage(import.meta.filename);
const clone = resolve(import.meta.dirname, '..');
const { name, version, description, license } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
const { DEBFULLNAME = 'The authors of chatelaine', DEBEMAIL = 'chatelaine@users.noreply.invalid' } = process.env;
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`;
const file = join(resolve(process.argv[2] ?? '.'), `${name}_${version}_all.deb`);
const pages = await manualPages();
const changed = lastDay();
const root = mkdtempSync(join(tmpdir(), `${name}-deb-`));

try {
  putProgram();
  putManual();
  putCompletions();
  putPapers();
  putControl();
  setModes(root);
  // The owner of every file is root, whoever builds, and none is younger than the changelog, whenever that is.
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(changed.getTime() / 1000) };
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', root, file], env);
} finally {
  rmSync(root, { recursive: true, force: true });
}
console.log(file);

function putProgram() {
  const place = join(root, 'usr/share', name);
  cpSync(join(clone, 'dist'), join(place, 'dist'), { recursive: true });
  put(`usr/share/${name}/package.json`, JSON.stringify({ name, version, description, license }));
  // The package depends on Debian's node, so it is that one which runs.
  const launcher = readFileSync(join(clone, 'bin/chatelaine.cjs'), 'utf8');
  put(`usr/share/${name}/bin/chatelaine.cjs`, launcher.replace(/^#!.*/, '#!/usr/bin/node'));
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  symlinkSync(`../share/${name}/bin/chatelaine.cjs`, join(root, 'usr/bin', name));
}

function putManual() {
  for (const { file: page, text } of pages)
    put(`usr/share/man/man${page.at(-1)}/${page}.gz`, compressed(Buffer.from(text)));
}

function putCompletions() {
  const script = (/** @type {string} */ shell) =>
    run(process.execPath, [join(clone, 'bin/chatelaine.cjs'), 'completion', shell]);
  put(`usr/share/bash-completion/completions/${name}`, script('bash'));
  put(`usr/share/zsh/vendor-completions/_${name}`, script('zsh'));
  put(`usr/share/fish/vendor_completions.d/${name}.fish`, script('fish'));
}

function putPapers() {
  const papers = `usr/share/doc/${name}`;
  const others = 'The packages that are part of the program, with their licenses, are listed in';
  put(
    `${papers}/copyright`,
    `${readFileSync(join(clone, 'LICENSE'), 'utf8')}\n${others}\n/usr/share/${name}/dist/THIRD-PARTY-LICENSES.\n`,
  );
  put(`${papers}/changelog.gz`, compressed(Buffer.from(debianChangelog())));
  put(`${papers}/CHANGELOG.md.gz`, compressed(readFileSync(join(clone, 'CHANGELOG.md'))));
}

/**
 * The day of the newest release in the changelog; before the first, that of the manual: the same sources give the same
 * package.
 */
function lastDay() {
  const page = pages.find(({ file: page }) => page === `${name}.1`)?.text ?? '';
  const released = /^## \d\S* - (\S+)$/m.exec(readFileSync(join(clone, 'CHANGELOG.md'), 'utf8'));
  const [, day = ''] = released ?? /^\.TH \S+ \d (\S+)/m.exec(page) ?? [];
  return new Date(`${day}T00:00:00Z`);
}

/** The form that tools of Debian read. */
function debianChangelog() {
  const time = changed.toUTCString().replace('GMT', '+0000');
  return [
    `${name} (${version}) unstable; urgency=medium`,
    '',
    '  * CHANGELOG.md.gz says what changed.',
    '',
    ` -- ${maintainer}  ${time}`,
    '',
  ].join('\n');
}

/** The long description, in lines of a terminal. */
function longDescription() {
  const text = `${description} A user gets one license also after lost answers, crashes and parallel runs; what was interrupted is
resumed; a topic of the chat is archived before it is deleted. A sandbox of both services is there for trying it out. Where nodejs is older than 20.18 (Debian 12, Ubuntu 24.04), take the archive with a
Node of its own from the page of the release.`;
  return text
    .replaceAll('\n', ' ')
    .replace(/(.{1,76})(?:\s+|$)/g, ' $1\n')
    .trimEnd();
}

/** DEBIAN/control and the sums by which dpkg --verify finds damage. */
function putControl() {
  const files = filesIn(root);
  const sums = files.map(
    (path) =>
      `${createHash('md5')
        .update(readFileSync(join(root, path)))
        .digest('hex')}  ${path}\n`,
  );
  const size = Math.ceil(files.reduce((sum, path) => sum + statSync(join(root, path)).size, 0) / 1024);
  const fields = {
    Package: name,
    Version: version,
    Architecture: 'all',
    Maintainer: maintainer,
    'Installed-Size': size,
    Depends: 'nodejs (>= 20.18.1)',
    Section: 'utils',
    Priority: 'optional',
    Description: `license keys and team chat from one command line\n${longDescription()}`,
  };
  put(
    'DEBIAN/control',
    Object.entries(fields)
      .map(([field, text]) => `${field}: ${text}\n`)
      .join(''),
  );
  put('DEBIAN/md5sums', sums.join(''));
}

/** Files below a folder, links left out, relative to it. */
function filesIn(/** @type {string} */ folder) {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return paths.map((path) => path.slice(folder.length + 1)).sort();
}

/** Whatever the umask of the builder is. */
function setModes(/** @type {string} */ folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) chmodSync(path, 0o755);
    else if (entry.isFile()) chmodSync(path, entry.name === 'chatelaine.cjs' ? 0o755 : 0o644);
  }
}

/**
 * @param {string} path
 * @param {string | Uint8Array} content
 */
function put(path, content) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** Without time and name, so that the same sources give the same package. */
function compressed(/** @type {Uint8Array} */ content) {
  return gzipSync(content, { level: 9 });
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
function run(program, args, env = process.env) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
  return stdout;
}
