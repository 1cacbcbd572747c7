import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openBatch } from '../../src/output/sink.ts';

/** A sink that notes what it was given when a write ends. */
function slow() {
  const written: string[] = [];
  const ends: (() => void)[] = [];
  return {
    written,
    end: () => ends.shift()?.(),
    write: (piece: string | Uint8Array) =>
      new Promise<void>((resolve) => {
        ends.push(() => {
          written.push(String(piece));
          resolve();
        });
      }),
  };
}

test.each([0, 1, 2, 3, 4, 5])(
  'a long piece is written when it is added, also one that comes %d steps after the end of a write',
  async (steps) => {
    const sink = slow();
    const batch = openBatch(sink, 8);
    await batch.add('short');
    const flushed = batch.flush();
    sink.end();
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    let isAdded = false;
    const added = batch.add(Buffer.from('long enough')).then(() => (isAdded = true));

    await turn();
    expect(isAdded).toBe(false);
    sink.end();
    await Promise.all([flushed, added]);

    expect(sink.written).toEqual(['short', 'long enough']);
  },
);

test('with nothing to write, a flush ends at once, and the next one writes', async () => {
  const sink = slow();
  const batch = openBatch(sink, 8);
  await batch.flush();
  const added = batch.add('long enough');
  sink.end();
  await added;
  expect(sink.written).toEqual(['long enough']);
});
