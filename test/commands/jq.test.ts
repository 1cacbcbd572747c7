import { expect, test } from 'vitest';
import { openSandbox } from '../helpers/run.ts';

test.each(['.[0].remote_user | test("input")', '{env: 1, input: 2} | .env', '[.[] | .input] | length'])(
  '--jq takes such words where they are names or texts: %s',
  async (expression) => {
    const { run } = await openSandbox();
    expect((await run(['license', 'list', '--jq', expression])).exitCode).toBe(0);
  },
);
