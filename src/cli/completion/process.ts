import { constants, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { foldersOf } from '../../store/disk/folders.ts';
import { complete } from './complete.ts';
import { answerFor, readBashLine } from './shells.ts';
import type { Surface } from './surface.ts';

/**
 * The answer to `chatelaine __complete SHELL …`, which the completion scripts ask on TAB: `bash` is followed by COMP_WORDBREAKS and
 * the line up to the cursor, zsh and fish by the words up to the cursor. `file` is dist/commands.json. Loads nothing of what runs a
 * command.
 */
export function answer([shell = '', ...typed]: readonly string[], file: string): string {
  const surface: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isSurface(surface)) throw new Error(`${file} is not what the build wrote`);
  const [breaks = '', line = ''] = typed;
  const read =
    shell === 'bash'
      ? readBashLine(line, breaks)
      : { words: typed.slice(0, -1), current: typed.at(-1) ?? '', kept: '' };
  const found = read
    ? complete(surface, read.words, read.current, profileNames)
    : { kind: 'files' as const, offers: [] };
  return answerFor(shell, found, read?.kept);
}

function isSurface(value: unknown): value is Surface {
  return isObject(value) && ['groups', 'commands', 'options'].every((name) => Array.isArray(value[name]));
}

/** Names of stored profiles; none where the file cannot be read, since a completion cannot report it. */
function profileNames(): readonly string[] {
  try {
    const machine = { env: process.env, platform: process.platform, home: homedir() };
    // A FIFO in its place would hold the user's shell until somebody writes to it.
    const file = openSync(join(foldersOf(machine).config, 'config.json'), constants.O_RDONLY | constants.O_NONBLOCK);
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isObject(content) && isObject(content['profiles']) ? Object.keys(content['profiles']) : [];
  } catch {
    return [];
  }
}
