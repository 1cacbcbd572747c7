import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { replaceUploads, uploadAt, uploadsIn } from '../../src/schema/upload.ts';

interface Recorded {
  readonly what: string;
  readonly source: string;
  readonly rendered: string;
  readonly paths: readonly string[];
}

const site = 'https://chat.example.org';
const recorded = JSON.parse(readFileSync('test/fixtures/real-442/uploads.json', 'utf8')) as Recorded[];

describe.each(recorded)('$what', ({ source, rendered, paths }) => {
  test('the rendered form names its files', () => {
    expect(uploadsIn({ content: rendered }, site).sort()).toEqual([...paths].sort());
  });

  test('so does the source, as far as it was typed', () => {
    const typed = paths.filter((path) => !path.endsWith('poster.png'));
    expect(uploadsIn({ content: source, content_type: 'text/x-markdown' }, site).sort()).toEqual([...typed].sort());
  });
});

test.each([
  ['user_uploads/2/x/a.pdf', '2/x/a.pdf'],
  ['https://chat.example.org/team/user_uploads/2/x/a.pdf', '2/x/a.pdf'],
  ['/user_uploads/2/x/a.pdf', '2/x/a.pdf'],
  ['https://chat.example.org/other/user_uploads/2/x/a.pdf', undefined],
])('a server in a folder of its host: %s', (link, path) => {
  expect(uploadAt(link, 'https://chat.example.org/team')).toBe(path);
});

test.each([
  ['[a](/user_uploads/2/x/a.pdf)', '[a](<2/x/a.pdf|](>)'],
  ['[a](/user_uploads/2/x/a!)', '[a](<2/x/a!|](>)'],
  ['(user_uploads/2/x/a.pdf.', '(<2/x/a.pdf|(>.'],
  ['user_uploads/2/x/a?!', '<2/x/a|>?!'],
  ['x </user_uploads/2/x/a b.pdf>.', 'x <2/x/a b.pdf|x <>.'],
  ['/user_uploads/thumbnail/2/x/a.pdf', '/user_uploads/thumbnail/2/x/a.pdf'],
])('what is before an address is said, and what follows it stays: %s', (text, replaced) => {
  expect(replaceUploads(text, site, (path, _address, before) => `<${path}|${before}>`)).toBe(replaced);
});

test('an address that is none, and a text with names of characters', () => {
  expect(uploadAt('http://[/user_uploads/2/x', site)).toBeUndefined();
  expect(uploadsIn({ content: null }, site)).toEqual([]);
  expect(
    uploadsIn({ content: '<a href="/user_uploads/2/x/caf&eacute;&nbsp;&#49;&#x32;&yuml;&#x110000;">' }, site),
  ).toEqual(['2/x/caf\u00e9\u00a012\u00ff&']);
  expect(uploadsIn({ content: '<b>/user_uploads/2/</b>x <span>/user_uploads/2/</span>y' }, site)).toEqual(['2/y']);
});

test('a hostile text is scanned at once', () => {
  const before = process.cpuUsage();
  for (const piece of ['<a>', '="', 'https://', '](</user_uploads/', '(user_uploads/', '/user_uploads/2/'])
    for (const content_type of ['text/html', 'text/x-markdown']) {
      const content = `${piece.repeat(30_000)}/user_uploads/2/a`;
      expect(uploadsIn({ content, content_type }, site).length).toBeLessThan(3);
    }
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(5);
});
