import { expect, test } from 'vitest';
import { openSandbox } from '../helpers/run.ts';

test('--jq selects by a variable of the environment, and cannot see our keys', async () => {
  const { run } = await openSandbox();
  const line = [
    'license',
    'list',
    '--jq',
    '.[] | select(.remote_user==$ENV.U) | .remote_user, $ENV.CHATELAINE_API_KEY',
  ];
  expect((await run(line, { env: { U: 'physio-7731' } })).stdout).toBe('physio-7731\nnull\n');
});
