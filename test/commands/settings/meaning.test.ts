import { expect, test } from 'vitest';
import { openSandbox } from '../../helpers/run.ts';

test.each([
  ['enable_sounds=off', 'false'],
  ['enable_sounds=ON', 'true'],
  ['enter_sends=yes', 'true'],
  ['enter_sends=No', 'false'],
  ['email_notifications_batching_period_seconds=5m', '300'],
  ['email_notifications_batching_period_seconds=300', '300'],
  ['default_language=German', 'de'],
  ['default_language=deutsch', 'de'],
  ['default_language=pt-br', 'pt-br'],
])('settings set %s says back the value that is sent: %s', async (word, value) => {
  const { run } = await openSandbox();

  const { exitCode, stdout } = await run(`settings set ${word} --fields value --no-header`);

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${value}\n` });
});

test.each([
  ['email_notifications_batching_period_seconds=1500ms', /not a whole number of seconds/],
  ['email_notifications_batching_period_seconds=5x', /is not a duration/],
  ['enable_sounds=maybe', /is not a boolean/],
])('settings set %s is exit 2', async (word, message) => {
  const { run } = await openSandbox();

  const { exitCode, stderr } = await run(`settings set ${word}`);

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(message);
});
