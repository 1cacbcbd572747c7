import { expect, test } from 'vitest';
import { Arrivals } from '../../../src/api/http/arrivals.ts';

const large = 256 * 1024;

function open() {
  const calls: string[] = [];
  const note = (call: string) => (): void => void calls.push(call);
  return { calls, body: new Arrivals({ pause: note('pause'), resume: note('resume'), abort: note('abort') }) };
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of body) text += Buffer.from(chunk).toString();
  return text;
}

test('a reader gets every chunk in order, those that came before it and those it waits for', async () => {
  const { body } = open();
  body.add(Buffer.from('a'));
  body.add(Buffer.from('b'));
  const text = textOf(body);
  await new Promise((resolve) => setImmediate(resolve));
  body.add(Buffer.from('c'));
  body.add(Buffer.from('d'));
  body.close();
  expect(await text).toBe('abcd');
});

test('a failure comes after the chunks before it', async () => {
  const { body } = open();
  body.add(Buffer.from('a'));
  body.close(new Error('cut'));
  const seen: string[] = [];
  const reading = (async () => {
    for await (const chunk of body) seen.push(Buffer.from(chunk).toString());
  })();
  await expect(reading).rejects.toThrow('cut');
  expect(seen).toEqual(['a']);
});

test('the sender is paused while much waits, and goes on when all of it is read', async () => {
  const { body, calls } = open();
  body.add(Buffer.alloc(large));
  expect(calls).toEqual([]);
  body.add(Buffer.alloc(1));
  expect(calls).toEqual(['pause']);
  const reader = body[Symbol.asyncIterator]();
  await reader.next();
  expect(calls).toEqual(['pause']);
  await reader.next();
  expect(calls).toEqual(['pause', 'resume']);
});

test('a reader that stops early aborts the sender, and what it waits for ends', async () => {
  const { body, calls } = open();
  const reader = body[Symbol.asyncIterator]();
  const waiting = reader.next();
  await reader.return();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(calls).toEqual(['abort']);
  body.close(new Error('aborted'));
  expect(await reader.next()).toEqual({ done: true, value: undefined });
});
