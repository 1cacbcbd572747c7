import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commandTable } from '../../src/commands/index.ts';
import { failures } from '../../src/core/failure.ts';
import { faultKinds } from '../../src/sandbox/fault-kinds.ts';
import { globalOptions } from '../../src/schema/environment.ts';
import { flagOf, type Field } from '../../src/schema/field.ts';
import { settings } from '../../src/schema/settings.ts';
import { manualFiles } from '../../src/cli/man.ts';
import { writePage } from '../../src/cli/manual/roff.ts';

const { version, man } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string; man: string[] };
/** The day on which the pages of this version were read; today's would make them stale every midnight. */
const date = '2026-11-21';
const committed = readdirSync('man').sort();
const pages = await manualFiles(commandTable, { version, date });

test('there is a page for the program and each command, and no other, and the package lists them', async () => {
  expect(committed).toEqual(pages.map(({ file }) => file).sort());
  await expect(`${committed.join('\n')}\n`).toMatchFileSnapshot('../golden/man.txt');
  expect(man).toEqual(committed.map((file) => `man/${file}`));
});

describe.each(pages)('$file', ({ file, text }) => {
  test('is the file in man/', async () => {
    await expect(text).toMatchFileSnapshot(`../../man/${file}`);
  });

  test.runIf(has('mandoc'))('has nothing that mandoc warns of', () => {
    expect(messages('mandoc', ['-T', 'lint', '-W', 'warning'], text)).toBe('');
  });

  test.runIf(has('groff'))('has nothing that groff warns of', () => {
    expect(messages('groff', ['-ww', '-man', '-T', 'utf8', '-K', 'utf8'], text)).toBe('');
  });
});

describe.runIf(has('mandoc'))('what a reader sees', () => {
  const read = (name: string): string => rendered(pages.find(({ file }) => file === name)?.text ?? '');

  test('the program’s page tells every exit code, option and command', () => {
    const page = read('chatelaine.1');
    const codes = Object.values(failures).map(({ exit }) => new RegExp(`^ {7}${exit}\\b`, 'm'));
    const flags = Object.entries<Field>(globalOptions).map(([name, field]) => flagOf(name, field));
    for (const code of codes) expect(page).toMatch(code);
    for (const flag of flags) expect(page).toMatch(new RegExp(`--(\\[no-\\])?${flag}\\b`));
    for (const { name } of commandTable) expect(page).toContain(`chatelaine ${name}`);
  });

  test('the page of settings tells every setting, and that of the sandbox every fault', () => {
    const names = (page: string): string[] => [...read(page).matchAll(/^ {7}(\S+)/gm)].map(([, name = '']) => name);
    expect(names('chatelaine-settings-set.1')).toEqual(expect.arrayContaining(Object.keys(settings)));
    expect(names('chatelaine-sandbox-serve.1')).toEqual(expect.arrayContaining(Object.keys(faultKinds)));
  });

  test.each(commandTable)('the examples of $name can be copied as they are typed', async ({ name, load }) => {
    const page = read(`chatelaine-${name.replaceAll(' ', '-')}.1`);
    for (const example of (await load()).examples) expect(page).toContain(example);
  });
});

test('signs of roff, typography and other alphabets come through', () => {
  const text = `.dot 'quote' "double" \\ back-slash \`tick\` ^ ~ é`;
  const page = writePage(
    {
      section: 1,
      name: 'x',
      summary: 'a - b',
      chapters: [{ title: 'A "B"', blocks: [{ text }, { lines: ["'first", '.second'] }] }],
    },
    { version: '1', date },
  );

  expect(page.split('\n').slice(6)).toEqual([
    '.SH "A \\(dqB\\(dq"',
    '\\&.dot \\(aqquote\\(aq "double" \\e back\\-slash \\(gatick\\(ga \\(ha \\(ti \\[u00E9]',
    '.PP',
    '.nf',
    '\\(aqfirst',
    '\\&.second',
    '.fi',
    '',
  ]);
});

function has(program: string): boolean {
  return spawnSync(program, ['-v'], { stdio: 'ignore' }).error === undefined;
}

function messages(program: string, args: readonly string[], text: string): string {
  const { stdout, stderr } = spawnSync(program, args, { input: text, encoding: 'utf8' });
  return program === 'mandoc' ? stdout + stderr : stderr;
}

function rendered(text: string): string {
  const { stdout } = spawnSync('mandoc', ['-T', 'utf8', '-O', 'width=200'], { input: text, encoding: 'utf8' });
  // Bold and underlined letters are overstruck.
  return stdout.replace(/.\u0008/g, '');
}
