import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fingerprintsOf } from '../../../src/core/fingerprints.ts';
import { openClaims, type Claims } from '../../../src/store/lock/claims.ts';
import { endProcess } from '../../helpers/end-process.ts';
import { failureOf, place, type Place } from '../place.ts';

const home = ({ folder }: Place): string => join(folder, 'home');

/** Claims of a run that gives up as soon as it would have to wait. */
async function openAt(world: Place, job: string): Promise<Claims> {
  const run = new AbortController();
  const note = (text: string): void => run.abort(new Error(text));
  return openClaims('https://here.test 7', world, { job, signal: run.signal, note });
}

function fileOf(world: Place): string {
  const folder = join(home(world), '.local/state/chatelaine/locks');
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.claims'));
  return join(folder, name ?? 'none');
}

const users = (...names: string[]) => fingerprintsOf(names);

test('what a living process claimed is not to be had until it is given back', async () => {
  const world = place();
  const [one, other] = [await openAt(world, 'one'), await openAt(world, 'other')];
  expect([...(await one.take(users('ada', 'ben', 'cy')))]).toEqual([]);
  expect([...(await other.take(users('dora')))]).toEqual([]);
  await one.free(users('ben'));
  expect([...(await other.take(users('ben')))]).toEqual([]);
  await expect(other.take(users('dora', 'cy'))).rejects.toThrow(
    `waiting for process ${process.pid}, which is at work on the same licenses`,
  );
});

test('what a dead process left tells its job, once', async () => {
  const world = place();
  await (await openAt(world, 'first')).take(users('ada', 'ben'));
  endProcess(home(world));
  const next = await openAt(world, 'next');
  expect([...(await next.take(users('cy')))]).toEqual([]);
  expect([...(await next.take(users('ada', 'cy')))]).toEqual(['first']);
  expect([...(await (await openAt(world, 'last')).take(users('ben')))]).toEqual(['first']);
});

test('the file tells nobody who the users are, and each takes eight bytes', async () => {
  const world = place();
  const names = Array.from({ length: 1000 }, (_, index) => `user-${index}`);
  await (await openAt(world, 'many')).take(fingerprintsOf(names));
  const bytes = readFileSync(fileOf(world));
  expect(bytes.length - bytes.indexOf('\n') - 1).toBe(8000);
  expect(bytes.includes('user-')).toBe(false);
});

test.each([
  ['cut', (file: string) => truncateSync(file, readFileSync(file).length - 8)],
  ['cut within a number', (file: string) => truncateSync(file, readFileSync(file).length - 3)],
  ['followed by something', (file: string) => writeFileSync(file, Buffer.alloc(8), { flag: 'a' })],
  ['of another kind', (file: string) => writeFileSync(file, 'hello\n')],
])('a file that is %s is told, with the way out', async (_what, damage) => {
  const world = place();
  await (await openAt(world, 'one')).take(users('ada', 'ben'));
  const file = fileOf(world);
  damage(file);
  const next = await openAt(world, 'next');
  expect(await failureOf(() => next.take(users('cy')))).toEqual({
    kind: 'config',
    message: `the file of claims ${file} is damaged`,
    hint: `Make sure that no chatelaine runs, and remove it: rm '${file}'`,
  });
});
