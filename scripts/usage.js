import { readFileSync } from 'node:fs';

/**
 * Ends the program where `--help` is typed, with the comment that begins its file: it says what the script does, and
 * which options it takes.
 * @param {string} file `import.meta.filename`
 */
export function showUsage(file) {
  if (!process.argv.includes('--help')) return;
  const [comment = ''] = /^(?:\/\/.*\n)+/.exec(readFileSync(file, 'utf8')) ?? [];
  process.stdout.write(comment.replace(/^\/\/ ?/gm, ''));
  process.exit();
}
