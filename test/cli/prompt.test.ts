import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Host } from '../../src/cli/host.ts';
import { openPrompt } from '../../src/cli/prompt.ts';
import { place } from '../store/place.ts';

/** A terminal, and a process at it that asks. */
function terminal() {
  const { system, clock } = place();
  const typed: PassThrough[] = [];
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  let said = '';
  stderr.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  let waits = 0;
  const host = {
    system,
    stderr,
    clock: {
      ...clock,
      sleep: (span: number) => {
        waits += 1;
        return new Promise<void>((done) => void setTimeout(done, span));
      },
    },
    terminal: { group: 7, isForeground: () => true, open: () => typed[typed.push(new PassThrough()) - 1] },
  } as unknown as Host;
  return { host, typed, said: () => said, waits: () => waits };
}

test('of two processes of a group the second asks once the first is answered', async () => {
  const { host, typed, said, waits } = terminal();
  const ask = (question: string) => openPrompt(host, () => true, new AbortController().signal).line(question);

  const [first, second] = [ask('one?'), ask('two?')];
  await expect.poll(waits).toBeGreaterThan(0);
  await expect.poll(said).toMatch(/(one|two)\?/);
  expect([typed.length, said().match(/\?/g)?.length]).toEqual([1, 1]);
  typed[0]?.write('a\n');
  await expect.poll(() => typed.length).toBe(2);
  typed[1]?.write('b\n');

  expect([await first, await second].sort()).toEqual(['a', 'b']);
  expect(typed.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

test('a question that is wider than the terminal is broken between words', async () => {
  const { host, typed, said } = terminal();
  Object.assign(host.stderr, { columns: 40 });

  const agreed = openPrompt(host, () => true, new AbortController().signal).confirm(
    '30 to create, 1 to resize (profile sandbox). Continue?',
  );
  await expect.poll(() => typed.length).toBe(1);
  typed[0]?.write('y\n');
  await agreed;

  expect(said()).toContain('30 to create, 1 to resize (profile\n  sandbox).\nContinue? [y/N] ');
});

test('a terminal that is closed is no answer', async () => {
  const { host, typed } = terminal();

  let said = '';
  const asked = openPrompt(host, () => true, new AbortController().signal).line('one?');
  void asked.catch((cause: unknown) => (said = String(cause)));
  await expect.poll(() => typed.length).toBe(1);
  typed[0]?.end();

  await expect.poll(() => said).toContain('cancelled: no answer');
});
