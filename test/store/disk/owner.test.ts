import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { liveOwner, remedy, thisOwner, type Owner } from '../../../src/store/disk/owner.ts';
import { place } from '../place.ts';
import { needs } from '../../helpers/needs.ts';

/** No system gives out a number like this. */
const nobody = 999_999_999;
const linux = { boot: 'b1', space: 'pid:[1]' };
const start =
  (existsSync('/proc/self/stat') ? readFileSync('/proc/self/stat', 'utf8') : '').split(') ').at(-1)?.split(' ')[19] ??
  '';

type Row = readonly [what: string, owner: Partial<Owner>, me: Partial<Owner>, expected: 'gone' | 'running' | 'unseen'];

/**
 * The table of docs/exactly-once.md, Owners. `here: 'present'` becomes a path that exists, any other one that does not.
 */
const rows: readonly Row[] = [
  ['a lock that a power failure cut', { pid: 0 }, linux, 'gone'],
  ['same boot and namespace, living', { ...linux, start }, linux, 'running'],
  ['same boot and namespace, its id is free', { ...linux, start, pid: nobody }, linux, 'gone'],
  ['same boot and namespace, its id is that of a later process', { ...linux, start: '1' }, linux, 'gone'],
  ['same boot, renamed host', { ...linux, start, host: 'far' }, linux, 'running'],
  ['same boot, other namespace', { ...linux, start, pid: nobody }, { ...linux, space: 'pid:[2]' }, 'unseen'],
  ['other boot, path present', { ...linux, start, here: 'present' }, { ...linux, boot: 'b2' }, 'gone'],
  [
    'other boot, path present, other name',
    { ...linux, here: 'present', host: 'far' },
    { ...linux, boot: 'b2' },
    'unseen',
  ],
  ['other boot, no path', { ...linux, here: 'absent' }, { ...linux, boot: 'b2' }, 'unseen'],
  ['other boot, of a version without paths', linux, { ...linux, boot: 'b2' }, 'unseen'],
  ['one of two without /proc, path present', { here: 'present', pid: nobody }, linux, 'unseen'],
  ['the other of two without /proc, path present', { ...linux, here: 'present', pid: nobody }, {}, 'unseen'],
  ['both without /proc, path present, living', { here: 'present' }, {}, 'unseen'],
  ['both without /proc, path present, its id is free', { here: 'present', pid: nobody }, {}, 'gone'],
  ['both without /proc, path present, renamed host', { here: 'present', pid: nobody, host: 'far' }, {}, 'gone'],
  ['both without /proc, no path, same name', { here: 'absent', pid: nobody }, {}, 'unseen'],
  ['both without /proc, of a version without paths', { pid: nobody }, {}, 'unseen'],
];

test.each(rows)('%s', needs('proc'), async (_what, owner, me, expected) => {
  const { folder, system } = place();
  writeFileSync(join(folder, 'present'), '');
  const common = { pid: process.pid, token: 'a', host: system.hostname };
  const here = owner.here === undefined ? {} : { here: join(folder, owner.here) };
  const found = await liveOwner({ ...common, ...owner, ...here }, { ...common, ...me }, system);
  expect(found === undefined ? 'gone' : found.isSeen ? 'running' : 'unseen').toBe(expected);
});

test('an owner that is not seen is named with its computer and with the file to remove', needs('shell'), async () => {
  const { system } = place();
  const me = await thisOwner(system);
  const far = await liveOwner({ pid: 7, token: 'a', host: 'far' }, me, system);
  expect(far).toEqual({ name: 'process 7 on far', isSeen: false });
  expect(far && remedy(far, "/x/Ada's")).toBe(
    String.raw`Whether it still runs cannot be seen from here; once it has ended, remove what it left: rm '/x/Ada'\''s'`,
  );
  expect((await liveOwner({ pid: 7, token: 'a' }, me, system))?.name).toBe('process 7 on an unknown computer');
});

test('processes of one computer recognize it by the same path, those of another do not have it', async () => {
  const [one, other] = [place(), place()];
  const first = await thisOwner(one.system);
  expect((await thisOwner(one.system)).here).toBe(first.here);
  expect((await thisOwner(other.system)).here).not.toBe(first.here);
  expect(readFileSync(first.here ?? '', 'utf8')).toBe('');
});

test('where no file can be made, an owner has no path', async () => {
  const { system, folder } = place();
  writeFileSync(join(folder, 'file'), '');
  expect(await thisOwner({ ...system, local: join(folder, 'file') })).not.toHaveProperty('here');
});
