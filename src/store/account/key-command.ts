import { posix, win32 } from 'node:path';
import { access, constants, stat } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { variable, type Alarm, type System } from '../../core/system.ts';
import { codeOf } from '../disk/files.ts';
import { firstLine, keyFrom } from './key-text.ts';
import { ProgramTrouble, runProgram, type ProgramOutcome } from './run-program.ts';

/**
 * Splits words as a POSIX shell does, expanding nothing. On Windows a backslash is itself but before a double quote.
 * @throws Failure usage for an open quote, a backslash at the end, or no word
 */
export function splitWords(text: string, platform: NodeJS.Platform): [string, ...string[]] {
  const [piece, escape] = platform === 'win32' ? windowsPiece : posixPiece;
  const words: string[] = [];
  let word: string | undefined;
  let end = 0;
  for (const match of text.matchAll(piece)) {
    end = match.index + match[0].length;
    const { blank, escaped, single, bare, double }: Readonly<Record<string, string | undefined>> = match.groups ?? {};
    const literal = escaped ?? single ?? bare ?? double?.replace(escape, '$1');
    if (literal !== undefined) word = (word ?? '') + literal;
    if (blank === undefined || word === undefined) continue;
    words.push(word);
    word = undefined;
  }
  if (end < text.length) throw usage('the key command has an open quote, or a backslash at its end');
  const [first, ...others] = word === undefined ? words : [...words, word];
  if (first === undefined || first === '') throw usage('the key command is empty');
  return [first, ...others];
}

/** POSIX, Shell Command Language, 2.2 Quoting; with what a backslash escapes in double quotes. */
const posixPiece = [
  /(?<blank>[ \t\n]+)|(?<join>\\\n)|\\(?<escaped>[^])|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[^])*)"|(?<bare>[^ \t\n\\'"]+)/gy,
  /\\(?:\n|([$`"\\]))/g,
] as const;
const windowsPiece = [
  /(?<blank>[ \t\r\n]+)|\\(?<escaped>")|'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\[^])*)"|(?<bare>(?:[^ \t\r\n\\'"]|\\(?!"))+)/gy,
  /\\(")/g,
] as const;

export interface KeyCommandOptions {
  readonly system: System;
  readonly alarm: Alarm;
  /** Default 30 s. */
  readonly timeout?: Milliseconds | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Takes what the command said on stderr, the key removed; absent: nobody hears it. */
  readonly verbose?: ((text: string) => void) | undefined;
  /** Whether the command may ask the user on our stdin; else it reads nothing, and cannot eat a piped input. */
  readonly interactive?: boolean | undefined;
}

/**
 * Runs the user's key manager without a shell; the first line of its stdout is the key (docs/apis.md, Credentials).
 * @throws Failure usage for a command that cannot be split, config where it fails, is too slow or gives no key
 */
export async function runKeyCommand(command: string, options: KeyCommandOptions): Promise<Secret> {
  const [name, ...words] = splitWords(command, options.system.platform);
  const file = await findProgram(name, options.system);
  const { code, stdout, stderr } = await outcomeOf(name, file, words, options);
  const line = firstLine(stdout);
  if (code !== 0) {
    const said = withoutLines(stderr, stdout);
    options.verbose?.(said);
    const last = said.trimEnd().split(/\r?\n/).at(-1)?.slice(0, 200);
    const how = typeof code === 'number' ? `exit code ${code}` : code;
    throw failed(name, last ? `ended with ${how}: ${last}` : `ended with ${how}`);
  }
  if (line === '') throw failed(name, 'printed no key');
  const key = keyFrom(line, `key command '${name}'`);
  options.verbose?.(key.redact(stderr));
  return key;
}

function failed(name: string, what: string, cause?: unknown): Failure {
  return new Failure('config', `the key command '${name}' ${what}`, {
    hint: 'Run it by hand to see why (or add --verbose): it must print the key as its first line.',
    cause,
  });
}

/** Of a failed command nothing that it printed on stdout is shown, wherever it repeats it. */
function withoutLines(text: string, hidden: string): string {
  const lines = hidden.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line.length > 3).reduce((rest, line) => rest.replaceAll(line, '[secret]'), text);
}

/** Relative entries of PATH are ignored: a checked-out repository must not be able to answer for the key manager. */
async function findProgram(name: string, system: System): Promise<string> {
  const isWindows = system.platform === 'win32';
  const paths = isWindows ? win32 : posix;
  if (paths.isAbsolute(name)) return runnable(name, name, system);
  if (/[/\\]/.test(name)) throw failed(name, 'is a relative path; write the absolute one');
  const folders = (variable(system.env, 'PATH') ?? variable(system.env, 'Path') ?? '').split(paths.delimiter);
  // npm puts a script for other shells, of that name without an ending, beside each batch file.
  const endings = isWindows && paths.extname(name) === '' ? ['.exe', '.com', '.cmd', '.bat'] : [''];
  const candidates = folders
    .filter((folder) => paths.isAbsolute(folder))
    .flatMap((folder) => endings.map((ending) => paths.join(folder, `${name}${ending}`)));
  for (const candidate of candidates) {
    if (await isProgram(candidate)) return runnable(name, candidate, system);
  }
  throw failed(name, 'was not found on an absolute entry of PATH');
}

/** Windows runs a batch file in a shell, which reads more in its words than they say: that is the user's choice. */
function runnable(name: string, file: string, { platform }: System): string {
  if (platform !== 'win32' || !/\.(cmd|bat)$/i.test(file)) return file;
  throw new Failure('config', `the key command '${name}' is a batch file, which only a shell runs`, {
    hint: `Write cmd /c before it: --key-command "cmd /c ${name} …"`,
  });
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch (cause) {
    if (codeOf(cause) === undefined) throw cause;
    return false;
  }
}

async function outcomeOf(
  name: string,
  file: string,
  words: readonly string[],
  options: KeyCommandOptions,
): Promise<ProgramOutcome> {
  const { system, timeout = 30_000, interactive = false } = options;
  const open = Object.entries(system.env).filter(([name]) => !/^CHATELAINE_.*(KEY|PASSWORD|SECRET|TOKEN)/i.test(name));
  try {
    return await runProgram(file, words, { ...options, env: Object.fromEntries(open), timeout, interactive });
  } catch (cause) {
    if (cause instanceof ProgramTrouble) throw failed(name, cause.message, cause.cause);
    throw cause;
  }
}
