import { isWindows } from './system.ts';

const selectors = String.raw`\ufe00-\ufe0f\u{e0100}-\u{e01ef}`;

/** Characters that no reader sees; not the joiner of emoji, nor a selector behind a picture or a Han character. */
export const invisible = [
  String.raw`(?![\u200d${selectors}])\p{Default_Ignorable_Code_Point}|[\u180b-\u180f\u2800\u{1d159}]`,
  String.raw`(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|\u200d(?!\p{Extended_Pictographic})`,
  String.raw`(?<=^|[\s${selectors}]|(?!\p{Script=Han})[\p{L}\p{N}])[${selectors}](?!\u20e3)`,
  String.raw`(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]`,
].join('|');

/** A text as one word of this system's shells, in which nothing is expanded; on one line, whatever the text holds. */
export function shellWord(text: string): string {
  return isWindows ? windowsWord(text) : posixWord(text);
}

/** A line of this program. An option without a value is left out, and one that is true has none. */
export function commandLine(
  command: string,
  words: readonly string[],
  options: Readonly<Record<string, string | number | boolean | undefined>> = {},
): string {
  const typed = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    const flag = `--${name.replaceAll('_', '-')}`;
    return value === true ? [flag] : [flag, String(value)];
  });
  return ['chatelaine', command, ...[...words, ...typed].map(shellWord)].join(' ');
}

export function removing(path: string): string {
  return `${isWindows ? 'del' : 'rm'} ${shellWord(path)}`;
}

export function renaming(from: string, to: string): string {
  return `${isWindows ? 'move' : 'mv'} ${shellWord(from)} ${shellWord(to)}`;
}

/** One word of both cmd.exe and PowerShell; of PowerShell alone where it holds what cmd.exe can quote in no way. */
export function windowsWord(text: string): string {
  if (/^[\w+=:./\\-]+$/.test(text)) return text;
  // A backslash before the closing quote would be taken for its escape.
  if (!/["$`%\u201c-\u201f]/.test(text) && !unseen().test(text)) return `"${text.replace(/\\+$/, '$&$&')}"`;
  const safe = text.replace(/[`"$\u201c-\u201f]/g, '`$&');
  return `"${safe.replace(unseen(), powershellSigns)}"`;
}

function powershellSigns(sign: string): string {
  return Array.from({ length: sign.length }, (_none, at) => `$([char]${sign.charCodeAt(at)})`).join('');
}

/** One word of bash or zsh, also on Windows: what is shown is for them. */
export function posixWord(text: string): string {
  // zsh takes =ls for the path of ls.
  if (/^(?!=)[\w@%+=:,./-]+$/.test(text)) return text;
  if (unseen().test(text)) return `$'${text.replace(unseen(String.raw`|[\\']`), escapeSign)}'`;
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Invisible characters and line ends. Built on first use (docs/internals/architecture.md, Start-up). */
const unseen = (more = ''): RegExp => new RegExp(String.raw`[\p{C}\u2028\u2029]|${invisible}${more}`, 'gu');

function escapeSign(sign: string): string {
  if (sign === '\\' || sign === "'") return `\\${sign}`;
  return [...Buffer.from(sign)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}
