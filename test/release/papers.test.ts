import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

/**
 * What must agree on the version. scripts/release/check.js sets RELEASE_TAG: then the changelog must be that
 * of a release.
 */
const tag = process.env['RELEASE_TAG'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
const sections = readFileSync('CHANGELOG.md', 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ title: /^.*/.exec(section)?.[0] ?? '', text: section.replace(/^.*/, '').trim() }));
const [unreleased, newest] = sections;

test('the version is that of the lock file', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly version: string;
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/);
  expect([lock.version, lock.packages['']?.version], 'package-lock.json: run npm install').toEqual([version, version]);
});

test('the changelog has the version: released, or what the first one becomes', () => {
  const [, becomes] = /\bto become (\S+?)\.?\s/.exec(unreleased?.text ?? '') ?? [];
  expect(unreleased?.title).toBe('Unreleased');
  expect(newest?.title.split(' ')[0] ?? becomes, 'CHANGELOG.md names another version than package.json').toBe(version);
});

test('each section of a release has its day, newest first', () => {
  const days = sections.slice(1).map(({ title }) => / - (\d{4}-\d\d-\d\d)$/.exec(title)?.[1] ?? `no day: ${title}`);
  expect(days).toEqual([...days].sort().reverse());
  expect(days.filter((day) => Number.isNaN(Date.parse(day)))).toEqual([]);
});

test.each(['docs/install.md', 'man/scripting.md'])('%s tells how to install this version', (file) => {
  const files = /chatelaine[-_](\d\S*?)(?=_all|-linux|-macos|-win)|chatelaine@COMMIT # v(\S+)|version: (\d[^,]*),/g;
  const named = [...readFileSync(file, 'utf8').matchAll(files)].map(([, ...found]) => found.join(''));
  expect([...new Set(named)]).toEqual([version]);
});

test.each(['README.md', 'docs/install.md'])('%s names the versions of Node that package.json allows', (file) => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly engines: { readonly node: string };
  };
  const [, first = '', next = ''] = /^\^(\S+) \|\| >=(\S+)\.0$/.exec(engines.node) ?? [];
  expect(readFileSync(file, 'utf8').replace(/\s+/g, ' ')).toContain(`Node 20 from ${first} on, or ${next} or newer`);
});

test.runIf(tag !== undefined)('the tag is that of the version, and nothing is left unreleased', () => {
  expect(tag).toBe(`v${version}`);
  expect(newest?.title.split(' ')[0], 'CHANGELOG.md has no section of the version').toBe(version);
  expect(unreleased?.text, 'CHANGELOG.md: lines under Unreleased').toBe('');
});

test('no package runs anything at its installation', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
  };
  const running = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript === true);
  expect(running.map(([place]) => place)).toEqual([]);
});

test('a report of a bug asks for doctor and for a trace, which hold no secret', () => {
  const { body } = parse(readFileSync('.github/ISSUE_TEMPLATE/bug.yml', 'utf8')) as {
    readonly body: readonly { readonly attributes: { readonly label?: string } }[];
  };
  expect(body.map(({ attributes: { label = '' } }) => label)).toEqual([
    '',
    'What you typed, what you expected, what happened',
    'chatelaine doctor',
    'The same command with --trace',
    'A license',
  ]);
});

test('the container for contributors installs what npm test would skip', () => {
  const { build } = JSON.parse(readFileSync('.devcontainer/devcontainer.json', 'utf8')) as {
    readonly build: { readonly dockerfile: string };
  };
  expect(readFileSync(`.devcontainer/${build.dockerfile}`, 'utf8')).toMatch(
    /^RUN node \/tmp\/scripts\/needs.js --install /m,
  );
});
