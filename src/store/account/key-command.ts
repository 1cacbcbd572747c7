import { spawn, type ChildProcess } from 'node:child_process';
import { posix, win32 } from 'node:path';
import { access, constants, stat } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, orAborted, usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { variable, withoutKeys, type Alarm, type System } from '../../core/system.ts';
import { codeOf, unlessRefused } from '../disk/files.ts';
import { firstLine, keyFrom } from './secrets.ts';

/** Splits words as a POSIX shell, expanding nothing. On Windows a backslash escapes only `"`. @throws Failure usage */
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
  readonly signal?: AbortSignal | undefined;
  /** Whether the command may ask the user on our stdin; else it reads nothing, and cannot eat a piped input. */
  readonly interactive?: boolean | undefined;
}

/** Runs a key manager without a shell; the key is its first line (docs/apis.md, Credentials). @throws Failure */
export async function runKeyCommand(command: string, options: KeyCommandOptions): Promise<Secret> {
  const [name, ...words] = splitWords(command, options.system.platform);
  const file = await findProgram(name, options.system);
  const { code, stdout, stderr } = await run(name, file, words, options);
  const line = firstLine(stdout);
  if (code !== 0) {
    const last = withoutLines(stderr, stdout).trimEnd().split(/\r?\n/).at(-1)?.slice(0, 200);
    const how = typeof code === 'number' ? `exit code ${code}` : code;
    throw commandFailure(name, last ? `ended with ${how}: ${last}` : `ended with ${how}`);
  }
  if (line === '') throw commandFailure(name, 'printed no key');
  return keyFrom(line, `key command '${name}'`);
}

function commandFailure(name: string, what: string, cause?: unknown): Failure {
  return new Failure('config', `the key command '${name}' ${what}`, {
    hint: 'Run it by hand to see why: it must print the key as its first line.',
    cause,
  });
}

/** Hides all that a failed command printed on stdout, also where it repeats that on stderr. */
function withoutLines(text: string, hidden: string): string {
  const lines = hidden.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line.length > 3).reduce((rest, line) => rest.replaceAll(line, '[secret]'), text);
}

/** Relative entries of PATH are ignored: a checked-out repository must not be able to answer for the key manager. */
async function findProgram(name: string, system: System): Promise<string> {
  const isWindows = system.platform === 'win32';
  const paths = isWindows ? win32 : posix;
  if (paths.isAbsolute(name)) return name;
  if (/[/\\]/.test(name)) throw commandFailure(name, 'is a relative path; write the absolute one');
  const folders = (variable(system.env, 'PATH') ?? variable(system.env, 'Path') ?? '').split(paths.delimiter);
  // A batch file needs a shell: cmd /c NAME.
  const endings = isWindows && paths.extname(name) === '' ? ['.exe', '.com'] : [''];
  const candidates = folders
    .filter((folder) => paths.isAbsolute(folder))
    .flatMap((folder) => endings.map((ending) => paths.join(folder, `${name}${ending}`)));
  for (const candidate of candidates) {
    const found = await unlessRefused(access(candidate, constants.X_OK).then(() => stat(candidate)));
    if (found?.isFile()) return candidate;
  }
  throw commandFailure(name, 'was not found on an absolute entry of PATH');
}

/** Runs a program without a shell, in a process group that ends with it. @throws Failure, the signal's reason */
async function run(name: string, file: string, words: readonly string[], options: KeyCommandOptions) {
  const { system, alarm, signal, interactive = false } = options;
  signal?.throwIfAborted();
  const late = new AbortController();
  const cancel = alarm(30_000, () => late.abort(commandFailure(name, 'was still running after 30s')));
  let child: ChildProcess | undefined;
  try {
    child = spawn(file, words, {
      env: withoutKeys(system.env),
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
      detached: system.platform !== 'win32',
      windowsHide: true,
    });
    return await orAborted(endOf(child, name, alarm), AbortSignal.any([late.signal, ...(signal ? [signal] : [])]));
  } catch (cause) {
    if (cause instanceof Failure || cause === signal?.reason) throw cause;
    throw commandFailure(name, `cannot be run: ${codeOf(cause) ?? 'error'}`, cause);
  } finally {
    cancel();
    if (child) await endGroup(child, system, alarm);
  }
}

/** `code`: the exit code, or the name of the signal that ended it. */
type ProgramOutcome = Readonly<{ code: number | string; stdout: string; stderr: string }>;

const longest = 65_536;

/** How long to wait, after a failed program has ended, for what it wrote to stderr. */
const lastWords: Milliseconds = 100;

/** A program that leaves an agent behind may leave its pipes open, so its own end is enough once a line is whole. */
function endOf(child: ChildProcess, command: string, alarm: Alarm): Promise<ProgramOutcome> {
  return new Promise((resolve, reject) => {
    const output = { stdout: '', stderr: '' };
    let code: number | string | undefined;
    let cancel = (): void => undefined;
    const finish = (isEnough = code === 0 && output.stdout.includes('\n')): void => {
      if (code !== undefined && isEnough) resolve({ code, ...output });
    };
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
        if (output[name].length > longest) reject(commandFailure(command, `printed more than ${longest} characters`));
        finish();
      });
    child.once('error', reject);
    child.once('exit', (status, signal) => {
      code = status ?? signal ?? 'no code';
      if (code !== 0) cancel = alarm(lastWords, () => finish(true));
      finish();
    });
    child.once('close', () => {
      cancel();
      finish(true);
    });
  });
}

const grace: Milliseconds = 1000;

/** SIGTERM first: a program that hid the typing on the terminal can restore it. */
async function endGroup(child: ChildProcess, system: System, alarm: Alarm): Promise<void> {
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    signalGroup(child, child.pid, system, signal);
    let cancel = (): void => undefined;
    await Promise.race([gone, new Promise<void>((resolve) => (cancel = alarm(grace, resolve)))]);
    cancel();
  }
}

/** Windows has no groups. */
function signalGroup(child: ChildProcess, pid: number, { platform, kill }: System, signal: NodeJS.Signals): void {
  try {
    if (platform === 'win32') child.kill();
    else kill(-pid, signal);
  } catch (cause) {
    if (codeOf(cause) !== 'ESRCH') throw cause;
  }
}
