import { expect, test } from 'vitest';
import { freeBuffers } from '../../src/core/free-buffers.ts';

const mebibyte = 1024 * 1024;
const held = (): number => process.memoryUsage().arrayBuffers;

test('buffers that nobody holds are freed, and others stay', async () => {
  freeBuffers();
  const before = held();
  const kept = Buffer.alloc(4 * mebibyte, 7);
  for (let count = 0; count < 16; count += 1) Buffer.alloc(mebibyte);

  freeBuffers();

  await expect.poll(() => held() - before).toBeLessThan(8 * mebibyte);
  expect(kept.every((byte) => byte === 7)).toBe(true);
});

test('a few buffers that were in use at some calls are freed 16 calls later', async () => {
  for (let count = 0; count < 32; count += 1) freeBuffers();
  const before = held();
  const inUse = Array.from({ length: 4 }, () => Buffer.alloc(mebibyte));
  for (let count = 0; count < 4; count += 1) freeBuffers();
  expect(held() - before).toBeGreaterThan(3 * mebibyte);

  inUse.length = 0;
  for (let count = 0; count < 16; count += 1) freeBuffers();

  await expect.poll(() => held() - before).toBeLessThan(mebibyte);
});

test('buffers that were in use at many calls are freed once there are 6 MiB of them', async () => {
  for (let count = 0; count < 32; count += 1) freeBuffers();
  const before = held();
  const inUse: Buffer[] = [];
  let most = 0;
  for (let count = 0; count < 60; count += 1) {
    inUse.push(Buffer.alloc(2 * mebibyte));
    if (inUse.length > 4) inUse.shift();
    freeBuffers();
    // Buffers are freed by another thread, a moment later.
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, held() - before);
  }

  expect(most).toBeLessThan(28 * mebibyte);
});
