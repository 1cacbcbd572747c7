import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { programs } from '../scripts/needs.js';

/** Comments give their reasons by a heading in docs/, in the form `docs/apis.md, Paging`. */
const folders = ['src', 'test', 'scripts', 'bench'];
const files = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|js|cjs)$/.test(name))
    .map((name) => join(folder, name)),
);
const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));

/** The headings of each page, by its path. */
const headings: ReadonlyMap<string, readonly string[]> = new Map(
  pages.map((page) => {
    const lines = readFileSync(join('docs', page), 'utf8').split('\n');
    return [`docs/${page.replaceAll('\\', '/')}`, lines.flatMap((line) => /^#+ (.*)$/.exec(line)?.[1] ?? [])] as const;
  }),
);

test('each reference to a page names a heading of it', () => {
  const references = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/\n\s*(?:\*|\/\/) ?/g, ' ');
    return [...text.matchAll(/(docs\/[a-z/-]+\.md), ([A-Z][^.;:)`'"]*)/g)].map(([, page = '', rest = '']) => ({
      file,
      page,
      rest,
    }));
  });
  const wrong = references.filter(({ page, rest }) => !headings.get(page)?.some((name) => rest.startsWith(name)));
  expect(references.length).toBeGreaterThan(100);
  expect(wrong.map(({ file, page, rest }) => `${file}: ${page}, ${rest}`)).toEqual([]);
});

test('each link between pages names a page, and a heading of it', () => {
  const places = ['.', 'docs', 'docs/internals', 'docs/internals/decisions', 'man', 'bench', 'test/examples'].filter(
    (place) => existsSync(place),
  );
  const texts = places.flatMap((place) =>
    readdirSync(place)
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(place, name)),
  );
  const anchors = (file: string): readonly string[] =>
    [...readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  const links = texts.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(
      ([, path = '', anchor]) => ({
        link: `${file}: ${path}${anchor === undefined ? '' : `#${anchor}`}`,
        target: path === '' ? file : join(dirname(file), path),
        anchor,
      }),
    ),
  );
  const broken = links.filter(
    ({ target, anchor }) => !existsSync(target) || (anchor !== undefined && !anchors(target).includes(anchor)),
  );
  expect(links.length).toBeGreaterThan(5);
  expect(broken.map(({ link }) => link)).toEqual([]);
});

test('each file that a page names exists', () => {
  const texts = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages.map((page) => join('docs', page))];
  const named = texts.flatMap((text) =>
    [...readFileSync(text, 'utf8').matchAll(/\b(?:src|test|scripts|bench|bin|man)\/[\w./-]+\.(?:ts|js|cjs|md)\b/g)].map(
      ([file]) => ({ text, file }),
    ),
  );
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ file }) => !existsSync(file))).toEqual([]);
});

test('each promise names the tests that show it, by their titles', () => {
  const page = readFileSync(join('docs', 'exactly-once.md'), 'utf8');
  const [, promised = ''] = /## What is promised\n([^]*?)\n## /.exec(page) ?? [];
  const promises = promised.split('\n- ').slice(1);
  const shownBy = (text: string) =>
    [...text.replace(/\n */g, ' ').matchAll(/`(test\/[^`]+)`: "([^"]+)"/g)].map(([, file = '', title = '']) => [
      file,
      title,
    ]);
  const wrong = shownBy(promised).filter(([file = '', title = '']) => !readFileSync(file, 'utf8').includes(title));
  expect(wrong).toEqual([]);
  expect(promises.filter((text) => shownBy(text).length === 0)).toEqual([]);
  expect(promises.length).toBeGreaterThan(5);
});

test('no comment cites a page that is not in the repository', () => {
  const cites = /\((?:the )?(?:facts page|contract, sections?|specification, |\w+\.md, section)/;
  const wrong = files.filter((file) => file !== join('test', 'docs.test.ts') && cites.test(readFileSync(file, 'utf8')));
  expect(wrong).toEqual([]);
});

test('comments, help and pages use no phrase that readers stumble over', () => {
  const phrases = /\b(?:as it is|as they are|for ever|anew|(?:is|are) told|none of ours|comes? to|stands)\b/gi;
  const manuals = ['.', 'bench', 'docs', 'docs/internals', 'docs/internals/decisions', 'man'].flatMap((folder) =>
    readdirSync(folder).flatMap((name) => (name.endsWith('.md') ? [join(folder, name)] : [])),
  );
  // Messages of the sample data are what people write.
  const sources = files.filter((file) => !/^test|sample/.test(file));
  const found = [...sources, ...manuals].flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/\s*\n\s*(?:\*|\/\/)?\s*|' \+\s*'/g, ' ');
    return [...text.matchAll(phrases)].map(({ index }) => `${file}: …${text.slice(index - 30, index + 30)}…`);
  });
  expect(sources.length).toBeGreaterThan(300);
  expect(found).toEqual([]);
});

test('one line of docs/internals/testing.md installs every program that tests need on Debian', () => {
  const line = /apt-get install --no-install-recommends ([^]*?)\n\n/.exec(
    readFileSync('docs/internals/testing.md', 'utf8'),
  )?.[1];
  const packages = Object.values(programs).flatMap((program) => program.packages);
  expect(line?.split(/[\s\\]+/)).toEqual([...new Set(packages)].sort());
});
