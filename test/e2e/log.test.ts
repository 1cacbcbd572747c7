import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { realTime } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';
import { openService, shell, start, temporaryHome } from './program.ts';

/** `--log` to what is no file on a disk: a log never holds a command up, and never makes it fail. */

const limit = 'timeout --signal=KILL 170s';

describe('--log to a named pipe', needs('shell'), () => {
  test('whose reader goes away is given up with a warning', needs('shell'), async () => {
    const home = temporaryHome();
    // The answer, whose line finds the pipe without a reader, waits for that.
    const sleep = async (): Promise<void> => {
      while (!existsSync(join(home, 'gone'))) await realTime.sleep(5);
    };
    const { env } = await openService({ latency: 1, clock: { ...realTime, sleep } });
    const { code, stderr } = await shell(
      `mkfifo pipe; { head -1 pipe > read; : > gone; } & ${limit} "$NODE" "$PROGRAM" license list -q --log pipe; code=$?; wait; exit $code`,
      { env, home },
    ).ended;
    expect(code).toBe(0);
    expect(stderr).toBe('warning: the log pipe ends here: broken pipe\n');
  });

  test('whose reader does not read is given up with a warning', needs('shell'), async () => {
    const { env } = await openService();
    const { code, stderr } = await shell(
      `mkfifo pipe; exec 3<>pipe; yes | head -c 64K >&3; ${limit} "$NODE" "$PROGRAM" license list -q --log pipe`,
      { env },
    ).ended;
    expect(code).toBe(0);
    expect(stderr).toContain('warning: the log pipe ends here: resource temporarily unavailable\n');
  });
});

test('where no variable names the user, the history has the name that the system knows', async () => {
  const home = temporaryHome();
  await start('--sandbox license create --remote-user ada --size-allowance 3', { home }).ended;
  const state = join(home, '.local/state/chatelaine');
  const [file = ''] = readdirSync(state).filter((name) => name.startsWith('history-'));
  expect(readFileSync(join(state, file), 'utf8')).toContain(`"account":"${userInfo().username}"`);
});
