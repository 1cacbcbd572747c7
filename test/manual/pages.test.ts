import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manualFiles } from '../../scripts/manual/pages.ts';
import { writePage } from '../../scripts/manual/roff.ts';
import { commandTable } from '../../src/commands/index.ts';
import { failures, nameOf } from '../../src/core/failure.ts';
import { namesIn } from '../../src/core/table-names.ts';
import { faultKinds } from '../../src/sandbox/faults.ts';
import { globalOptions } from '../../src/commands/environment.ts';
import { flagOf, type Field } from '../../src/schema/field.ts';
import { settings } from '../../src/schema/settings.ts';
import { needs } from '../helpers/needs.ts';

const pages = await manualFiles();
const names = pages.map(({ file }) => file).sort();

test('there is a page for the program and each command, and no other', () => {
  const commands = commandTable.map(({ name }) => `chatelaine-${name.replaceAll(' ', '-')}.1`);

  expect(names.filter((name) => name.endsWith('.1'))).toEqual(['chatelaine.1', ...commands].sort());
});

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-manual-'));
const paths = names.map((name) => join(folder, name));
beforeAll(() => {
  for (const { file, text } of pages) writeFileSync(join(folder, file), text);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('mandoc warns of nothing', needs('mandoc'), () => {
  const { stdout, stderr } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', ...paths], { encoding: 'utf8' });
  expect(stdout + stderr).toBe('');
});

test('groff warns of nothing', needs('groff'), () => {
  const options = ['-ww', '-man', '-T', 'utf8', '-K', 'utf8'];
  const { stderr } = spawnSync('groff', [...options, ...paths], { encoding: 'utf8', maxBuffer: Infinity });
  expect(stderr).toBe('');
});

describe('what a reader sees', needs('mandoc'), () => {
  const read = new Map<string, string>();

  beforeAll(() => {
    for (const { file, text } of pages) read.set(file, rendered(text));
  });

  test('the program’s page tells every exit code, option and command', () => {
    const page = read.get('chatelaine.1');
    const codes = Object.values(failures).map(({ exit }) => new RegExp(`^ {7}${exit}\\b`, 'm'));
    const flags = Object.entries<Field>(globalOptions).map(([name, field]) => flagOf(name, field));
    for (const code of codes) expect(page).toMatch(code);
    for (const flag of flags) expect(page).toMatch(new RegExp(`--(\\[no-\\])?${flag}\\b`));
    for (const { name } of commandTable) expect(page).toContain(`chatelaine ${name}`);
  });

  test('the page of exit codes says of each what to do', () => {
    const [, advice = ''] = (read.get('chatelaine-exit-codes.7') ?? '').split('WHAT TO DO');
    const terms = namesIn(failures).map((kind) => `${failures[kind].exit} ${nameOf(kind).replace('_', '-')}`);
    expect([...advice.matchAll(/^ {7}(\d+ \S+)/gm)].map(([, term]) => term)).toEqual(terms);
    const others = ['124', '126', '127', '128', '134', '137'];
    expect([...advice.matchAll(/^ {7}(\d+) {2,}[A-Z]/gm)].map(([, code]) => code)).toEqual(others);
  });

  test('the page of settings tells every setting, and that of the sandbox every fault', () => {
    const terms = (page: string): string[] =>
      [...(read.get(page) ?? '').matchAll(/^ {7}(\S+)/gm)].map(([, name = '']) => name);
    expect(terms('chatelaine-settings-set.1')).toEqual(expect.arrayContaining(Object.keys(settings)));
    expect(terms('chatelaine-sandbox-serve.1')).toEqual(expect.arrayContaining(Object.keys(faultKinds)));
  });

  test('the examples of each command can be copied as they are typed', async () => {
    for (const { name, load } of commandTable) {
      const page = read.get(`chatelaine-${name.replaceAll(' ', '-')}.1`);
      for (const example of (await load()).examples) expect.soft(page).toContain(example);
    }
  });
});

test('signs of roff, typography and other alphabets come through', () => {
  const text = `.dot 'quote' "double" \\ back-slash \`tick\` ^ ~ é`;
  const page = writePage(
    {
      section: 1,
      name: 'x',
      summary: 'a - b',
      chapters: [{ title: 'A "b"', blocks: [{ text }, { lines: ["'first", '.second'] }] }],
    },
    { version: '1', date: '2026-11-21' },
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

function rendered(text: string): string {
  const { stdout } = spawnSync('mandoc', ['-T', 'utf8', '-O', 'width=200'], { input: text, encoding: 'utf8' });
  // Bold and underlined letters are overstruck.
  return stdout.replace(/.\u0008/g, '');
}
