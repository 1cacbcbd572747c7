import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { foldersOf } from '../../store/disk/folders.ts';
import { complete, type Completion, type Surface } from './complete.ts';

/**
 * Answers `chatelaine __complete SHELL …`: for `bash` COMP_WORDBREAKS and the line up to the cursor, for others the
 * words (PowerShell puts `=` before the last). `file` is dist/commands.json. Loads nothing of what runs a command.
 */
export function answer([shell = '', ...typed]: readonly string[], file: string): string {
  const surface: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isSurface(surface)) throw new Error(`${file} is not what the build wrote`);
  const [breaks = '', line = ''] = typed;
  const last = typed.at(-1) ?? '';
  const current = shell === 'powershell' ? last.slice(1) : last;
  const read = shell === 'bash' ? readBashLine(line) : { words: typed.slice(0, -1), current };
  if (!read) return answerFor(shell, { kind: 'files', offers: [] }, 0);
  const found = complete(surface, read.words, read.current, profileNames);
  // bash replaces what is behind its last break alone.
  const kept = Math.max(...Array.from(breaks, (sign) => read.current.lastIndexOf(sign) + 1));
  return answerFor(shell, found, shell === 'bash' ? kept : 0);
}

function isSurface(value: unknown): value is Surface {
  return isObject(value) && ['groups', 'commands', 'options'].every((name) => Array.isArray(value[name]));
}

/** The words of a line of bash before the cursor, without quotes, and the one at it; undefined behind `>` or `<`. */
export function readBashLine(line: string) {
  const found = [...line.matchAll(/(?:[^\s'"\\]|\\.?|'[^']*'?|"(?:[^"\\]|\\.?)*"?)+/gs)];
  const last = found.at(-1);
  const isAtWord = last !== undefined && last.index + last[0].length === line.length;
  const current = isAtWord ? last[0] : '';
  const before = (isAtWord ? found.slice(0, -1) : found).map(([word]) => word);
  if (/^\d*[<>]/.test(current) || /^\d*[<>]+$/.test(before.at(-1) ?? '')) return undefined;
  return { words: before.slice(1).map(unquoted), current };
}

function unquoted(word: string): string {
  const parts = /'([^']*)'?|"((?:[^"\\]|\\.?)*)"?|\\(.?)/gs;
  return word.replace(
    parts,
    (_part, single?: string, double?: string, escaped = '') =>
      single ?? double?.replace(/\\(["$`\\])/g, '$1') ?? String(escaped),
  );
}

/** The answer to a script: its first line says what the word can be, each other line is an offer. */
export function answerFor(shell: string, { kind, offers }: Completion, kept: number): string {
  const lines = offers.map(({ word, text }) => {
    if (shell === 'bash') return word.slice(kept);
    const meaning = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
    // A colon ends the word for zsh.
    const [offered, separator] = shell === 'zsh' ? [word.replaceAll(':', '\\:'), ':'] : [word, '\t'];
    return meaning === '' ? offered : `${offered}${separator}${meaning}`;
  });
  return [kind, ...lines, ''].join('\n');
}

const longest = 72;

/** The names of the stored profiles; none where their file cannot be read. */
function profileNames(): readonly string[] {
  const { config } = foldersOf({ env: process.env, platform: process.platform, home: homedir() });
  try {
    const content: unknown = JSON.parse(textOf(join(config, 'config.json')));
    return isObject(content) && isObject(content['profiles']) ? Object.keys(content['profiles']) : [];
  } catch {
    return [];
  }
}

/** A FIFO or a device in place of the file would hold the user's shell. */
function textOf(file: string): string {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return fstatSync(opened).isFile() ? readFileSync(opened, 'utf8') : '';
  } finally {
    closeSync(opened);
  }
}
