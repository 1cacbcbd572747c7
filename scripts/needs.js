// node scripts/needs.js [--install]: prints, or installs on Debian and Ubuntu, the packages of the programs that tests
// need and this computer lacks. A test says what it needs by a tag (test/helpers/needs.ts), vitest skips it where that
// is missing, and `npm test` names it.
import { execSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { showUsage } from './usage.js';

/** @typedef {{ readonly where: () => string | undefined, readonly packages: readonly string[] }} Program */

const isPosix = sep === '/';

export const programs = /** @satisfies {Readonly<Record<string, Program>>} */ ({
  'bash-completion': { where: bashCompletion, packages: ['bash-completion'] },
  chromium: { where: chromium, packages: ['chromium'] },
  curl: { where: () => onPath('curl'), packages: ['curl'] },
  django: { where: () => onPath('python3'), packages: ['python3-venv'] },
  fish: { where: () => onPath('fish'), packages: ['fish'] },
  groff: { where: () => onPath('groff'), packages: ['groff'] },
  jq: { where: () => onPath('jq'), packages: ['jq'] },
  keyring: {
    where: () => onPath('secret-tool', 'dbus-run-session', 'gnome-keyring-daemon'),
    packages: ['libsecret-tools', 'dbus', 'gnome-keyring'],
  },
  mandoc: { where: () => onPath('mandoc'), packages: ['mandoc'] },
  openssl: { where: () => onPath('openssl'), packages: ['openssl'] },
  pass: { where: () => onPath('pass', 'gpg'), packages: ['pass', 'gpg'] },
  perl: { where: () => onPath('perl'), packages: ['perl'] },
  postgresql: { where: postgresql, packages: ['postgresql'] },
  zsh: { where: () => onPath('zsh'), packages: ['zsh'] },
});

/** @typedef {{ readonly isHere: () => boolean, readonly what: string }} Ability */

export const abilities = /** @satisfies {Readonly<Record<string, Ability>>} */ ({
  devices: { isHere: () => isPosix && existsSync('/dev/full'), what: '/dev/full' },
  loopback: { isHere: () => process.platform !== 'darwin', what: 'all of 127.0.0.0/8 as its own' },
  modes: { isHere: () => isPosix, what: 'owners and modes of files, and links without special rights' },
  mounts: { isHere: canMount, what: 'mounts of a process (Linux, as root)' },
  network: { isHere: () => ownAddress() !== undefined, what: 'an address that other computers reach' },
  posix: { isHere: () => isPosix, what: 'file systems and errors of POSIX' },
  proc: { isHere: () => isPosix && existsSync('/proc/self/stat'), what: '/proc' },
  root: { isHere: () => process.getuid?.() === 0, what: 'the rights of root' },
  shell: { isHere: () => isPosix, what: 'a POSIX shell with its programs, quoting and paths' },
  signals: { isHere: () => isPosix, what: 'signals that a process can send and catch' },
  terminals: { isHere: () => isPosix, what: 'pseudo terminals of POSIX' },
});

/** @typedef {keyof typeof programs | keyof typeof abilities} Need */

export const needs = /** @type {readonly Need[]} */ ([...Object.keys(programs), ...Object.keys(abilities)]);

/** Whether this computer lacks it. @param {Need} need */
export function isMissing(need) {
  return need in programs
    ? programs[/** @type {keyof typeof programs} */ (need)].where() === undefined
    : !abilities[/** @type {keyof typeof abilities} */ (need)].isHere();
}

// Ubuntu has no Chromium but as a snap, which reads no other folder of temporary files.
if (process.argv[1] === import.meta.filename) {
  showUsage(import.meta.filename);
  const absent = Object.values(programs).filter(({ where }) => where() === undefined);
  const packages = absent
    .flatMap((program) => program.packages)
    .filter((name) => name !== 'chromium' || !isUbuntu())
    .join(' ');
  if (!process.argv.includes('--install')) console.log(packages);
  else if (packages !== '')
    for (const words of ['update', `install --yes --no-install-recommends ${packages}`])
      execSync(`${process.getuid?.() === 0 ? '' : 'sudo '}apt-get ${words}`, { stdio: 'inherit' });
}

function isUbuntu() {
  const file = process.env['OS_RELEASE'] ?? '/etc/os-release';
  return existsSync(file) && /^ID=ubuntu$/m.test(readFileSync(file, 'utf8'));
}

/** The path of Chromium, or of Chrome, which does as well; the variable CHROMIUM names another one. */
function chromium() {
  const names = ['chromium', 'google-chrome', 'google-chrome-stable', 'chromium-browser'];
  return process.env['CHROMIUM'] ?? names.map((name) => onPath(name)).find((place) => place !== undefined);
}

/**
 * The first of these commands, where all of them are installed.
 * @param {readonly string[]} commands
 */
function onPath(...commands) {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = commands.map((command) => folders.map((folder) => join(folder, command)).find(canRun));
  return found.includes(undefined) ? undefined : found[0];
}

/** @param {string} file */
function canRun(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where the package has its functions; BASH_COMPLETION names another place. */
function bashCompletion() {
  const file = process.env['BASH_COMPLETION'] ?? '/usr/share/bash-completion/bash_completion';
  return isPosix && existsSync(file) ? file : undefined;
}

/** The folder of initdb and postgres, which Debian keeps out of PATH. */
function postgresql() {
  const debian = '/usr/lib/postgresql';
  const newest =
    isPosix && existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const folders = [
    ...newest.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) => canRun(join(folder, 'initdb')) && canRun(join(folder, 'postgres')));
}

function canMount() {
  const words = ['--mount', 'sh', '-c', 'mount -t tmpfs none /proc'];
  return process.platform === 'linux' && spawnSync('unshare', words).status === 0;
}

/** The first address of this computer that others reach. */
export function ownAddress() {
  const addresses = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}
