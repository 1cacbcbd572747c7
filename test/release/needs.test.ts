import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { programs } from '../../scripts/needs.js';

// @module-tag shell

/** What `node scripts/needs.js --install` asks the system for. */

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-needs-'));
afterAll(() => rmSync(folder, { recursive: true }));

function packages(system: string, ...installed: readonly string[]): readonly string[] {
  const place = mkdtempSync(join(folder, 'bin-'));
  for (const name of installed) {
    writeFileSync(join(place, name), '');
    chmodSync(join(place, name), 0o755);
  }
  writeFileSync(join(folder, 'os-release'), `NAME=x\nID=${system}\n`);
  const env = { PATH: [place, ''].join(delimiter), OS_RELEASE: join(folder, 'os-release'), BASH_COMPLETION: '/none' };
  return execFileSync(process.execPath, ['scripts/needs.js'], { env, encoding: 'utf8' }).trim().split(' ');
}

test('each program that is not there yet, by the name that the system has for it', () => {
  const all = Object.values(programs).flatMap((program) => program.packages);
  // PostgreSQL is found where Debian puts it too.
  const names = (some: readonly string[]) => some.filter((name) => name !== 'postgresql');
  expect(names(packages('debian'))).toEqual(names(all));
  expect(names(packages('ubuntu'))).toEqual(names(all).filter((name) => name !== 'chromium'));
  expect(packages('debian', 'curl', 'zsh')).not.toEqual(expect.arrayContaining(['curl']));
});

test.each(['chromium', 'google-chrome', 'google-chrome-stable', 'chromium-browser'])('%s is Chromium', (name) => {
  expect(packages('debian', name)).not.toContain('chromium');
});
