import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fieldsChapter } from '../../scripts/manual/fields.ts';
import { readChapters } from '../../scripts/manual/markdown.ts';
import { manualWeb } from '../../scripts/manual/pages.ts';
import { tables } from '../../scripts/manual/tables.ts';
import { commandTable } from '../../src/commands/index.ts';

const none = (): [] => [];

test('a text becomes chapters', () => {
  const text = `# x(7): a page

## First

<!-- pages: license edit, license audit -->

One line
and \`another\`.

### A heading

- **--a**: short
- **b c**: two
  lines

\`\`\`sh
one

## two
\`\`\`

## Second

<!-- table: t -->

<!-- chapter: First -->
`;
  const first = [
    { text: 'One line and another.' },
    { heading: 'A heading' },
    {
      entries: [
        { term: '--a', text: 'short' },
        { term: 'b c', text: 'two lines' },
      ],
    },
    { commands: ['one', '', '## two'] },
  ];
  expect(readChapters(text, (name) => [{ text: `the table ${name}` }])).toEqual([
    { title: 'First', pages: ['license edit', 'license audit'], blocks: first },
    { title: 'Second', pages: [], blocks: [{ text: 'the table t' }, ...first] },
  ]);
});

test.each([
  ['## A\ntext right below', 'no such Markdown'],
  ['## A\n\n1. item', 'no such Markdown'],
  ['## A\n\nsome **bold** text', 'no such Markdown'],
  ['## A\n\na [link](x)', 'no such Markdown'],
  ['## A\n\n    an indented line\n    and one more', 'no such Markdown'],
  ['## A\n\n- item', 'an item of a list is'],
  ['## A\n\n```js\nx\n```', 'a block of code is'],
  ['## A\n\n<!-- remark -->', 'no such Markdown'],
  ['## A\n\n<!-- chapter: B -->', 'there is no chapter B'],
])('%j is refused', (text, message) => {
  expect(() => readChapters(text, none)).toThrow(message);
});

const texts = readdirSync('man')
  .filter((name) => name.endsWith('.md'))
  .map((name) => readFileSync(join('man', name), 'utf8'));

test('every table is on a page', () => {
  const used = texts.flatMap((text) => [...text.matchAll(/^<!-- table: (.+) -->$/gm)].map(([, name]) => name));
  expect(used).toEqual(expect.arrayContaining(Object.keys(tables)));
});

test('the chapters of single commands are on pages that exist', () => {
  const names = commandTable.map(({ name }) => name);
  for (const { title, pages } of readChapters(readFileSync('man/chapters.md', 'utf8'), none))
    expect(pages, title).not.toEqual([]);
  const named = texts.flatMap((text) => [...text.matchAll(/^<!-- pages: (.+) -->$/gm)].map(([, pages]) => pages ?? ''));
  expect(names).toEqual(expect.arrayContaining(named.flatMap((pages) => pages.split(', '))));
});

test('the page of a command has every field of it, those of the server by name', async () => {
  const { fields, show } = await pageOf('license apply');
  expect(show).toContain('status');
  for (const field of fields) expect(show).toMatch(new RegExp(`\\b${field}\\b`));
  expect((await pageOf('messages fetch')).show).toMatch(/As the server sends them: .*\breactions\b/);
});

async function pageOf(name: string) {
  const command = await commandTable.find((entry) => entry.name === name)?.load();
  if (!command) throw new Error(`there is no command ${name}`);
  return { fields: command.fields ?? [], show: JSON.stringify(fieldsChapter(command)?.blocks) };
}

test('the page for a browser has every page and escapes its texts', async () => {
  const html = await manualWeb();
  for (const { name } of commandTable) expect(html).toContain(`id="chatelaine-${name.replaceAll(' ', '-')}"`);
  expect(html).toContain('size_allowance &gt; 4');
});

test('ENVIRONMENT has every variable that the program reads', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const read = sources.flatMap((name) =>
    [...readFileSync(join('src', name), 'utf8').matchAll(/\b(?:env\[|variable\([\w.]+, )'([A-Z_]+)'/g)].map(
      ([, variable = '']) => variable,
    ),
  );
  const page = JSON.stringify(tables['environment']?.());
  expect(read.length).toBeGreaterThan(20);
  expect(read.filter((name) => name !== 'PATH' && !page.includes(name))).toEqual([]);
});
