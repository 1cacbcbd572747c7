import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needs } from '../helpers/needs.ts';
import { place } from './place.ts';
import { bundleProgram, ended, startOn, type Ended, type Program } from './spawning.ts';

/** What the disks of Windows, macOS and file servers do otherwise, played on this one by test/store/odd-disk.cjs. */

let program: Program;
beforeAll(async () => {
  program = await bundleProgram();
});
afterAll(() => program.remove());

const runOn = (disk: string, ...words: string[]): Promise<Ended> => ended(startOn(disk, program, ...words));

test.each([
  ['loose', 'no lock can be kept in FOLDER: its file system lets two processes make the same file'],
  ['no-link=ENOTSUP', 'cannot make the lock FOLDER/x.lock: refused by the test'],
])('a folder whose disk gives a name twice, or has no hard links, is refused: %s', async (disk, said) => {
  const { folder } = place();
  const { stdout } = await runOn(disk, 'try', folder);
  expect(stdout).toBe(`Failure: ${said.replaceAll('FOLDER', folder)}`);
  expect(readdirSync(folder).filter((name) => name.startsWith('x.lock'))).toEqual([]);
});

test.each([
  ['windows held=4', '', '1'],
  ['held=4', '3 cannot write FILE: refused by the test', '1'],
  ['windows held=Infinity', '7 cannot write FILE: another program has it open, or it is write-protected', '2'],
])(
  'a file that another program has open for a moment is written all the same on Windows: %s',
  needs('posix'),
  async (disk, said, left) => {
    const { folder } = place();
    const { stdout, stderr } = await runOn(disk, 'rewrite', folder, '2');
    const file = join(folder, 'whole');
    expect([stdout, stderr]).toEqual([said.replace('FILE', file), '']);
    expect(readFileSync(file, 'utf8')).toBe(said.startsWith('3') ? '2' : left);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  },
);

test('a lock that cannot be removed on Windows is called that', needs('posix'), async () => {
  const { folder } = place();
  const said = `cannot remove ${join(folder, 'x.lock')}: another program has it open, or it is write-protected`;
  expect((await runOn('windows kept=x.lock', 'try', folder)).stdout).toBe(`takenFailure: ${said}`);
});

test('the data of a sandbox whose last line was cut are read to the line before', async () => {
  const { folder } = place();
  await runOn('append-only', 'log', folder, 'a', '1');
  const log = join(folder, 'sandbox.ndjson');
  writeFileSync(log, `${readFileSync(log, 'utf8')}{"by":"b","st`);
  expect(await runOn('append-only', 'log', folder, 'c', '1')).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(log, 'utf8').split('\n').slice(1)).toEqual(['{"by":"a","step":0}', '{"by":"c","step":0}', '']);
  writeFileSync(log, '{"log":"01');
  expect(await runOn('append-only', 'log', folder, 'd', '1')).toMatchObject({ code: 0, stderr: '' });
});
