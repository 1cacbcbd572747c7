import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { helpTexts } from '../../src/cli/help.ts';
import { commandTable, nouns } from '../../src/commands/index.ts';
import { launch } from '../helpers/launch.ts';
import { needs } from '../helpers/needs.ts';
import { temporaryHome } from './program.ts';
import { openTerminal } from './pty.ts';

/** The launcher answers from files that the build wrote. */
const lines = ['', 'license create'];

describe.each(lines)('chatelaine %s --help', (line) => {
  test('in a pipe is the text of 80 columns', async () => {
    const words = line.split(' ').filter((word) => word !== '');
    const { stdout } = await launch(process.execPath, ['bin/chatelaine.cjs', ...words, '--help'], {
      stripFinalNewline: false,
    });
    expect(stdout).toBe((await helpTexts(80)).get(line));
  });
});

test('there is a text for every noun and command', async () => {
  const all = ['', ...Object.keys(nouns), ...commandTable.map(({ name }) => name)];
  expect([...(await helpTexts(80)).keys()].sort()).toEqual([...new Set(all)].sort());
});

test.each([
  [66, 66],
  [140, 80],
])('on a terminal of %s columns help has %s', needs('terminals'), async (columns, width) => {
  const { output } = await openTerminal('chatelaine license create --help', { columns }).ended;
  expect(output).toBe((await helpTexts(width)).get('license create'));
});

test('a closed pipe is no error, a full disk is exit 8', needs('shell', 'devices'), async () => {
  const closed = await launch('bash', ['-c', 'bin/chatelaine.cjs --help | true; echo "${PIPESTATUS[0]}"']);
  expect(closed).toMatchObject({ stdout: '0', stderr: '' });
  const full = await launch('bash', ['-c', 'bin/chatelaine.cjs --help > /dev/full'], { reject: false });
  expect(full.exitCode).toBe(8);
});

const unblocked = 'use Fcntl; fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK) or die; exec @ARGV';

const sayingRefusal =
  '(...to) => { try { return write(...to); } catch (cause) { write(2, cause.code); throw cause; } }';

test('a full pipe that nobody waits for gets the whole text as it is read', needs('perl'), async () => {
  const home = temporaryHome();
  const [path, witness] = [join(home, 'pipe'), join(home, 'witness.cjs')];
  execFileSync('mkfifo', [path]);
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(pipe));
  fill(pipe);
  writeFileSync(witness, `const fs = require('node:fs'); const write = fs.writeSync; fs.writeSync = ${sayingRefusal};`);
  // Node gives its children pipes that wait.
  const words = ['-e', unblocked, process.execPath, '-r', witness, 'bin/chatelaine.cjs', '--help'];
  const child = spawn('perl', words, { stdio: ['ignore', pipe, 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  await expect.poll(() => String(child.stderr?.read())).toBe('EAGAIN');
  expect(drained(pipe)).toMatch(/^x+$/);
  expect(await ended).toEqual([0, null]);
  expect(drained(pipe)).toBe((await helpTexts(80)).get(''));
});

/** Writes until the pipe takes no more. */
function fill(pipe: number): void {
  const block = Buffer.alloc(4096, 'x');
  try {
    for (;;) writeSync(pipe, block);
  } catch (cause) {
    expect(cause).toMatchObject({ code: 'EAGAIN' });
  }
}

/** What the pipe holds now. */
function drained(pipe: number): string {
  const block = Buffer.alloc(1 << 20);
  return block.toString('utf8', 0, readSync(pipe, block));
}
