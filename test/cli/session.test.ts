import { expect, onTestFinished, test } from 'vitest';
import { readFaults } from '../../src/sandbox/faults.ts';
import { openSandbox } from '../helpers/run.ts';

test('workers that wait at the same time, more than Node expects, make no warning', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const { run } = await openSandbox({ faults: readFaults('POST *=429#16+1', 1) });
  const rows = Array.from({ length: 16 }, (_unused, index) => `many-${index},3`);
  const stdin = ['remote_user,size_allowance', ...rows].join('\n');

  const done = await run('license apply - --input-format csv --concurrency 16 -q -o json', { stdin });

  expect({ exitCode: done.exitCode, stderr: done.stderr, warnings }).toEqual({ exitCode: 0, stderr: '', warnings: [] });
});
