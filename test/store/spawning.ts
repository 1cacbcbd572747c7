import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { build, type RolldownOutput } from 'rolldown';
import { onTestFinished } from 'vitest';

/** test/store/program.ts as something that node runs by itself. */
export interface Program {
  readonly file: string;
  remove(): void;
}

/** Bundled once in a process: it takes a third of a second. */
let bundle: Promise<RolldownOutput> | undefined;

export async function bundleProgram(): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-program-'));
  bundle ??= build({
    input: join(import.meta.dirname, 'program.ts'),
    platform: 'node',
    output: { entryFileNames: 'program.mjs', format: 'esm' },
    logLevel: 'silent',
    write: false,
  });
  for (const part of (await bundle).output)
    writeFileSync(join(folder, part.fileName), part.type === 'chunk' ? part.code : part.source);
  return { file: join(folder, 'program.mjs'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Child = ChildProcessByStdio<null, Readable, Readable>;

/** Ends with the test at the latest. */
export function start(program: Program, ...words: string[]): Child {
  return startUnder([], program, ...words);
}

/** As `start`, as the last words of a command that runs another one. */
export function startUnder(command: readonly string[], program: Program, ...words: string[]): Child {
  return begin([...command, process.execPath, program.file, ...words], {});
}

/** As `start`, on a disk that test/store/odd-disk.cjs plays. */
export function startOn(disk: string, program: Program, ...words: string[]): Child {
  const disks = join(import.meta.dirname, 'odd-disk.cjs');
  return begin([process.execPath, '--require', disks, program.file, ...words], { ODD_DISK: disk });
}

function begin([first = '', ...others]: readonly string[], env: Readonly<Record<string, string>>): Child {
  const child = spawn(first, others, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

export function ended(child: Child): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal, ...output })));
}

/** Resolves when the child printed that text. */
export function printed(child: Child, text: string): Promise<void> {
  let output = '';
  return new Promise((resolve) => {
    child.stdout.on('data', (chunk: Buffer | string) => {
      output += chunk.toString();
      if (output.includes(text)) resolve();
    });
  });
}
