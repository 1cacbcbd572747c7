import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readInputLine, readInputText } from '../../src/cli/input.ts';

test.each([
  [true, ['Reading standard input; end with Ctrl-D']],
  [false, []],
])('that standard input is read is said where it is a terminal: %s', async (isTTY, lines) => {
  for (const read of [readInputLine, (reading: never) => readInputText(reading, '-')]) {
    const said: string[] = [];
    const host = { stdin: Object.assign(Readable.from(['key\n']), { isTTY }) };
    const messages = { say: (line: string) => void said.push(line) };
    await read({ host, messages, signal: new AbortController().signal } as never);
    expect(said).toEqual(lines);
  }
});
