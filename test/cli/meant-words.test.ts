import { expect, test } from 'vitest';
import { fakeService, openSandbox, run } from '../helpers/run.ts';

test.each([
  ['topics list general', 'topic list general'],
  ['topic ls general', 'topic list general'],
  ['message fetch --limit 1', 'messages fetch --limit 1'],
  ['messages show --limit 1', 'messages fetch --limit 1'],
  ['setting show color_scheme', 'settings get color_scheme'],
  ['licenses ls', 'license list'],
  ['topic show general', 'topic list general'],
  ['snippet get', 'snippet list'],
])('%s runs as %s', async (typed, meant) => {
  const { run: sandboxed } = await openSandbox();
  const [one, other] = [await sandboxed(`${typed} -o json`), await sandboxed(`${meant} -o json`)];
  expect(one).toMatchObject({ exitCode: 0, stdout: other.stdout });
});

test.each([
  ['topics delete general lunch', 'topic delete'],
  ['licenses retire K', 'license retire'],
  ['archives pull kitchen', 'archive pull'],
])('%s would change something: exit 2, and the command is named', async (line, meant) => {
  const { exitCode, error } = await run(fakeService(), `${line} -o json`, { bare: true });
  expect([exitCode, error?.hint]).toEqual([2, `Did you mean ${meant}?`]);
});
