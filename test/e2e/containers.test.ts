import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../helpers/needs.ts';
import { openService, shell, temporaryHome } from './program.ts';

/**
 * Containers of one computer that share a home: each has ids of processes of its own, so that none looks up those of
 * another.
 */

const container = 'exec unshare --pid --fork --mount-proc --kill-child "$NODE" "$PROGRAM"';

test(
  'what a killed container held is free for the next one, and no user gets two licenses',
  needs('mounts'),
  async () => {
    let kill = (): void => undefined;
    let posts = 0;
    const { env, sandbox } = await openService({
      log: ({ method }) => {
        if (method === 'POST' && (posts += 1) === 5) kill();
      },
    });
    const home = temporaryHome();
    const users = Array.from({ length: 14 }, (_unused, index) => `user-${index}`);
    writeFileSync(
      join(home, 'roster.csv'),
      ['remote_user,size_allowance', ...users.map((user) => `${user},3`), ''].join('\n'),
    );
    const line = `${container} license apply roster.csv -o ndjson -q`;

    const first = shell(line, { env, home });
    kill = () => void first.child.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    const second = await shell(line, { env, home }).ended;
    // One of its users alone: no journal is in between.
    const third = await shell(`${container} license ensure --remote-user user-7 --size-allowance 3`, { env, home })
      .ended;

    expect([second.code, third.code], second.stderr + third.stderr).toEqual([0, 0]);
    expect(second.stderr).not.toContain('in use by');
    const held = sandbox.state.licenses().map(({ remote_user }) => remote_user);
    expect(users.map((user) => held.filter((one) => one === user).length)).toEqual(users.map(() => 1));
  },
);
