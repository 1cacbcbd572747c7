import { fstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The text that the build wrote (scripts/bundle/help.js) for a line that asks for help and nothing else; undefined for any other
 * line, and for a terminal of another width: the program answers those.
 */
export function helpText(dist: string, argv: readonly string[]): string | undefined {
  const last = argv.at(-1);
  if (last !== '--help' && last !== '-h') return undefined;
  const width = maybeTerminal() && process.stdout.isTTY ? Math.min(process.stdout.columns, 100) : 80;
  if (width !== 80 && width !== 100) return undefined;
  const texts = readFileSync(join(dist, `help-${width}.txt`), 'utf8');
  const head = `\f${argv.slice(0, -1).join(' ')}\n`;
  const begin = texts.indexOf(head);
  if (begin < 0) return undefined;
  const end = texts.indexOf('\f', begin + 1);
  return texts.slice(begin + head.length, end < 0 ? undefined : end);
}

/** False for files, pipes and the null device: process.stdout, which knows for sure, takes milliseconds to make. */
function maybeTerminal(): boolean {
  try {
    const output = fstatSync(1);
    return output.isCharacterDevice() && output.rdev !== statSync('/dev/null').rdev;
  } catch {
    return true;
  }
}
