import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';
import { Failure } from '../../src/core/failure.ts';
import { generalFormats } from '../../src/output/formats.ts';
import type { Sink } from '../../src/output/sink.ts';
import { writeResult } from '../../src/output/write.ts';
import { failing, look } from './looks.ts';

function refusal(code: string): Error {
  return Object.assign(new Error(`write ${code}`), { code });
}

/** A sink whose reader goes away after so many writes. */
function closing(after: number, error = refusal('EPIPE')): Sink & { readonly pieces: string[]; attempts: number } {
  const pieces: string[] = [];
  return {
    pieces,
    attempts: 0,
    write(text) {
      this.attempts += 1;
      if (pieces.length >= after) return Promise.reject(error);
      pieces.push(String(text));
      return Promise.resolve();
    },
  };
}

/** Rows without end, and whether their generator was ended. */
function endless(): { rows: AsyncIterable<unknown>; wasEnded: () => boolean } {
  let wasEnded = false;
  async function* rows(): AsyncGenerator {
    try {
      for (let id = 0; ; id += 1) {
        if (id % 100 === 99) await turn();
        yield { id };
      }
    } finally {
      wasEnded = true;
    }
  }
  return { rows: rows(), wasEnded: () => wasEnded };
}

describe('when nobody reads any longer', () => {
  test('rows are asked to end, silently', async () => {
    for (const format of generalFormats) {
      const { rows, wasEnded } = endless();
      const sink = closing(1);
      await writeResult({ many: rows }, look(format), sink);
      await turn();
      expect([wasEnded(), sink.attempts]).toEqual([true, 2]);
    }
  });

  test('a row that never arrives delays nothing', async () => {
    let returned = false;
    let given = false;
    const rows: AsyncIterable<unknown> = {
      [Symbol.asyncIterator]: () => ({
        next() {
          if (given) return new Promise(() => undefined);
          given = true;
          return Promise.resolve({ done: false, value: { id: 1 } });
        },
        return() {
          returned = true;
          return new Promise(() => undefined);
        },
      }),
    };
    await writeResult({ many: rows }, look('ndjson'), closing(0));
    expect(returned).toBe(true);
  });

  test('one value works too', async () => {
    await expect(writeResult({ one: { a: 1 } }, look('json'), closing(0))).resolves.toBeUndefined();
  });

  test('writes that must not stop continue to the end', async () => {
    let done = 0;
    async function* rows(): AsyncGenerator {
      for (; done < 500; done += 1) {
        if (done % 100 === 99) await turn();
        yield { done };
      }
    }
    const sink = closing(1);
    await writeResult({ many: rows() }, { ...look('ndjson'), isWrite: true }, sink);
    expect(done).toBe(500);
    expect([sink.pieces.length, sink.attempts]).toEqual([1, 2]);
  });

  test('what such writes end with is still reported', async () => {
    const error = new Error('row 2 failed');
    await expect(
      writeResult({ many: failing([{ a: 1 }], error) }, { ...look('json'), isWrite: true }, closing(0)),
    ).rejects.toBe(error);
  });

  test('a closed pipe among the rows is not mistaken for the reader', async () => {
    const error = refusal('EPIPE');
    await expect(writeResult({ many: failing([], error) }, look('json'), closing(9))).rejects.toBe(error);
  });
});

test.each([
  [new Error('ENOSPC: no space left on device, write'), 'no space left on device'],
  [new Failure('unavailable', 'the deadline of 1s was reached'), 'the deadline of 1s was reached'],
])('a sink that fails is a failure that says so: %s', async (error, reason) => {
  const { rows, wasEnded } = endless();
  await expect(writeResult({ many: rows }, look('ndjson'), closing(0, error))).rejects.toMatchObject({
    kind: 'incomplete',
    message: `the result could not be written: ${reason}`,
    details: { hint: expect.stringMatching(/^Only the output is missing/) as string },
    retryable: false,
  });
  await turn();
  expect(wasEnded()).toBe(true);
});

test('a write whose output fails ends when the row that it is at has ended', async () => {
  const steps: string[] = [];
  async function* rows(): AsyncGenerator {
    try {
      yield { id: 1 };
      for (let turns = 0; turns < 100; turns += 1) await turn();
      steps.push('done');
      yield { id: 2 };
      steps.push('begun');
    } finally {
      steps.push('ended');
    }
  }
  const full = closing(0, refusal('ENOSPC'));
  const writing = writeResult({ many: rows() }, { ...look('ndjson'), isWrite: true }, full);
  await expect(writing).rejects.toMatchObject({ kind: 'incomplete' });
  expect(steps).toEqual(['done', 'ended']);
});

test('a row is shown while the next is awaited', async () => {
  const pieces: string[] = [];
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  async function* rows(): AsyncGenerator {
    yield { id: 1 };
    yield { id: 2 };
    await gate;
    yield { id: 3 };
  }
  const writing = writeResult({ many: rows() }, look('ndjson'), {
    write: (text) => Promise.resolve(void pieces.push(String(text))),
  });
  // The formats are modules that load when first needed.
  for (let turns = 0; turns < 100 && pieces.length === 0; turns += 1) await turn();
  expect(pieces).toEqual(['{"id":1}\n{"id":2}\n']);
  release();
  await writing;
  expect(pieces).toEqual(['{"id":1}\n{"id":2}\n', '{"id":3}\n']);
});

describe('memory', () => {
  const count = isWhole ? 100_000 : 7000;

  test.each(generalFormats)('%s holds little, however slow the sink', async (format) => {
    const rows = format === 'yaml' ? (isWhole ? 10_000 : 3000) : count;
    let produced = 0;
    let received = 0;
    let held = 0;
    let pieces = 0;
    let writing = 0;
    let mostWriting = 0;
    async function* source(): AsyncGenerator {
      for (let id = 0; id < rows; id += 1) {
        if (id % 1000 === 999) await turn();
        produced += 1;
        yield { id, text: 'a text of some fifty characters, which is all it says' };
      }
    }
    const sink: Sink = {
      async write(text) {
        writing += 1;
        mostWriting = Math.max(mostWriting, writing);
        await turn();
        writing -= 1;
        pieces += 1;
        received += String(text).split('text of some').length - 1;
        held = Math.max(held, text.length + (produced - received) * 60);
      },
    };
    await writeResult({ many: source() }, look(format), sink);
    expect(received).toBe(rows);
    expect(mostWriting).toBe(1);
    expect(held).toBeLessThan(400_000);
    expect(pieces).toBeGreaterThan(5);
    expect(pieces).toBeLessThan(500);
  });
});
