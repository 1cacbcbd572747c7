import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { environmentOf, launched } from './program.ts';

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** A home of several runs; else each has its own. */
  readonly home?: string;
}

/** A program on a real terminal. */
export interface Terminal {
  /** All that was written so far, control sequences included. */
  output(): string;
  type(text: string): void;
  /** Resolves when something is on the terminal that was not there when it was last waited for. */
  shows(pattern: RegExp): Promise<void>;
  readonly ended: Promise<Ended>;
}

export interface Ended {
  /** Of a program that a signal ended, as a shell counts it. */
  readonly exitCode: number;
  /** With line ends as programs write them. */
  readonly output: string;
}

/** No program writes these characters, and an echo shows them in another form. */
const mark = '\u001eall was written\u001e';
const answer = 'all was read';

/**
 * Runs a line of the shell on a terminal of its own; `chatelaine` is the built program. What is still in a terminal
 * when its last program ends is lost, so the shell prints a mark after all else, and ends when it is answered.
 */
export function openTerminal(line: string, options: TerminalOptions = {}): Terminal {
  const finish = `printf '${mark}'; while read -r typed && [[ $typed != *'${answer}' ]]; do :; done`;
  const shell = [
    // Not a function: `kill $!` would end the shell around the program, and leave the program.
    `hash -p '${resolve('test/e2e/chatelaine.sh')}' chatelaine`,
    line,
    `code=$?; { ${finish}; } </dev/tty >/dev/tty; exit $code`,
  ];
  return openProgram('/bin/bash', ['--norc', '--noprofile', '-c', shell.join('\n')], options);
}

/** Runs a program on a terminal of its own, in an empty home. */
export function openProgram(
  file: string,
  args: readonly string[],
  { columns = 80, env = {}, home = emptyHome() }: TerminalOptions = {},
): Terminal {
  const terminal = spawn(file, [...args], {
    cols: columns,
    rows: 50,
    cwd: home,
    env: {
      ...environmentOf(home),
      TERM: 'xterm-256color',
      ...launched,
      ...env,
    },
  });
  onTestFinished(() => {
    try {
      terminal.kill('SIGKILL');
    } catch {
      // It has ended by itself.
    }
  });
  let text = '';
  let seen = 0;
  let watch: (() => void) | undefined;
  let isMarked = false;
  terminal.onData((piece) => {
    // What follows the mark is the echo of the answer.
    if (isMarked) return;
    text += piece;
    const end = text.indexOf(mark);
    if (end !== -1) {
      isMarked = true;
      text = text.slice(0, end);
      terminal.write(`${answer}\n`);
    }
    watch?.();
  });
  const ended = new Promise<Ended>((done) => {
    terminal.onExit(({ exitCode, signal }) => {
      done({ exitCode: signal ? 128 + signal : exitCode, output: text.replaceAll('\r\n', '\n') });
    });
  });
  return {
    output: () => text,
    type: (typed) => terminal.write(typed),
    shows: (pattern) =>
      new Promise((done) => {
        watch = () => {
          const found = pattern.exec(text.slice(seen));
          if (!found) return;
          seen += found.index + found[0].length;
          watch = undefined;
          done();
        };
        watch();
      }),
    ended,
  };
}

/** An empty folder, removed after the test. */
export function emptyHome(): string {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-pty-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
