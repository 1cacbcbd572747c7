import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openSpool } from '../../../src/store/disk/spool.ts';
import { needs } from '../../helpers/needs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chatelaine-spool-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(Buffer.from(chunk));
  return Buffer.concat(all).toString();
}

test('what was written is read, more than once, and has no name in the folder', needs('posix'), async () => {
  const spool = await openSpool(folder, new AbortController().signal);
  const long = 'x'.repeat(300_000);
  await spool.write(Buffer.from('first '));
  await spool.write(Buffer.from(long));
  expect(await textOf(spool.read())).toBe(`first ${long}`);
  expect(await textOf(spool.read())).toBe(`first ${long}`);
  expect(readdirSync(folder)).toEqual([]);
  await spool.close();
});

test('a folder that is not there is named', async () => {
  await expect(openSpool(join(folder, 'none'), new AbortController().signal)).rejects.toMatchObject({
    kind: 'config',
    message: expect.stringContaining(`cannot keep a long answer in ${join(folder, 'none')}: `) as string,
  });
});
