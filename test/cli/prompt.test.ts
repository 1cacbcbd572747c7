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
  const ask = (question: string) =>
    openPrompt(host, () => true, new AbortController().signal).line(`is it ${question}`);

  const [first, second] = [ask('one?'), ask('two?')];
  await expect.poll(waits).toBeGreaterThan(0);
  await expect.poll(said).toMatch(/is it (one|two)\?/);
  expect([typed.length, said().match(/\?/g)?.length]).toEqual([1, 1]);
  typed[0]?.write('a\n');
  await expect.poll(() => typed.length).toBe(2);
  typed[1]?.write('b\n');

  expect([await first, await second].sort()).toEqual(['a', 'b']);
  expect(typed.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

test.each([
  [46, ' '],
  [45, '\n  '],
])('a question that is wider than the terminal of %i columns is broken between words', async (columns, blank) => {
  const { host, typed, said } = terminal();
  Object.assign(host.stderr, { columns });

  const agreed = openPrompt(host, () => true, new AbortController().signal).confirm(
    '30 to create, 1 to resize (profile sandbox). Continue?',
  );
  await expect.poll(() => typed.length).toBe(1);
  typed[0]?.write('y\n');
  await agreed;

  expect(said()).toContain(`30 to create, 1 to resize (profile${blank}sandbox).\nContinue? [y/N] `);
});

test.each<[what: string, end: (typed?: PassThrough) => void, why: string]>([
  ['the end of the terminal', (typed) => void typed?.end(), 'cancelled: no answer'],
  ['Ctrl-C', (typed) => void typed?.write('\u0003'), 'cancelled by Ctrl-C'],
])('%s is no answer', async (_what, end, why) => {
  const { host, typed } = terminal();

  let said = '';
  const asked = openPrompt(host, () => true, new AbortController().signal).line('one?');
  void asked.catch((cause: unknown) => (said = String(cause)));
  await expect.poll(() => typed.length).toBe(1);
  end(typed[0]);

  await expect.poll(() => said).toContain(why);
});
