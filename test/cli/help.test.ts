import { describe, expect, test } from 'vitest';
import { guideTexts } from '../../scripts/manual/pages.ts';
import { groupsOf } from '../../scripts/manual/tables.ts';
import { argumentEntries, helpWidth, optionEntries, optionsHelp, textOptions } from '../../src/cli/help.ts';
import { wrap } from '../../src/output/plain.ts';
import { commandTable, nouns } from '../../src/commands/index.ts';
import { failures } from '../../src/core/failure.ts';
import { globalOptions, twinsOf } from '../../src/commands/environment.ts';
import { flagOf } from '../../src/schema/field.ts';
import { expectGolden } from '../helpers/golden.ts';
import { fakeService, run } from '../helpers/run.ts';

const lines = ['', ...new Set([...Object.keys(nouns), ...commandTable.map(({ name }) => name)])];

/** One of each kind; what the others say is checked by rules, and the surface is in test/golden/surface.txt. */
test('the commands fit one screen, and what all of them share is behind `help options`', async () => {
  const { stdout } = await run(fakeService(), '--help', { bare: true });
  expect(stdout.split('\n').length - 1).toBeLessThanOrEqual(24);
  for (const { name } of commandTable) expect(stdout).toMatch(new RegExp(`\\b${name.split(' ')[0] ?? ''}\\b`));
  const [, named = ''] = /^guides +help ([^]*)$/m.exec(stdout.replace(/\n +/g, ' ')) ?? [];
  const texts = await guideTexts();
  expect(
    named
      .trim()
      .split(', ')
      .filter((guide) => texts[guide] === undefined),
  ).toEqual([]);

  const options = await run(fakeService(), 'help options', { bare: true });
  await expectGolden(options.stdout, 'test/golden/help/chatelaine-help-options.txt');
});

test('help is 40 to 80 columns wide, and a text is beside its term where it has 30 of them', () => {
  expect([undefined, 39, 40, 41, 79, 80, 81].map(helpWidth)).toEqual([80, 40, 40, 41, 79, 80, 80]);
  expect([57, 58].map((width) => /^ {2}-h, --help +Show help$/m.test(optionsHelp(width)))).toEqual([false, true]);
});

test('the options that no variable sets are those that help options names', async () => {
  const { stdout } = await run(fakeService(), 'help options', { bare: true });

  const [, named = ''] = /, except (.*?)\./.exec(stdout.replace(/\s+/g, ' ')) ?? [];
  const typedAlone = Object.entries(globalOptions).filter(([name, field]) => twinsOf(name, field).length === 0);
  expect(named).toBe(typedAlone.map(([name]) => `--${name}`).join(' and '));
});

test.each(['', 'license', 'license apply'])('chatelaine %s --help looks as it was found good', async (line) => {
  const { stdout } = await run(fakeService(), `${line} --help`, { bare: true });

  await expectGolden(stdout, `test/golden/help/${['chatelaine', ...line.split(' ')].filter(Boolean).join('-')}.txt`);
});

describe.each(lines)('chatelaine %s --help', (line) => {
  test('is all that is printed', async () => {
    const { exitCode, stdout, stderr } = await run(fakeService(), `${line} --help`, { bare: true });

    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(line === '' ? /^[A-Z]/ : /^[A-Z][^]*\n\nUsage:\n {2}chatelaine [^]*\n$/);
  });

  test('fits 80 columns', async () => {
    const { stdout } = await run(fakeService(), `${line} --help`, { bare: true });

    const long = stdout.split('\n').filter((text) => text.length > 80);
    expect(long).toEqual([]);
  });

  test('fits a narrow terminal', async () => {
    const { stdout } = await run(fakeService(), `${line} --help`, { bare: true, tty: true, columns: 48 });

    // A command that is copied has no line end inside a word.
    const long = stdout.split('\n').filter((text) => text.length > 48 && !/^ *chatelaine /.test(text));
    expect(long).toEqual([]);
  });

  test('is the same behind `help` and behind -h', async () => {
    const [long, short, word] = await Promise.all(
      [`${line} --help`, `${line} -h`, `help ${line}`].map((text) => run(fakeService(), text, { bare: true })),
    );

    expect([short?.stdout, word?.stdout]).toEqual([long?.stdout, long?.stdout]);
  });
});

test.each(commandTable)('$name shows an example', async ({ load }) => {
  const { examples } = await load();
  expect(examples.length).toBeGreaterThan(0);
});

test.each(commandTable)(
  '$name --help shows arguments, options, paragraphs and three examples',
  async ({ name, load }) => {
    const { args = {}, options = {}, about = [], examples, summary } = await load();
    const words = wordsOf((await run(fakeService(), `${name} --help`, { bare: true })).stdout);

    const all = Object.entries(options).filter(([, { see }]) => see === undefined);
    const own = all.filter(([, { rare }]) => rare === undefined);
    const entries = [...argumentEntries(args), ...optionEntries(Object.fromEntries(own))];
    const lines = entries.map(({ term, text }) => `${term} ${text}`);
    for (const text of [summary, ...lines, ...about, ...examples.slice(0, 3)])
      expect.soft(words).toContain(wordsOf(text));
  },
);

test('license apply --help fits on two screens of 24 lines', async () => {
  const { stdout } = await run(fakeService(), 'license apply --help', { bare: true });
  expect(stdout.split('\n').length - 1).toBeLessThanOrEqual(48);
});

test('an option that few need has its name in help, and its text in the guide that help names', async () => {
  const guides = await guideTexts();
  const commands = await Promise.all(commandTable.map(async ({ load }) => load()));
  const rows = commands.flatMap(({ name, options = {} }) =>
    Object.entries(options).flatMap(([option, field]) => (field.rare && !field.see ? [{ name, option, field }] : [])),
  );
  for (const { name, option, field } of rows) {
    const { stdout } = await run(fakeService(), `${name} --help`, { bare: true });
    const paragraph = stdout.split('Less common options:\n')[1]?.split('\n\n')[0] ?? '';
    expect
      .soft(wordsOf(paragraph))
      .toMatch(new RegExp(`--${flagOf(option, field)}[^:]*: chatelaine help ${field.rare}`));
    expect.soft(wordsOf(guides[field.rare ?? ''] ?? '')).toContain(wordsOf(field.help));
  }
  expect(rows.length).toBeGreaterThan(20);
});

test('archive pull --help names what it shares with messages fetch, and explains the rest: below 60 lines', async () => {
  const { stdout } = await run(fakeService(), 'archive pull --help', { bare: true });
  expect(stdout).toContain('Options of messages fetch:\n  --channel, --topic, --sender, --dm, --search,');
  expect(stdout.split('\n').length).toBeLessThan(60);
});

test('the program’s help shows each option and exit code', async () => {
  const texts = await Promise.all(['--help', 'help options'].map((line) => run(fakeService(), line, { bare: true })));
  const words = wordsOf(texts.map(({ stdout }) => stdout).join('\n'));

  const entries = [...optionEntries(globalOptions), ...textOptions].map(({ term, text }) => `${term} ${text}`);
  for (const text of entries) expect.soft(words).toContain(wordsOf(text));
  for (const { exit } of Object.values(failures)) expect.soft(words).toMatch(new RegExp(`Exit codes:.* ${exit} `));
});

test.each(Object.entries(nouns))('%s --help shows its commands', async (noun, summary) => {
  const words = wordsOf((await run(fakeService(), `${noun} --help`, { bare: true })).stdout);

  const own = commandTable.filter(({ name }) => name.startsWith(`${noun} `));
  for (const { name, summary } of own) expect.soft(words).toContain(wordsOf(`${name} ${summary}`));
  if (!commandTable.some(({ name }) => name === noun)) expect(words).toContain(summary);
});

/** Without the line ends and the `\` that filling put there. */
function wordsOf(text: string): string {
  return text.replace(/ \\\n/g, '\n').replace(/\s+/g, ' ');
}

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

  expect({ exitCode, hint: lines.at(-1) }).toEqual({ exitCode: 2, hint: `hint: ${hint}` });
});

test('every command is in one group of the program’s help', () => {
  const grouped = groupsOf(commandTable).flatMap(({ entries }) => entries.map(({ name }) => name));

  expect(grouped.sort()).toEqual(commandTable.map(({ name }) => name).sort());
});

test('a word that is longer than the line has a line of its own', () => {
  expect(wrap('a bb cccccc d', 4)).toEqual(['a bb', 'cccccc', 'd']);
});
