import { expect, test } from 'vitest';
import { commandTable } from '../../src/commands/index.ts';
import { fakeService, openSandbox, run } from '../helpers/run.ts';

/** Words that people type for what is called otherwise, or for what the API cannot do. */
test.each([
  ['excel', 'help sheets'],
  ['roster', 'help sheets'],
  ['backup', 'help cron'],
  ['hand-over', 'help handing-over'],
  ['hold', 'topic delete --help'],
  ['leak', 'chatelaine help undo'],
  ['rotate', 'auth login --name NAME'],
  ['windows', 'docs/install.md in the repository, Windows and macOS'],
  ['whoami', 'auth status'],
  ['search', 'messages fetch --search WORDS'],
  ['topic restore', 'archive export'],
])('%s names what is meant, or why there is none', async (line, said) => {
  const { exitCode, stderr } = await run(fakeService(), line, { bare: true });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
  const commands = [...stderr.matchAll(/chatelaine (?!cannot)([a-z][a-z-]+(?: [a-z][a-z-]+)?)/g)].flatMap(
    ([, name = '']) => (name.startsWith('help') ? [] : name),
  );
  const names = commandTable.map(({ name }) => name);
  for (const name of commands)
    expect(names.some((known) => name.startsWith(known) || known.startsWith(name))).toBe(true);
});

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
