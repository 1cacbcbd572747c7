import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commandTable, nouns } from '../../src/commands/index.ts';
import { groupsOf, wrap } from '../../src/cli/help.ts';
import { fakeService, run } from '../helpers/run.ts';

const folder = new URL('../golden/help/', import.meta.url);
const lines = ['', ...new Set([...Object.keys(nouns), ...commandTable.map(({ name }) => name)])];
const fileOf = (line: string): string =>
  `${['chatelaine', ...line.split(' ')].filter((word) => word !== '').join('-')}.txt`;

test('there is a text for every line, and no other', () => {
  expect(readdirSync(folder).sort()).toEqual(lines.map(fileOf).sort());
});

describe.each(lines)('chatelaine %s --help', (line) => {
  test('is the text that was read and found good', async () => {
    const { exitCode, stdout, stderr } = await run(fakeService(), `${line} --help`, { bare: true });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await expect(stdout).toMatchFileSnapshot(new URL(fileOf(line), folder).pathname);
  });

  test('fits 80 columns', async () => {
    const { stdout } = await run(fakeService(), `${line} --help`, { bare: true });

    const long = stdout.split('\n').filter((text) => text.length > 80);
    expect(long).toEqual([]);
  });

  test('fits a narrow terminal', async () => {
    const { stdout } = await run(fakeService(), `${line} --help`, { bare: true, tty: true, columns: 48 });

    // A command that is copied has no line end inside a word.
    const long = stdout.split('\n').filter((text) => text.length > 48 && !text.startsWith('  chatelaine '));
    expect(long).toEqual([]);
  });

  test('is the same behind `help` and behind -h', async () => {
    const [long, short, word] = await Promise.all(
      [`${line} --help`, `${line} -h`, `help ${line}`].map((text) => run(fakeService(), text, { bare: true })),
    );

    expect(short?.stdout).toBe(long?.stdout);
    expect(word?.stdout).toBe(long?.stdout);
  });
});

test.each(commandTable.map(({ name, summary, load }) => ({ name, summary, load })))(
  '$name says the same of itself in the table and in its definition, and shows an example',
  async ({ name, summary, load }) => {
    const command = await load();

    expect({ name: command.name, summary: command.summary }).toEqual({ name, summary });
    expect(command.examples.length).toBeGreaterThan(0);
  },
);

test.each(['', 'license', 'auth'])('`chatelaine %s` alone shows help', async (line) => {
  const [alone, asked] = await Promise.all(
    [line, `${line} --help`].map((text) => run(fakeService(), text, { bare: true })),
  );

  expect(alone).toMatchObject({ exitCode: 0, stdout: asked?.stdout, stderr: '' });
});

test.each([
  ['license create --frob', 'See chatelaine license create --help.'],
  ['--sandbox license create --frob', 'See chatelaine license create --help.'],
  ['license create --remote-user', 'See chatelaine license create --help.'],
  ['first-activation --zzzzzz', 'See chatelaine first-activation --help.'],
  ['license --frob', 'See chatelaine license --help.'],
  ['license creat', 'Did you mean create?'],
  ['license list --remote-usr ada', 'Did you mean --remote-user?'],
  ['--frob', 'See chatelaine --help.'],
])('a mistake in `chatelaine %s` points to the help of that place', async (line, hint) => {
  const { exitCode, lines } = await run(fakeService(), line, { bare: true });

  expect({ exitCode, hint: lines.at(-1) }).toEqual({ exitCode: 2, hint });
});

test('every command is in one group of the program’s help', () => {
  const grouped = groupsOf(commandTable).flatMap(({ entries }) => entries.map(({ name }) => name));

  expect(grouped.sort()).toEqual(commandTable.map(({ name }) => name).sort());
});

test('a word that is longer than the line has a line of its own', () => {
  expect(wrap('a bb cccccc d', 4)).toEqual(['a bb', 'cccccc', 'd']);
});
