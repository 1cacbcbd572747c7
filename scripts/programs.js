// Programs of the system that some tests run. A test says what it needs by a tag of this name (test/helpers/programs.ts); `npm test`
// names those that are missing, with the packages of Debian that hold them.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** @typedef {{ readonly where: () => string | undefined, readonly packages: readonly string[] }} Program */

export const programs = /** @satisfies {Readonly<Record<string, Program>>} */ ({
  'bash-completion': { where: bashCompletion, packages: ['bash-completion'] },
  chromium: { where: () => process.env['CHROMIUM'] ?? onPath('chromium'), packages: ['chromium'] },
  curl: { where: () => onPath('curl'), packages: ['curl'] },
  dpkg: {
    where: () => onPath('dpkg-deb', process.getuid?.() === 0 ? 'dpkg' : 'fakeroot'),
    packages: ['dpkg', 'fakeroot'],
  },
  fish: { where: () => onPath('fish'), packages: ['fish'] },
  groff: { where: () => onPath('groff'), packages: ['groff'] },
  jq: { where: () => onPath('jq'), packages: ['jq'] },
  keyring: {
    where: () => onPath('secret-tool', 'dbus-run-session', 'gnome-keyring-daemon'),
    packages: ['libsecret-tools', 'dbus', 'gnome-keyring'],
  },
  lintian: { where: () => onPath('lintian'), packages: ['lintian'] },
  mandoc: { where: () => onPath('mandoc'), packages: ['mandoc'] },
  openssl: { where: () => onPath('openssl'), packages: ['openssl'] },
  pass: { where: () => onPath('pass', 'gpg'), packages: ['pass', 'gpg'] },
  perl: { where: () => onPath('perl'), packages: ['perl'] },
  postgresql: { where: postgresql, packages: ['postgresql'] },
  zsh: { where: () => onPath('zsh'), packages: ['zsh'] },
});

// `npm run test:programs` installs them all.
if (process.argv[1] === import.meta.filename)
  console.log(
    Object.values(programs)
      .flatMap(({ packages }) => packages)
      .join(' '),
  );

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
  return existsSync(file) ? file : undefined;
}

/** The folder of initdb and postgres, which Debian keeps out of PATH. */
function postgresql() {
  const debian = '/usr/lib/postgresql';
  const newest = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : [];
  const folders = [
    ...newest.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) => canRun(join(folder, 'initdb')) && canRun(join(folder, 'postgres')));
}
