import { readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFile } from '../../../src/store/lock/own-requests.ts';
import { place } from '../place.ts';

test('after a line that could not be written nothing is appended: it may be cut', async () => {
  const base = join(place().folder, 'app');
  const path = `${base}.token.requests`;
  const own = ownFile(base, { pid: 1, token: 'token', host: 'here' }, 1000, () => 0);
  await own.hold(1, ['ada'], []);
  const before = readFileSync(path, 'utf8');
  renameSync(path, `${path}.away`);
  const freed = [{ event: 'freed', users: ['ada'] }] as const;
  await expect(own.append(freed)).rejects.toMatchObject({ kind: 'config' });
  renameSync(`${path}.away`, path);

  await expect(own.append(freed)).rejects.toMatchObject({ kind: 'config' });
  expect(readFileSync(path, 'utf8')).toBe(before);
});
