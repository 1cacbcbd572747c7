import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { realAlarm } from '../../src/cli/clock.ts';
import { main } from '../../src/cli/main.ts';
import type { Host } from '../../src/cli/host.ts';
import { isWindows } from '../../src/core/system.ts';
import { placesIn } from '../store/system.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from './sandbox.ts';
import { keys, type FakeService } from './service.ts';
import { hurriedTime, sleptClock } from './clock.ts';

export { fakeService } from './service.ts';

export interface RunOptions {
  /** Added to the credentials in the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Uint8Array;
  /** Whether stdin, stdout and stderr are terminals; what is typed is `stdin`. */
  readonly tty?: boolean;
  /** Lines that are typed, one when a question is asked. */
  readonly answers?: readonly string[];
  /** Columns of those terminals; default 100. */
  readonly columns?: number;
  /** A home folder of several runs; else each run has its own. */
  readonly home?: string;
  /** The account that the history names; default that of this process, by its id. */
  readonly user?: string;
  /** No credential in the environment. */
  readonly bare?: boolean;
  readonly interrupt?: AbortSignal;
  /** The moment at which the run begins; default 2026-03-01 12:00 UTC. */
  readonly now?: number;
  /** In place of the one that only sleeping moves; its sleeps are not in `slept`. */
  readonly clock?: Host['clock'];
  /** In place of timers of real time. */
  readonly alarm?: Host['alarm'];
  /** Called after each write to stdout. */
  readonly written?: () => void;
  /** Most bytes of an answer; the real limit is 64 MiB. */
  readonly bodyLimit?: number;
}

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of stderr. */
  readonly lines: readonly string[];
  /** The error that `-o json` writes as the last line of stderr; undefined where that is no JSON. */
  readonly error: ErrorLine | undefined;
  /** Every span that was slept, in milliseconds. */
  readonly slept: readonly number[];
  readonly home: string;
}

export interface ErrorLine {
  readonly code: string;
  readonly exit: number;
  readonly message: string;
  readonly problems?: readonly string[];
  readonly hint?: string;
  readonly http?: { readonly method: string; readonly url: string; readonly status?: number };
  readonly server?: { readonly code?: string; readonly msg?: string };
  readonly retryable: boolean;
}

/** Runs one command line through `main` in this process, against the fake service. */
export function run(service: FakeService, line: string | readonly string[], options: RunOptions = {}): Promise<Ran> {
  return runMain(line, { ...(options.bare ? {} : keys), ...options.env }, options, service.agent);
}

export interface RunningSandbox {
  readonly sandbox: Sandbox;
  /** The environment that points at it. */
  readonly env: Readonly<Record<string, string>>;
  run(line: string | readonly string[], options?: RunOptions): Promise<Ran>;
}

/** A sandbox on loopback that ends with the test; runs go over real connections. */
export async function openSandbox(options: Partial<SandboxOptions> = {}): Promise<RunningSandbox> {
  const sandbox = await startSandbox({ clock: hurriedTime(), ...options });
  onTestFinished(() => sandbox.close());
  const env = environmentOf(sandbox);
  return {
    sandbox,
    env,
    run: (line, given = {}) => runMain(line, { ...(given.bare ? {} : env), ...given.env }, given, undefined),
  };
}

/** One command line over real connections, with nothing in the environment but `options.env`. */
export function runAlone(line: string | readonly string[], options: RunOptions = {}): Promise<Ran> {
  return runMain(line, { ...options.env }, options, undefined);
}

/** One command line against a sandbox that somebody else starts and ends. */
export function runAgainst(sandbox: Sandbox, line: string | readonly string[], options: RunOptions = {}): Promise<Ran> {
  return runMain(line, { ...(options.bare ? {} : environmentOf(sandbox)), ...options.env }, options, undefined);
}

/** One command line against a sandbox of its own. */
export async function sandboxed(
  options: Partial<SandboxOptions>,
  line: string | readonly string[],
  given: RunOptions = {},
): Promise<Ran> {
  return (await openSandbox(options)).run(line, given);
}

/** An empty home for several runs, removed after the test. */
export function emptyHome(place = tmpdir()): string {
  const folder = mkdtempSync(join(place, 'chatelaine-run-'));
  onTestFinished(() => removeFolder(folder));
  mkdirSync(join(folder, 'tmp'));
  return folder;
}

/** On Windows a file that this process has open, such as the log of a run, keeps its folder until the process ends. */
function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (cause) {
    if (!isWindows) throw cause;
  }
}

/** Splits as a shell does: blanks, single and double quotes; nothing is expanded. */
export function words(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, (_all, single?: string, double?: string) => single ?? double ?? ''),
  );
}

async function runMain(
  line: string | readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  options: RunOptions,
  dispatcher: FakeService['agent'] | undefined,
): Promise<Ran> {
  const home = options.home ?? emptyHome();
  const stdout = collector(options);
  const stderr = collector({ ...options, written: undefined });
  const stdin = inputOf(options);
  const answers = [...(options.answers ?? [])];
  const clock = sleptClock(options.now ?? Date.UTC(2026, 2, 1, 12));
  const ends: (() => void)[] = [];
  const host: Host = {
    system: {
      env: { ...placesIn(home), ...env },
      platform: process.platform,
      home,
      temporary: join(home, 'tmp'),
      local: home,
      hostname: 'here.test',
      user: options.user,
      uid: process.getuid?.(),
      pid: process.pid,
      kill: (pid, signal) => void process.kill(pid, signal),
      atExit: (work) => void ends.push(work),
    },
    clock: options.clock ?? clock,
    alarm: options.alarm ?? realAlarm,
    stdin,
    terminal: { group: process.pid, isForeground: () => options.tty === true, open: () => answering(stdin, answers) },
    stdout: stdout.stream,
    stderr: stderr.stream,
    interrupt: options.interrupt ?? new AbortController().signal,
    version: '9.9.9',
    ...(dispatcher === undefined ? {} : { dispatcher }),
    ...(options.bodyLimit === undefined ? {} : { bodyLimit: options.bodyLimit }),
  };
  const exitCode = await main(typeof line === 'string' ? words(line) : line, host);
  for (const end of ends) end();
  const lines = stderr.text().split('\n').slice(0, -1);
  return {
    exitCode,
    stdout: stdout.text(),
    stderr: stderr.text(),
    lines,
    error: errorIn(lines.at(-1)),
    slept: clock.slept,
    home,
  };
}

function errorIn(line: string | undefined): ErrorLine | undefined {
  if (!line?.startsWith('{"error":')) return undefined;
  return (JSON.parse(line) as { error: ErrorLine }).error;
}

function collector({
  tty: isTTY = false,
  columns = 100,
  written,
}: Pick<RunOptions, 'tty' | 'columns'> & { readonly written?: (() => void) | undefined }): {
  readonly stream: Host['stdout'];
  text(): string;
} {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      written?.();
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY, columns }),
    text: () => Buffer.concat(chunks).toString('utf8'),
  };
}

function inputOf({ stdin = '', tty = false }: RunOptions): Host['stdin'] {
  if (!tty) return Object.assign(Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]), { isTTY: false });
  const typed = new PassThrough();
  if (stdin !== '') typed.write(stdin);
  return Object.assign(typed, { isTTY: true });
}

function answering(stdin: Host['stdin'], answers: string[]): Host['stdin'] {
  const answer = answers.shift();
  if (answer !== undefined && stdin instanceof PassThrough) stdin.write(`${answer}\n`);
  return stdin;
}

function environmentOf({ licensing, chat }: Sandbox): Record<string, string> {
  const [app] = licensing.apps;
  const [account] = chat.accounts;
  if (!account) throw new Error('the sandbox has no sample data');
  return {
    CHATELAINE_BASE_URL: licensing.base_url,
    CHATELAINE_API_KEY: app.api_key,
    CHATELAINE_APP_CODE: String(app.app_code),
    CHATELAINE_CHAT_SITE: chat.site,
    CHATELAINE_CHAT_EMAIL: account.email,
    CHATELAINE_CHAT_API_KEY: account.api_key,
  };
}
