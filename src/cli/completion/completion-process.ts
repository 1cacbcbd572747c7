import { readFileSync } from 'node:fs';
import { isObject } from '../../core/json.ts';
import { complete, type Completion, type Offer, type Surface } from './complete.ts';
import { profileNames } from './profile-names.ts';

/**
 * Answers `chatelaine __complete SHELL …`: for `bash` COMP_WORDBREAKS and the line up to the cursor, for others the
 * words (PowerShell puts `=` before the last). `file` is dist/commands.json. Loads nothing of what runs a command.
 */
export function answer([shell = '', ...typed]: readonly string[], file: string): string {
  const surface: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isSurface(surface)) throw new Error(`${file} is not what the build wrote`);
  const [breaks = '', line = ''] = typed;
  const read =
    shell === 'bash'
      ? readBashLine(line, breaks)
      : { words: typed.slice(0, -1), current: currentWord(shell, typed.at(-1) ?? ''), kept: '', quote: '' };
  const found = read
    ? complete(surface, read.words, read.current, profileNames)
    : { kind: 'files' as const, offers: [] };
  return answerFor(shell, found, read);
}

/** zsh has taken the quotes away; fish gives the word as it was typed, and so does PowerShell, behind a sign. */
function currentWord(shell: string, typed: string): string {
  if (shell === 'zsh') return typed;
  return shell === 'fish' ? readWord(typed, '').current : typed.slice(1).replace(/^["'](.*?)["']?$/s, '$1');
}

function isSurface(value: unknown): value is Surface {
  return isObject(value) && ['groups', 'commands', 'options'].every((name) => Array.isArray(value[name]));
}

/** The words before the cursor, and the one at it up to the cursor. */
interface TypedLine extends TypedWord {
  readonly words: readonly string[];
}

interface TypedWord {
  readonly current: string;
  /** The part of the current word that stays: bash replaces what follows its last break only. */
  readonly kept: string;
  /** The quote that is open at the cursor; bash writes the word behind it unchanged. */
  readonly quote: string;
}

/** A line of bash up to the cursor, split as bash does, nothing expanded; undefined at the target of a redirection. */
export function readBashLine(line: string, breaks: string): TypedLine | undefined {
  const found = [
    ...line.matchAll(/\d*[<>]+[&|]?|[|&;]+|(?:[^\s<>|&;'"\\]|\\.?|'[^']*(?:'|$)|"(?:[^"\\]|\\.?)*(?:"|$))+/gs),
  ];
  const last = found.at(-1);
  const isAtWord = last !== undefined && last.index + last[0].length === line.length && !isOperator(last[0]);
  const done = (isAtWord ? found.slice(0, -1) : found).map(([word]) => word);
  if (isRedirection(done.at(-1))) return undefined;
  const words = done.filter((word, index) => !isOperator(word) && !isRedirection(done[index - 1]));
  return {
    words: words.slice(1).map((word) => readWord(word, breaks).current),
    ...readWord(isAtWord ? last[0] : '', breaks),
  };
}

function isOperator(word: string): boolean {
  return /^(\d*[<>]|[|&;])/.test(word);
}

function isRedirection(word: string | undefined): boolean {
  return word !== undefined && /^\d*[<>]/.test(word);
}

/** A word without its quotes; outside of them, it breaks where the shell says. */
function readWord(raw: string, breaks: string): TypedWord {
  let current = '';
  let kept = '';
  let quote = '';
  for (const [part, single, double, escaped] of raw.matchAll(/'([^']*)'?|"((?:[^"\\]|\\.?)*)"?|\\(.?)|[^]/gs)) {
    const isQuoted = single !== undefined || double !== undefined;
    const isOpen = isQuoted && (part.length === 1 || !part.endsWith(part.charAt(0)));
    if (isQuoted) kept = current;
    current += single ?? double?.replace(/\\(["$`\\])/g, '$1') ?? escaped ?? part;
    quote = isOpen ? part.charAt(0) : '';
    const isBreak = isQuoted ? !isOpen : escaped === undefined && breaks.includes(part);
    // bash keeps an at sign with what follows it.
    if (isBreak) kept = part === '@' ? current.slice(0, -1) : current;
  }
  return { current, kept, quote };
}

/** The answer to a script: its first line says what the word can be, each other line is an offer. */
export function answerFor(shell: string, { kind, offers }: Completion, at?: Pick<TypedWord, 'kept' | 'quote'>): string {
  const isOpen = offers.some(({ word }) => word.endsWith('='));
  const lines = offers.map((offer) => offerLine(shell, offer, at));
  return [isOpen ? 'open' : kind, ...lines, ''].join('\n');
}

function offerLine(shell: string, { word, text }: Offer, { kept, quote } = { kept: '', quote: '' }): string {
  if (shell === 'bash') return inBash(word.startsWith(kept) ? word.slice(kept.length) : word, quote);
  const meaning = text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
  if (shell === 'zsh') {
    // A colon ends the word for zsh.
    const escaped = word.replaceAll(/[\\:]/g, '\\$&');
    return meaning === '' ? escaped : `${escaped}:${meaning}`;
  }
  const typed = shell === 'powershell' ? inPowerShell(word) : word;
  return meaning === '' ? typed : `${typed}\t${meaning}`;
}

const longest = 72;

/** bash inserts a word unchanged: what would be expanded, or end the word, is quoted. */
function inBash(word: string, quote: string): string {
  if (quote === '') return word.replaceAll(/[^\p{L}\p{M}\p{N}_./+:=@,-]/gu, '\\$&');
  // readline closes the quote, but not behind the same sign.
  const [text, end] = word.endsWith(quote) ? [word.slice(0, -1), `${quote}\\${quote}`] : [word, ''];
  if (quote === "'") return text.replaceAll("'", `'\\''`) + end;
  // A backslash before an exclamation mark would stay within double quotes.
  return text.replaceAll(/["$`\\]/g, '\\$&').replaceAll('!', `"'!'"`) + end;
}

/** The other signs are quotes to PowerShell as well. */
function inPowerShell(word: string): string {
  return /^[\w./+:=-]+$/.test(word) ? word : `'${word.replaceAll(/['‘’‚‛]/g, '$&$&')}'`;
}
