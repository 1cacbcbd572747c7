import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/** What contributors and maintainers run: a dozen scripts of npm, and files that say themselves what they do. */

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: Record<string, string> };
const pages = ['docs/internals/testing.md', 'docs/internals/releasing.md']
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');
const files = ['scripts', 'scripts/release'].flatMap((folder) =>
  readdirSync(folder)
    .map((name) => `${folder}/${name}`)
    .filter((file) => file.endsWith('.js') && readFileSync(file, 'utf8').includes('showUsage(import.meta.filename)')),
);

test('npm has at most twelve scripts, and the pages for contributors run no other', () => {
  expect(Object.keys(scripts).length).toBeLessThanOrEqual(12);
  const texts = [pages, readFileSync('CONTRIBUTING.md', 'utf8'), readFileSync('README.md', 'utf8')].join('\n');
  const named = [...texts.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
});

test('CONTRIBUTING can be read at once', () => {
  expect(readFileSync('CONTRIBUTING.md').length).toBeLessThanOrEqual(7 * 1024);
  for (const name of readdirSync('docs/internals/decisions'))
    expect(readFileSync(`docs/internals/decisions/${name}`, 'utf8').split('\n').length, name).toBeLessThanOrEqual(41);
});

describe('each file that people run', () => {
  test('is a dozen', () => expect(files.length).toBeGreaterThanOrEqual(12));

  test.each(files)('%s: a page names it, and --help prints what it does and changes nothing', (file) => {
    expect(pages).toMatch(new RegExp(`${file}|\`${file.replace(/^.*\//, '')}\``));
    const { status, stdout, stderr } = spawnSync(process.execPath, [file, '--help'], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`node ${file}`);
  });
});
