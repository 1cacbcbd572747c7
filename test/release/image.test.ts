import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { needs } from '../helpers/needs.ts';

/** The Dockerfile, read: no engine is needed, and what its image would hold is run as its user. */

const lines = readFileSync('Dockerfile', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ name: /^\w+/.exec(line)?.[0] ?? '', words: line.split(' ').slice(1) }));
const of = (name: string) => lines.filter((line) => line.name === name).map(({ words }) => words);

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-image-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the base is named by its digest, and nothing is run while the image is built', () => {
  expect(of('FROM')).toEqual([[expect.stringMatching(/@sha256:[0-9a-f]{64}$/)]]);
  expect(new Set(lines.map(({ name }) => name))).toEqual(
    new Set(['FROM', 'COPY', 'USER', 'ENV', 'WORKDIR', 'ENTRYPOINT']),
  );
});

test('the user is a number, and needs no shell', () => {
  expect(of('USER')).toEqual([['65532:65532']]);
  expect(JSON.parse(of('ENTRYPOINT')[0]?.join(' ') ?? '')).toEqual([
    '/nodejs/bin/node',
    '/usr/share/chatelaine/bin/chatelaine.cjs',
  ]);
});

test('what is copied is what is let through, and nothing else is sent to the engine', () => {
  const [all, ...kept] = readFileSync('.dockerignore', 'utf8').trimEnd().split('\n');
  const sources = of('COPY').flatMap((words) => words.slice(0, -1));
  expect(all).toBe('*');
  expect(kept.map((line) => line.slice(1)).sort()).toEqual([...sources].sort());
});

test.runIf(existsSync('dist'))(
  'a user that nobody knows, without a home and without a place to write but the temporary folder, does the main job',
  needs('root'),
  () => {
    for (const words of of('COPY'))
      for (const source of words.slice(0, -1))
        cpSync(source, join(folder, words.length > 2 ? `${words.at(-1) ?? ''}/${source}` : (words[1] ?? '')), {
          recursive: true,
        });
    // As scripts/package-image.js does, whatever the umask of the clone was.
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
    const temporary = join(folder, 'tmp');
    mkdirSync(temporary);
    for (const place of [folder, temporary]) chmodSync(place, place === temporary ? 0o777 : 0o755);
    const set = Object.fromEntries(
      of('ENV').flatMap((words) => words.map((word) => word.split('=') as [string, string])),
    );
    const run = (line: string) =>
      spawnSync(process.execPath, [join(folder, '/usr/share/chatelaine/bin/chatelaine.cjs'), ...line.split(' ')], {
        ...{ uid: 54_321, gid: 0, cwd: temporary, input: 'remote_user,size_allowance\nada,4\n', encoding: 'utf8' },
        env: {
          ...set,
          TMPDIR: temporary,
          CHATELAINE_BASE_URL: 'http://127.0.0.1:1',
          CHATELAINE_API_KEY: 'key-of-nobody',
        },
      });

    expect(run('--version')).toMatchObject({ status: 0, stderr: '' });
    const listed = run('license list --app-code 1 --retries 0 -o json');
    expect(JSON.parse(listed.stderr)).toMatchObject({ error: { code: 'unavailable' } });
    const applied = run('license apply --input-format csv - --app-code 1');
    // The record is in the temporary folder, which the container loses: the command warns, and goes on.
    expect(applied).toMatchObject({ status: 7 });
    expect(applied.stderr).toMatch(/^warning: .*XDG_STATE_HOME/m);
  },
);
