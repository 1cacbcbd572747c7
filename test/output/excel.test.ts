import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, openSandbox } from '../helpers/run.ts';
import { inZone } from '../helpers/zone.ts';

test('excel is for people: local times without a zone, and messages as text', async () => {
  inZone('Europe/Berlin');
  const { run } = await openSandbox();
  const line =
    "messages fetch --channel general --topic 'who has dock 4?' --limit 1 --fields id,timestamp,content,time";
  const safe = (await run(`${line} -o excel`)).stdout.split('\r\n');
  expect(safe[1]).toMatch(/^\d+,2026-03-12 10:23,Ordered\.,2026-03-12 10:23$/);
  const plain = (await run(`${line} -o csv`)).stdout.split('\n');
  expect(plain[1]).toMatch(/^\d+,1773307380,<p>Ordered\.<\/p>,2026-03-12T09:23:00Z$/);
});

test('excel-semicolon has the times of licenses too, and keys and numbers as they are', async () => {
  inZone('Europe/Berlin');
  const { run } = await openSandbox();
  const line = 'license list --remote-user clinic-north/ward-3 -o excel-semicolon --no-header';
  expect((await run(line)).stdout).toBe(
    '\uFEFF0191A-86552-95939-DF69B;clinic-north/ward-3;4711;6;2026-01-14 10:20\r\n',
  );
});

test('archive export has the fields of messages fetch', async () => {
  inZone('Europe/Berlin');
  const { run } = await openSandbox();
  const folder = join(emptyHome(), 'dock');
  await run(`archive pull ${folder} --channel general --topic 'who has dock 4?'`);
  const line = `archive export ${folder} --fields id,time,url,timestamp,content`;
  const exported = (await run(`${line} -o csv`)).stdout.split('\n').at(-2);
  expect(exported).toMatch(/^\d+,2026-03-12T09:23:00Z,http:\S+\/near\/\d+,1773307380,<p>Ordered\.<\/p>$/);
});
