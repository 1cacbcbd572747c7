import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { win32 } from 'node:path';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import type { Alarm, Environment, System } from '../../core/system.ts';
import { codeOf } from '../disk/files.ts';
import { orAborted } from '../../core/failure.ts';

export interface ProgramOutcome {
  /** The exit code, or the name of the signal that ended it. */
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

interface ProgramOptions {
  readonly system: System;
  readonly env: Environment;
  readonly timeout: Milliseconds;
  readonly alarm: Alarm;
  readonly signal?: AbortSignal | undefined;
  /** Whether it may read our stdin. */
  readonly interactive: boolean;
}

/** Why a program gave no outcome: the rest of a sentence that begins with its name. Never holds what it printed. */
export class ProgramTrouble extends Error {}

/**
 * Runs a program without a shell, in a process group that ends with it (on Windows: with its child processes).
 * @throws ProgramTrouble when it cannot be run, is too slow or prints too much; the signal's reason
 */
export async function runProgram(
  file: string,
  words: readonly string[],
  { system, env, timeout, alarm, signal, interactive }: ProgramOptions,
): Promise<ProgramOutcome> {
  signal?.throwIfAborted();
  const child = begun(file, words, {
    shell: false,
    env,
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    detached: system.platform !== 'win32',
    windowsHide: true,
  });
  const late = new AbortController();
  const slow = new ProgramTrouble(`was still running after ${formatDuration(timeout)}`);
  const cancel = alarm(timeout, () => late.abort(slow));
  try {
    const inTime = orAborted(endOf(child), late.signal);
    return await (signal ? orAborted(inTime, signal) : inTime);
  } finally {
    cancel();
    await endGroup(child, system, alarm);
  }
}

/** @throws ProgramTrouble where Node refuses at once, instead of by the event for that */
function begun(file: string, words: readonly string[], options: SpawnOptions): ChildProcess {
  try {
    return spawn(file, words, options);
  } catch (cause) {
    throw new ProgramTrouble(`cannot be run: ${codeOf(cause) ?? 'error'}`, { cause });
  }
}

const longest = 65_536;

/** A program that leaves an agent behind may leave its pipes open, so its own end is enough once a line is whole. */
function endOf(child: ChildProcess): Promise<ProgramOutcome> {
  return new Promise((resolve, reject) => {
    const output = { stdout: '', stderr: '' };
    let code: number | string | undefined;
    const finish = (): void => {
      if (code !== undefined) resolve({ code, ...output });
    };
    const finishOnLine = (): void => {
      if (output.stdout.includes('\n')) finish();
    };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
        if (output[name].length > longest) reject(new ProgramTrouble(`printed more than ${longest} characters`));
        finishOnLine();
      });
    }
    child.once('error', (cause) => reject(new ProgramTrouble(`cannot be run: ${codeOf(cause) ?? 'error'}`, { cause })));
    child.once('exit', (status, signal) => {
      code = status ?? signal ?? 'no code';
      finishOnLine();
    });
    child.once('close', finish);
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
    signalGroup(child, system, signal);
    let cancel = (): void => undefined;
    await Promise.race([gone, new Promise<void>((resolve) => (cancel = alarm(grace, resolve)))]);
    cancel();
  }
}

/** Windows has neither groups nor signals: its own program ends a process with its children. */
function signalGroup(child: ChildProcess, { env, platform, kill }: System, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (platform !== 'win32') {
      kill(-child.pid, signal);
      return;
    }
    const file = win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe');
    const killer = spawn(file, ['/t', '/f', '/pid', String(child.pid)], { stdio: 'ignore', windowsHide: true });
    killer.once('error', () => child.kill());
  } catch (cause) {
    if (codeOf(cause) !== 'ESRCH') throw cause;
  }
}
