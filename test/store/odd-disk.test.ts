import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWhole, sampleOf } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { place } from './place.ts';
import { bundleProgram, ended, printed, startOn, type Ended, type Program } from './spawning.ts';

/** What the disks of Windows, macOS and file servers do otherwise, played on this one by test/store/odd-disk.cjs. */

let program: Program;
beforeAll(async () => {
  program = await bundleProgram();
});
afterAll(() => program.remove());

const runOn = (disk: string, ...words: string[]): Promise<Ended> => ended(startOn(disk, program, ...words));

describe.each(sampleOf(1, ['EPERM', 'ENOTSUP', 'EISDIR']))('where a hard link is refused with %s', (code) => {
  const disk = `no-link=${code}`;

  test('many processes lose no step, and leave nothing behind', needs('posix'), async () => {
    const { folder } = place();
    const processes = isWhole ? 6 : 2;
    writeFileSync(join(folder, 'count'), '0');
    const ends = await Promise.all(Array.from({ length: processes }, () => runOn(disk, 'count', folder, '15')));
    expect(ends.map(({ code: exit, stderr }) => [exit, stderr])).toEqual(Array(processes).fill([0, '']));
    expect(readFileSync(join(folder, 'count'), 'utf8')).toBe(String(15 * processes));
    expect(readdirSync(folder).filter((name) => name.startsWith('x.lock'))).toEqual([]);
  });
});

test('without hard links, processes that are killed inside the lock never meet there', needs('signals'), async () => {
  const { folder } = place();
  const processes = isWhole ? 16 : 3;
  const ends = await Promise.all(Array.from({ length: processes }, () => runOn('no-link=ENOTSUP', 'die', folder)));
  expect(ends.map(({ signal, stderr }) => [signal, stderr])).toEqual(Array(processes).fill(['SIGKILL', '']));
  expect(readFileSync(join(folder, 'deaths'), 'utf8')).toHaveLength(processes);
  expect(existsSync(join(folder, 'violated'))).toBe(false);
});

test('whoever stalls before writing into a lock does not hold it once another has taken it for cut', async () => {
  const { folder } = place();
  const lock = join(folder, 'x.lock');
  const slow = startOn(`no-link=ENOTSUP stall=${join(folder, 'go')}`, program, 'hold', folder);
  await expect.poll(() => existsSync(lock)).toBe(true);
  const fast = startOn('no-link=ENOTSUP', program, 'hold', folder);
  await printed(fast, 'held');
  writeFileSync(join(folder, 'go'), '');
  const told = printed(slow, 'held').then(() => 'held');
  expect((await runOn('no-link=ENOTSUP', 'try', folder)).stdout).toContain(`process ${fast.pid}`);
  fast.kill('SIGKILL');
  expect(await told).toBe('held');
  expect(JSON.parse(readFileSync(lock, 'utf8'))).toMatchObject({ pid: slow.pid });
});

test.each(['loose', 'loose-link', 'loose no-link=ENOTSUP'])(
  'a folder whose disk gives a name twice is refused: %s',
  async (disk) => {
    const { folder } = place();
    const { stdout } = await runOn(disk, 'try', folder);
    expect(stdout).toBe(
      `Failure: no lock can be kept in ${folder}: its file system lets two processes make the same file`,
    );
    expect(readdirSync(folder).filter((name) => name.startsWith('x.lock'))).toEqual([]);
  },
);

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
