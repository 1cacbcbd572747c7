import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openHistory } from '../../../src/store/record/history.ts';
import { sleptClock } from '../../helpers/clock.ts';
import { needs } from '../../helpers/needs.ts';
import { place } from '../place.ts';

test('on Windows the lines of one process wait for the lock together', needs('posix'), async () => {
  const { folder, system: usual } = place();
  // No folder of the computer alone, so that no pipe of Windows is asked for.
  const local = join(folder, 'file');
  writeFileSync(local, '');
  // A path of Windows is the name of a folder here.
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  const system = { ...usual, env: { XDG_STATE_HOME: 'C:\\state' }, platform: 'win32' as const, local };
  const clock = sleptClock(Date.UTC(2026, 2, 1, 12));
  const append = openHistory({ run: 'ABCD', command: 'license apply' }, { system, clock });
  const tell = () => Promise.resolve();
  const created = (user: number): Promise<void> =>
    append(
      { origin: 'licenses.test' },
      { event: 'created', app_code: 7, remote_user: `u${user}`, size_allowance: 3 },
      tell,
    );

  await Promise.all(Array.from({ length: 500 }, (_, user) => created(user)));

  const lines = readFileSync('C:\\state\\chatelaine/history-2026.ndjson', 'utf8').trimEnd().split('\n');
  const users = lines.map((line) => (JSON.parse(line) as { remote_user: string }).remote_user);
  expect(users).toEqual(Array.from({ length: 500 }, (_, user) => `u${user}`));
  expect(clock.slept.length).toBeLessThan(10);
});
