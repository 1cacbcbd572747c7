import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyHome, openSandbox } from '../helpers/run.ts';
import { inZone } from '../helpers/zone.ts';

test('--csv-safe is for people: local times without a zone, and messages as text', async () => {
  inZone('Europe/Berlin');
  const { run } = await openSandbox();
  const line =
    "messages fetch --channel general --topic 'who has dock 4?' --limit 1 -o csv --fields id,timestamp,content,time";
  const safe = (await run(`${line} --csv-safe`)).stdout.split('\r\n');
  expect(safe[1]).toMatch(/^\d+,2026-03-12 10:23,Ordered\.,2026-03-12 10:23$/);
  const plain = (await run(line)).stdout.split('\n');
  expect(plain[1]).toMatch(/^\d+,1773307380,<p>Ordered\.<\/p>,2026-03-12T09:23:00Z$/);
});

test('--csv-safe has the times of licenses too, and keys and numbers as they are', async () => {
  inZone('Europe/Berlin');
  const { run } = await openSandbox();
  const line = 'license list --remote-user clinic-north/ward-3 -o csv --no-header --csv-safe=semicolon';
  expect((await run(line)).stdout).toBe(
    '\uFEFF0191A-86552-95939-DF69B;clinic-north/ward-3;4711;6;2026-01-14 10:20\r\n',
  );
});

test('archive export has the fields of messages fetch, and --csv-safe as it does', async () => {
  inZone('Europe/Berlin');
  const { run } = await openSandbox();
  const folder = join(emptyHome(), 'dock');
  await run(`archive pull ${folder} --channel general --topic 'who has dock 4?'`);
  const line = `archive export ${folder} -o csv --fields id,time,url,timestamp,content`;
  const last = (text: string, end: string) => text.split(end).at(-2);
  const exported = last((await run(line)).stdout, '\n');
  expect(exported).toMatch(/^\d+,2026-03-12T09:23:00Z,http:\S+\/near\/\d+,1773307380,<p>Ordered\.<\/p>$/);
  const safe = last((await run(`${line} --csv-safe`)).stdout, '\r\n');
  expect(safe).toMatch(/^\d+,2026-03-12 10:23,http:\S+\/near\/\d+,2026-03-12 10:23,Ordered\.?/);
});
