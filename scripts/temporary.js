// Which TMPDIR the tests can use, for `npm test` and for vitest alone.
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Takes a TMPDIR that tests cannot use from the environment, and says so: then they use the folder of the system. */
export function leaveUnfitTemporaryFolder() {
  const folder = process.env['TMPDIR'];
  const reason = folder ? unfit(resolve(folder)) : undefined;
  if (reason === undefined) return;
  delete process.env['TMPDIR'];
  console.warn(`The tests do not use TMPDIR (${folder}): ${reason}.`);
}

/** @param {string} folder */
function unfit(folder) {
  // Tests put paths of temporary files into lines without quotes; names with blanks have tests of their own.
  if (/\s/.test(folder)) return 'its name has blanks';
  // As root some tests start programs as another user.
  if (process.getuid?.() === 0 && !isOpen(folder)) return 'no other user can enter it';
  return undefined;
}

/**
 * Whether everybody can enter it.
 * @param {string} folder
 * @returns {boolean}
 */
function isOpen(folder) {
  const { mode } = statSync(folder, { throwIfNoEntry: false }) ?? { mode: 0 };
  const parent = dirname(folder);
  return (mode & 1) === 1 && (parent === folder || isOpen(parent));
}
