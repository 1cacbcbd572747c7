import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSandboxLog, resetSandboxLog, type SandboxLog } from '../../src/store/sandbox-log.ts';
import { needs } from '../helpers/needs.ts';
import { failureOf, place } from './place.ts';
import { bundleProgram, ended, start, type Program } from './spawning.ts';

function at(): { path: string; open: () => Promise<SandboxLog>; reset: () => Promise<void> } {
  const host = place();
  const path = join(host.folder, 'state/sandbox.ndjson');
  return { path, open: () => openSandboxLog(path, host), reset: () => resetSandboxLog(path, host) };
}

const read = (log: SandboxLog): Promise<readonly unknown[]> =>
  log.exclusively(({ records }) => Promise.resolve(records));
const append = (log: SandboxLog, record: unknown): Promise<readonly unknown[]> =>
  log.exclusively(async ({ records, append }) => {
    await append(record);
    return records;
  });

test('each handle reads what others appended, once, and never its own', async () => {
  const { open } = at();
  const [one, other] = [await open(), await open()];
  expect(await read(one)).toEqual([]);
  await append(one, { n: 1 });
  expect(await append(other, { n: 2 })).toEqual([{ n: 1 }]);
  expect(await read(one)).toEqual([{ n: 2 }]);
  expect(await read(one)).toEqual([]);
  expect(await read(other)).toEqual([]);
  await append(one, { n: 3n ** 50n });
  expect(await read(other)).toEqual([{ n: 3n ** 50n }]);
  expect(await read(await open())).toEqual([{ n: 1 }, { n: 2 }, { n: 3n ** 50n }]);
});

test('one piece of work at a time', async () => {
  const { open } = at();
  const [one, other] = [await open(), await open()];
  let inside = 0;
  const most: number[] = [];
  const work = async (): Promise<void> => {
    inside += 1;
    most.push(inside);
    await new Promise((resolve) => setTimeout(resolve, 1));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).exclusively(work)));
  expect(most).toEqual(Array(20).fill(1));
});

test('work that throws lets the next one in', async () => {
  const log = await at().open();
  await expect(log.exclusively(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await read(log)).toEqual([]);
});

test('the file is 0600, and a cut last line is dropped', needs('modes'), async () => {
  const { path, open } = at();
  const [one, other] = [await open(), await open()];
  await append(one, { n: 1 });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  appendFileSync(path, '{"n":');
  expect(await read(other)).toEqual([{ n: 1 }]);
  await append(one, { n: 2 });
  expect(await read(other)).toEqual([{ n: 2 }]);
  expect(readFileSync(path, 'utf8')).toMatch(/^\{"log":"\w+"\}\n\{"n":1\}\n\{"n":2\}\n$/);
});

test('after a reset everybody begins again, whatever was appended since', async () => {
  const { path, open, reset } = at();
  const log = await open();
  await append(log, { old: 1 });
  await reset();
  expect(existsSync(path)).toBe(false);
  await append(await open(), { new: 'as long as the old one, or longer' });
  expect(await read(log)).toEqual([{ reset: true }, { new: 'as long as the old one, or longer' }]);
  await reset();
  await reset();
  expect(await read(log)).toEqual([{ reset: true }]);
});

test.each(['remote_user,size_allowance\nanna,3\n', 'short', '{"log":"a line of some container"}\n'])(
  'a file that is no log is refused and left as it is: %j',
  async (text) => {
    const { path, open } = at();
    const log = await open();
    writeFileSync(path, text);
    expect(await failureOf(() => append(log, 1))).toEqual({
      kind: 'config',
      message: `the sandbox's data ${path} cannot be used: it is not data of a sandbox`,
      hint: `Move it away: mv ${path} ${path}.broken`,
    });
    expect(readFileSync(path, 'utf8')).toBe(text);
  },
);

describe('many processes', () => {
  let program: Program;
  beforeAll(async () => {
    program = await bundleProgram();
  });
  afterAll(() => program.remove());

  test('lose no record', async () => {
    const host = place();
    const names = ['a', 'b', 'c'];
    const ends = await Promise.all(names.map((name) => ended(start(program, 'log', host.folder, name, '10'))));
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual(names.map(() => [0, '']));
    const records = (await read(await openSandboxLog(join(host.folder, 'sandbox.ndjson'), host))) as {
      by: string;
      step: number;
    }[];
    for (const name of names) {
      const steps = records.filter(({ by }) => by === name).map(({ step }) => step);
      expect(steps).toEqual(Array.from({ length: 10 }, (_, step) => step));
    }
  });
});
