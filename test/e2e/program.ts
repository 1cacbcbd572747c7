import type { ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, inject, onTestFinished } from 'vitest';
import { launch } from '../helpers/launch.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../helpers/sandbox.ts';
import { realTime } from '../helpers/clock.ts';

/**
 * What NODE and PROGRAM are in lines of the shell. CHATELAINE_BIN names the command of an archive of scripts/binary.js
 * to be tried instead.
 */
export const launched =
  process.env['CHATELAINE_BIN'] === undefined
    ? { NODE: process.execPath, PROGRAM: resolve('bin/chatelaine.cjs') }
    : { NODE: '/usr/bin/env', PROGRAM: resolve(process.env['CHATELAINE_BIN']) };

export interface Started {
  readonly child: ChildProcess;
  readonly home: string;
  stdout(): string;
  stderr(): string;
  /** Resolves when stderr or stdout holds it. */
  shows(pattern: RegExp): Promise<void>;
  readonly ended: Promise<Done>;
}

export interface Done {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly home?: string;
  /** Undefined: nothing. Null: standard input stays open, and nothing comes. */
  readonly stdin?: string | null;
}

/** The built program with nothing in its environment but what the test gives. */
export function start(line: string, options: StartOptions = {}): Started {
  return run(launched.NODE, [launched.PROGRAM, ...line.split(' ')], options);
}

/** A line of bash in which `chatelaine` is the built program. */
export function shell(line: string, options: StartOptions = {}): Started {
  const env = { ...options.env, ...launched };
  return run('/bin/bash', ['-c', `chatelaine() { "$NODE" "$PROGRAM" "$@"; }; ${line}`], { ...options, env });
}

function run(file: string, words: readonly string[], options: StartOptions): Started {
  const home = options.home ?? temporaryHome();
  const child: ChildProcess = launch(file, words, {
    cwd: home,
    env: { ...environmentOf(home), TMPDIR: join(home, 'tmp'), ...options.env },
    ...{ stdin: 'pipe', buffer: false, reject: false },
  });
  const said = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      for (const watch of watchers) watch();
    });
  }
  child.stdin?.on('error', () => undefined);
  if (options.stdin !== null) child.stdin?.end(options.stdin ?? '');
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    child,
    home,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    shows: (pattern) =>
      new Promise((done) => {
        const watch = (): void => {
          if (!pattern.test(said.stdout + said.stderr)) return;
          watchers.delete(watch);
          done();
        };
        watchers.add(watch);
        watch();
      }),
    ended: new Promise((done) => {
      child.once('close', (code, signal) => done({ code, signal, ...said }));
    }),
  };
}

/** What a program that tests start finds in its environment, whatever else a test gives. */
export function environmentOf(home: string): Record<string, string> {
  // On Windows no folder follows from HOME.
  const folders = { XDG_CONFIG_HOME: join(home, '.config'), XDG_STATE_HOME: join(home, '.local/state') };
  return {
    ...{ PATH: process.env['PATH'] ?? '', HOME: home, XDG_CACHE_HOME: inject('caches'), LANG: 'C.UTF-8' },
    ...(process.platform === 'win32' ? folders : {}),
  };
}

/** NODE_OPTIONS that load a file of the repository first. In quotes a backslash escapes. */
export function preloaded(file: string): { readonly NODE_OPTIONS: string } {
  return { NODE_OPTIONS: `--require="${resolve(file).replaceAll('\\', '/')}"` };
}

/** The error that `-o json` and `-o ndjson` write as the last line of stderr. */
export function errorOf({ stderr }: Done): { readonly code: string; readonly exit: number; readonly message: string } {
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  return (JSON.parse(last) as { error: { code: string; exit: number; message: string } }).error;
}

/** An empty home with a folder for temporary files, removed after the test. */
export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'chatelaine-e2e-'));
  mkdirSync(join(home, 'tmp'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** Stores a profile for each application, with its key, as auth login does: `app-4711`. */
export function storeProfiles(home: string, { base_url, apps }: Sandbox['licensing']): void {
  const folder = join(home, '.config/chatelaine');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const named = <T>(valueOf: (app: (typeof apps)[number]) => T) =>
    Object.fromEntries(apps.map((app) => [`app-${app.app_code}`, valueOf(app)]));
  const profiles = named(({ app_code }) => ({ kind: 'licensing', base_url, app_code }));
  const keys = named(({ api_key }) => ({ origin: base_url, api_key }));
  for (const [name, content] of Object.entries({ config: { profiles }, credentials: { keys } }))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ version: 1, ...content }), { mode: 0o600 });
}

/** A sandbox in the test's own process, and the environment that points to it. */
export async function openService(
  options: Partial<SandboxOptions> = {},
): Promise<{ sandbox: Sandbox; env: Record<string, string> }> {
  const sandbox = await startSandbox({ clock: realTime, ...options });
  onTestFinished(() => sandbox.close());
  const [app] = sandbox.licensing.apps;
  const [account] = sandbox.chat.accounts;
  return {
    sandbox,
    env: {
      CHATELAINE_BASE_URL: sandbox.licensing.base_url,
      CHATELAINE_API_KEY: app.api_key,
      CHATELAINE_APP_CODE: String(app.app_code),
      CHATELAINE_CHAT_SITE: sandbox.chat.site,
      CHATELAINE_CHAT_EMAIL: account?.email ?? '',
      CHATELAINE_CHAT_API_KEY: account?.api_key ?? '',
    },
  };
}

export const chatAt = (port: number): Record<string, string> => ({
  CHATELAINE_CHAT_SITE: `http://127.0.0.1:${port}`,
  CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
  CHATELAINE_CHAT_API_KEY: 'chat-key-1',
});

export async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { interval: 10 }).toBe(true);
}
