import { constants, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../core/json.ts';
import { foldersOf } from '../../store/disk/folders.ts';
import { complete, type Completion } from './complete.ts';
import type { Surface, Offer } from './reading.ts';

/**
 * The answer to `chatelaine __complete SHELL …`, which the completion scripts ask on TAB: `bash` is followed by COMP_WORDBREAKS and
 * the line up to the cursor, the others by the words up to the cursor; PowerShell puts `=` before the last. `file` is dist/commands.json. Loads nothing of what runs a
 * command.
 */
export function answer([shell = '', ...typed]: readonly string[], file: string): string {
  const surface: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isSurface(surface)) throw new Error(`${file} is not what the build wrote`);
  const [breaks = '', line = ''] = typed;
  const read =
    shell === 'bash'
      ? readBashLine(line, breaks)
      : { words: typed.slice(0, -1), current: (typed.at(-1) ?? '').slice(shell === 'powershell' ? 1 : 0), kept: '' };
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
    const system = { env: process.env, platform: process.platform, home: homedir() };
    // A FIFO in its place would hold the user's shell until somebody writes to it.
    const file = openSync(join(foldersOf(system).config, 'config.json'), constants.O_RDONLY | constants.O_NONBLOCK);
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isObject(content) && isObject(content['profiles']) ? Object.keys(content['profiles']) : [];
  } catch {
    return [];
  }
}

/** The words before the cursor, and the one at it up to the cursor. */
interface TypedLine {
  readonly words: readonly string[];
  readonly current: string;
  /** What of the current word stays where it is: bash replaces what follows its last break only. */
  readonly kept: string;
}

/**
 * A line of bash up to the cursor, split as bash does, and nothing expanded. A redirection is no word of the command; undefined
 * where the cursor is at the target of one.
 */
export function readBashLine(line: string, breaks: string): TypedLine | undefined {
  const found = [
    ...line.matchAll(/\d*[<>]+[&|]?|[|&;]+|(?:[^\s<>|&;'"\\]|\\.?|'[^']*(?:'|$)|"(?:[^"\\]|\\.?)*(?:"|$))+/gs),
  ];
  const last = found.at(-1);
  const isAtWord = last !== undefined && last.index + last[0].length === line.length && !isOperator(last[0]);
  const done = (isAtWord ? found.slice(0, -1) : found).map(([word]) => word);
  if (isRedirection(done.at(-1))) return undefined;
  const words = done.filter((word, index) => !isOperator(word) && !isRedirection(done[index - 1]));
  const raw = isAtWord ? last[0] : '';
  return { words: words.slice(1).map(unquoted), current: unquoted(raw), kept: keptOf(raw, breaks) };
}

function isOperator(word: string): boolean {
  return /^(\d*[<>]|[|&;])/.test(word);
}

function isRedirection(word: string | undefined): boolean {
  return word !== undefined && /^\d*[<>]/.test(word);
}

function unquoted(raw: string): string {
  return raw.replace(
    /'([^']*)'?|"((?:[^"\\]|\\.?)*)"?|\\(.?)/gs,
    (_all, single?: string, double?: string, escaped?: string) =>
      single ?? double?.replace(/\\(["$`\\])/g, '$1') ?? escaped ?? '',
  );
}

/** Inside quotes nothing breaks a word. */
function keptOf(raw: string, breaks: string): string {
  if (/['"]/.test(raw)) return '';
  const at = Math.max(...Array.from('=:').map((sign) => (breaks.includes(sign) ? raw.lastIndexOf(sign) : -1)));
  return raw.slice(0, at + 1);
}

/** The answer to a script: its first line says what the word can be, each other line is an offer. */
export function answerFor(shell: string, { kind, offers }: Completion, kept = ''): string {
  const isOpen = offers.some(({ word }) => word.endsWith('='));
  const lines = offers.map((offer) => offerLine(shell, offer, kept));
  return [isOpen ? 'open' : kind, ...lines, ''].join('\n');
}

function offerLine(shell: string, { word, text }: Offer, kept: string): string {
  if (shell === 'bash') return word.slice(kept.length);
  const meaning = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  if (shell === 'fish' || shell === 'powershell') return meaning === '' ? word : `${word}\t${meaning}`;
  // A colon ends the word for zsh.
  const escaped = word.replaceAll(':', '\\:');
  return meaning === '' ? escaped : `${escaped}:${meaning}`;
}

const longest = 72;
