import type { Completion } from './complete.ts';
import type { Offer } from './surface.ts';

/** The words before the cursor, and the one at it up to the cursor. */
export interface TypedLine {
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
  const meaning = shortened(text);
  if (shell === 'fish') return meaning === '' ? word : `${word}\t${meaning}`;
  // A colon ends the word for zsh.
  const escaped = word.replaceAll(':', '\\:');
  return meaning === '' ? escaped : `${escaped}:${meaning}`;
}

const longest = 72;

function shortened(text: string): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
