import { expect, test } from 'vitest';
import { openSandbox } from '../helpers/run.ts';

interface Row {
  readonly check: string;
  readonly subject: string;
  readonly status: string;
  readonly detail: string;
  readonly advice: string | null;
}

const wrongKey = { CHATELAINE_API_KEY: 'wrong' };
const wrongChatKey = { CHATELAINE_CHAT_API_KEY: 'wrong' };

test.each([
  { what: 'one refused key', env: wrongKey, counted: /1 problem found: the licensing API refused/ },
  { what: 'two refused keys', env: { ...wrongKey, ...wrongChatKey }, counted: /2 problems found: / },
])('$what: every check is shown, the problems are counted, and the exit code is that of the first', async (given) => {
  const { run } = await openSandbox();

  const { exitCode, stdout, error } = await run('doctor -o json', { env: given.env });

  const rows = JSON.parse(stdout) as Row[];
  const refused = rows.filter(({ status }) => status === 'problem').map(({ check }) => check);
  expect(exitCode).toBe(4);
  expect(error?.message).toMatch(given.counted);
  expect(refused).toEqual(Object.keys(given.env).map(() => 'credential'));
  expect(rows.filter(({ check, status }) => check === 'network' && status === 'ok')).toHaveLength(2);
});

test('a server that cannot be reached is not asked for its credential', async () => {
  const { run } = await openSandbox();

  const { exitCode, stdout } = await run('doctor -o json', { env: { CHATELAINE_BASE_URL: 'http://127.0.0.1:1' } });

  const licensing = (JSON.parse(stdout) as Row[]).filter(
    ({ subject }) => subject === 'environment licensing' || subject === '127.0.0.1:1',
  );
  expect(exitCode).toBe(7);
  expect(licensing.map(({ check, status }) => ({ check, status }))).toEqual([
    { check: 'key', status: 'ok' },
    { check: 'network', status: 'problem' },
  ]);
});

test('a clock that differs from the server by more than two minutes is a note with what to do', async () => {
  const { run } = await openSandbox();

  const { exitCode, stdout } = await run('doctor -o json', { now: Date.now() - 180_000 });

  const clocks = (JSON.parse(stdout) as Row[]).filter(({ check }) => check === 'clock');
  expect(exitCode).toBe(0);
  expect(clocks.map(({ status, advice }) => ({ status, advice }))).toEqual([
    { status: 'note', advice: 'Set the clock of this machine.' },
    { status: 'note', advice: 'Set the clock of this machine.' },
  ]);
  for (const { detail } of clocks) expect(detail).toMatch(/^1[78]\d(\.\d)?s behind the server$/);
});
