import { expect, test } from 'vitest';
import { freeBuffers } from '../../src/core/free-buffers.ts';

const mebibyte = 1024 * 1024;

test('buffers that nobody holds are freed, and others stay', async () => {
  freeBuffers();
  const before = process.memoryUsage().arrayBuffers;
  const kept = Buffer.alloc(4 * mebibyte, 7);
  for (let count = 0; count < 16; count += 1) Buffer.alloc(mebibyte);

  freeBuffers();

  await expect.poll(() => process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * mebibyte);
  expect(kept.every((byte) => byte === 7)).toBe(true);
});

test('buffers that were in use at some calls are freed a few calls after', async () => {
  const held: Buffer[] = [];
  for (let count = 0; count < 12; count += 1) freeBuffers();
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 16; count += 1) held.push(Buffer.alloc(mebibyte));
  for (let count = 0; count < 4; count += 1) freeBuffers();
  expect(process.memoryUsage().arrayBuffers - before).toBeGreaterThan(15 * mebibyte);

  held.length = 0;
  for (let count = 0; count < 12; count += 1) freeBuffers();

  await expect.poll(() => process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * mebibyte);
});
