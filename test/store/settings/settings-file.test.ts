import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { readSettingsFile } from '../../../src/store/settings/settings-file.ts';

async function read(file: string, text: string): Promise<unknown> {
  const entries = await readSettingsFile(file, text);
  return entries.map(({ place, name, text: value }) => [place, name, value()]);
}

async function refusal(file: string, text: string): Promise<string> {
  try {
    await read(file, text);
  } catch (cause) {
    if (cause instanceof Failure && cause.kind === 'usage') return cause.message;
    throw cause;
  }
  throw new Error('taken');
}

describe('the format', () => {
  test.each([
    ['YAML by its extension', 'team.yaml', 'color_scheme: dark\n'],
    ['YAML by the shorter one', 'team.YML', 'color_scheme: dark\n'],
    ['YAML by how it begins', '-', '# ours\n\ncolor_scheme: dark\n'],
    ['YAML with a marker', '-', '---\ncolor_scheme: dark\n'],
    ['YAML with a quoted name', 'team', '"color_scheme": dark\n'],
    ['YAML with line breaks of Windows', '-', 'color_scheme: dark\r\n'],
    ['JSON by its extension', 'team.json', '{"color_scheme":"dark"}'],
    ['JSON by how it begins', '-', '\n {"color_scheme":\t"dark"}'],
    ['lines', '-', 'color_scheme=dark\n'],
    ['lines after a comment that looks like YAML', '-', '# preset: ours\ncolor_scheme=dark'],
    ['lines of an old Macintosh', '-', '\rcolor_scheme=dark\r'],
  ])('%s', async (_what, file, text) => {
    expect(await read(file, text)).toEqual([[expect.stringMatching(/:\d+$/), 'color_scheme', 'dark']]);
  });

  test.each([
    ['a colon in the value is still a line', 'full_name=Ada: L.', [['standard input:1', 'full_name', 'Ada: L.']]],
    ['an equals sign in a value of YAML', 'full_name: a=b', [['standard input:1', 'full_name', 'a=b']]],
    ['a bare name', 'old_password\n', [['standard input:1', 'old_password', undefined]]],
    ['nothing', '\n# nothing\n', []],
    ['an empty object', '{}', []],
  ])('%s', async (_what, text, entries) => {
    expect(await read('-', text)).toEqual(entries);
  });
});

test('each entry has the line of its name', async () => {
  expect(await read('a', '# one\n\na=1\r\n b = 2 \nc=3')).toEqual([
    ['a:3', 'a', '1'],
    ['a:4', 'b', ' 2 '],
    ['a:5', 'c', '3'],
  ]);
  expect(await read('a.yml', '# one\na: 1\n\nb: >-\n  2\n  3\nc: 4\n')).toEqual([
    ['a.yml:2', 'a', '1'],
    ['a.yml:4', 'b', '2 3'],
    ['a.yml:7', 'c', '4'],
  ]);
  expect(await read('a.json', '{\n  "a": 1,\n  "b": true\n}')).toEqual([
    ['a.json:2', 'a', '1'],
    ['a.json:3', 'b', 'true'],
  ]);
});

test.each([
  ['007', '007'],
  ['1.0', '1.0'],
  ['12345678901234567890', '12345678901234567890'],
  ['0x10', '0x10'],
  ['True', 'True'],
  ['no', 'no'],
  ['"true"', 'true'],
  ["'it''s'", "it's"],
  ['"a\\u00e9"', 'aé'],
  ['2024-01-01', '2024-01-01'],
])('a value of YAML is taken as written: %s', async (written, text) => {
  expect(await read('a.yaml', `a: ${written}\n`)).toEqual([['a.yaml:1', 'a', text]]);
});

describe('what is refused names file and line, and never the text', () => {
  test.each([
    ['a: "hunter2', 'a.yaml:1: not valid YAML (missing char)'],
    ['a: 1\n\tb: hunter2', 'a.yaml:2: not valid YAML (tab as indent)'],
    ['a: 1\n---\nb: hunter2', 'a.yaml:2: not valid YAML (multiple docs)'],
    ['- hunter2', 'a.yaml: expected a mapping of settings'],
    ['hunter2', 'a.yaml: expected a mapping of settings'],
    ['a: *hunter2', 'a is neither a text, a number, nor true or false'],
    ['a: ~', 'a is neither a text, a number, nor true or false'],
    ['a:', 'a is neither a text, a number, nor true or false'],
    ['a: [hunter2]', 'a is neither a text, a number, nor true or false'],
    ['a:\n  b: hunter2', 'a is neither a text, a number, nor true or false'],
    ['a: !!binary aHVudGVyMg==', 'a is neither a text, a number, nor true or false'],
    ['a: 1\n? [hunter2]\n: 2', 'a.yaml:2: the name of a setting is a text'],
  ])('%j', async (text, message) => {
    const said = await refusal('a.yaml', text);

    expect(said).toBe(message);
    expect(said).not.toContain('hunter2');
  });

  test('JSON that breaks off is named as JSON', async () => {
    expect(await refusal('-', '{"a": 1,\n"b": ')).toBe('standard input:2: not valid JSON (missing char)');
  });

  test('a list of JSON', async () => {
    expect(await refusal('-', '["a=1"]')).toBe('standard input: expected a JSON object of settings');
  });

  test.each([
    [
      'deep lists',
      `{"a": ${'['.repeat(40_000)}`,
      /^standard input: 40002 names, lists and mappings are no settings file; the li/,
    ],
    ['deep mappings', '{"a": '.repeat(8_000), /^standard input: 16000 names, lists and mappings are no settings file/],
    ['deep block lists', `a:\n${'- '.repeat(20_000)}`, /names, lists and mappings are no settings file/],
    ['lists as deep as the limit', `{"a":${'['.repeat(498)}`, /^standard input:1: not valid JSON/],
    ['a file of another kind', 'x'.repeat(50_001), /50001 characters are no settings file; the limit is 50000/],
  ])('%s end with an error', async (_what, text, message) => {
    expect(await refusal('-', text)).toMatch(message);
  });
});
