import { existsSync, writeFileSync } from 'node:fs';
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
    const home = temporaryHome();
    const addresses = Array.from(
      { length: 400 },
      (_, index) => `D422CD${(index + 0x10_00).toString(16).padStart(6, '0')}`,
    );
    writeFileSync(join(home, 'sensors'), `${addresses.join('\n')}\n`);
    const { code, stderr } = await shell(
      `mkfifo pipe; exec 3<>pipe; ${limit} "$NODE" "$PROGRAM" first-activation --from sensors -q --log pipe`,
      { env, home },
    ).ended;
    expect(code).toBe(5);
    expect(stderr).toContain('warning: the log pipe ends here: resource temporarily unavailable\n');
  });
});

test('where no variable names the user, the history has the name that the system knows', async () => {
  const home = temporaryHome();
  await start('--sandbox license create --remote-user ada --size-allowance 3', { home }).ended;
  const { stdout } = await start('license history --jq .[].account', { home }).ended;
  expect(stdout).toBe(`${userInfo().username}\n`);
});
