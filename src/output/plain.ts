import { invisible } from '../core/shell-word.ts';
import { isWindows, variable, type Environment } from '../core/system.ts';

/**
 * Server text made harmless for a terminal: what moves the cursor, colours, turns, hides or breaks a line is an escape
 * (`\n`, `\x1b`, `\u202e`, `\u{e0041}`). The joiner that emoji need stays.
 */
export function plain(text: string): string {
  return printableAscii.test(text) ? text : text.replace(harmful(), visible);
}

/** Most texts: nothing in them is harmful, and each character takes one column of a terminal. */
export const printableAscii = /^[ -~]*$/;

/** The same for text of several lines, as in error messages: line ends stay. */
export function plainLines(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(harmful(), (character) => (character === '\n' ? character : visible(character)));
}

/** Our lines: further ones are indented, so that a server's words after a line break cannot pass for ours. */
export function indented(text: string, columns = 2): string {
  return text.replace(lineBreak, `\n${' '.repeat(columns)}`);
}

export const ourCommand = 'chatelaine [a-z]';
/** Ours, or one that repairs files: for hints alone, since any other text may hold such words of a server. */
export const hintCommand = `(?:${ourCommand}|(?:chmod|chown|mv|move|rm|del) )`;
/** A line that is a command; a sentence may begin like one. */
export const bareCommand = new RegExp(String.raw`^ *${hintCommand}.*(?<!\w\.)$`);

/** Our words with each command that ends a line (`Run: chatelaine …`) on a line of its own, to be copied. */
export function commandsApart(text: string, command: string): string {
  return text.replace(new RegExp(String.raw`(?<=\S:)(?<!^undo:) (${command}.*?)(?:(?<=\w)\.)?$`, 'gm'), '\n  $1');
}

/** Our lines in a terminal of `columns` (0: unknown), broken at blanks only; a command continues with a backslash. */
export function fit(text: string, columns: number): string {
  if (columns === 0) return text;
  const lines = text.split('\n').map((line) => {
    if (line.length <= columns) return line;
    const [lead = ''] = /^ */.exec(line) ?? [];
    const rest = line.slice(lead.length);
    if (lead === '' || !bareCommand.test(rest)) return lead + wrap(rest, columns - lead.length - 2).join(`\n${lead}  `);
    return isWindows ? line : lead + joinWords(rest.match(shellWords) ?? [], columns - 6).join(' \\\n    ');
  });
  return lines.join('\n');
}

/** Words of a line that posixWord has written; an option and its value stay together. */
const shellWords = /(?:--[\w-]+ (?!--))?(?:\$'(?:\\.|[^'\\])*'|'[^']*'|\\.|[^\s'\\])+/g;

/** Breaks a text into lines of at most `most` characters; a longer word has its own line. */
export function wrap(text: string, most: number): string[] {
  const whole = text.replace(/\bchatelaine(?: [a-z-]+){1,2}(?: --?[a-z-]+)*/g, (command) =>
    command.replaceAll(' ', '\0'),
  );
  return joinWords(whole.split(' '), most).map((line) => line.replaceAll('\0', ' '));
}

function joinWords(words: readonly string[], most: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > most) {
      lines.push(line.trimEnd());
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** Editors, terminals and viewers of logs begin a line at these. */
export const lineBreak = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** JSON text that is harmless on a terminal and reads back as the same value: only strings hold such characters. */
export function plainJson(json: string): string {
  return json.replace(harmful(), (character) => {
    if (character === '\n') return character;
    return character.replace(/[^]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`);
  });
}

/**
 * Control, bidirectional, invisible and spoofing characters, lone surrogates, line separators, noncharacters, tags.
 * Built on first use (docs/internals/architecture.md, Start-up).
 */
export const harmful = (): RegExp =>
  new RegExp(String.raw`[\p{Cc}\p{Cs}\u2028\u2029\ufff9-\ufffb\ufffe\uffff]|${invisible}`, 'gu');

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code > 0xffff) return `\\u{${code.toString(16)}}`;
  return short[character] ?? (code > 0xff ? `\\u${hex(code, 4)}` : `\\x${hex(code, 2)}`);
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

export interface ColorChoice {
  /** `--color`; auto where it is absent. */
  readonly when: 'auto' | 'always' | 'never' | undefined;
  readonly terminal: boolean;
  readonly env: Environment;
}

/** Colour is decided by what is typed, then NO_COLOR and FORCE_COLOR, then the stream. */
export function hasColor({ when = 'auto', terminal, env }: ColorChoice): boolean {
  if (when !== 'auto') return when === 'always';
  if (variable(env, 'NO_COLOR') !== undefined) return false;
  const forced = variable(env, 'FORCE_COLOR');
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return terminal && env['TERM'] !== 'dumb';
}
