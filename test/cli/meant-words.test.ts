import { expect, test } from 'vitest';
import { commandTable } from '../../src/commands/index.ts';
import { fakeService, run } from '../helpers/run.ts';

/** Words that people type for what is called otherwise, or for what the API cannot do. */
test.each([
  ['setup', 'auth login'],
  ['tutorial', 'help scripting'],
  ['recipes', 'help scripting'],
  ['cron', 'help cron'],
  ['containers', 'help containers'],
  ['user', 'license list'],
  ['user list', 'license list'],
  ['report', 'license audit'],
  ['export', 'archive export'],
  ['import', 'license apply'],
  ['backup', 'archive pull'],
  ['license count', 'license list --count-by size_allowance'],
  ['license export', 'license list -o csv'],
  ['license import', 'license apply'],
  ['license add', 'license ensure'],
  ['license diff', 'license apply --dry-run'],
  ['channel delete', 'topic delete'],
  ['channel create', 'in the app'],
  ['topic restore', 'archive export'],
  ['topic archive', 'archive pull'],
  ['topic rename', 'in the app'],
  ['auth export', 'auth token'],
  ['auth test', 'auth status'],
  ['messages delete', 'topic delete'],
  ['messages send', 'in the app'],
  ['messages export', 'archive pull'],
  ['settings reset', 'settings set'],
  ['view add', 'in the app'],
  ['snippet add', 'in the app'],
  ['channel rename', 'in the app'],
  ['topic move', 'in the app'],
  ['topic resolve', 'in the app'],
  ['messages edit', 'in the app'],
  ['send', 'in the app'],
  ['key', 'license list'],
  ['stats', '--count-by'],
  ['sync', 'license apply'],
  ['plan', 'license apply --dry-run'],
  ['env', 'help options'],
  ['docs', 'help scripting'],
  ['license new', 'license create'],
  ['license sync', 'license apply'],
  ['settings export', 'settings get -o yaml'],
  ['archive search', 'archive export DIR -o text'],
  ['archive diff', 'archive pull DIR --recheck'],
  ['archive delete', 'archive list'],
  ['auth rotate', 'auth login --name'],
  ['ledger list', 'ledger status'],
  ['sandbox start', 'sandbox serve'],
])('%s names what is meant, or why there is none', async (line, said) => {
  const { exitCode, stderr } = await run(fakeService(), line, { bare: true });
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(said)]);
  const commands = [...stderr.matchAll(/chatelaine ([a-z][a-z-]+(?: [a-z][a-z-]+)?)/g)].flatMap(([, name = '']) =>
    name.startsWith('help') ? [] : name,
  );
  const names = commandTable.map(({ name }) => name);
  for (const name of commands)
    expect(names.some((known) => name.startsWith(known) || known.startsWith(name))).toBe(true);
});

/** All words of a question count, not the first alone. */
test.each([
  ['how to delete a topic', 'Did you mean topic delete?'],
  ['delete topics', 'Did you mean topic delete?'],
  ['list of licenses', 'Did you mean license list?'],
  ['view a license', 'Did you mean license view?'],
  ['archive adopt', 'Did you mean archive pull?'],
  ['messages since', 'Did you mean messages fetch?'],
  ['nightly cron job', 'Read: chatelaine help cron'],
  ['never two', 'Read: chatelaine help never-two'],
  ['licens', 'Did you mean license?'],
  ['xyzzy plugh', 'See chatelaine --help.'],
])('help %s: %s', async (words, hint) => {
  const { exitCode, error } = await run(fakeService(), `help ${words} -o json`, { bare: true });
  expect([exitCode, error?.hint]).toEqual([2, hint]);
});

test('the first screen names the guides', async () => {
  const { stdout } = await run(fakeService(), '--help', { bare: true });
  expect(stdout).toContain('\n  help scripting, never-two, stability, exit-codes, accessibility, containers\n');
});
