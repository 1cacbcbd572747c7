import { chmodSync, lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../src/core/failure.ts';
import { isWhole } from '../helpers/extent.ts';
import { emptyHome, openSandbox, runAlone, type RunningSandbox } from '../helpers/run.ts';
import { needs } from '../helpers/needs.ts';

/** Whatever is written under the home is for its owner alone (docs/apis.md, Credentials). */

// A mask that hides nothing shows every mode that is left to it.
describe.each(isWhole ? [0o022, 0o000, 0o077] : [0o000])('with umask %o', needs('modes'), (mask) => {
  let before = 0;
  beforeEach(() => (before = process.umask(mask)));
  afterEach(() => void process.umask(before));

  const login = 'auth login licensing --base-url {url} --app-code 4711 --api-key-stdin';
  const roster = 'remote_user,size_allowance\nzed,4\nyan,5\n';

  test.each<readonly (readonly [line: string, stdin?: string])[]>([
    [[login, 'sandbox-key-of-app-4711\n'], ['auth use app-4711'], ['license list'], ['auth logout app-4711']],
    [['license ensure --remote-user zed --size-allowance 4']],
    [['license apply - --input-format csv', roster]],
    [['--sandbox license create --remote-user zed --size-allowance 4'], ['sandbox reset']],
    [['topic delete general lunch --confirm lunch']],
    [['topic delete general lunch --confirm lunch --no-archive']],
  ])('%j', async (...lines) => {
    const service = await openSandbox();
    const home = emptyHome();
    chmodSync(home, 0o755);
    for (const [line, stdin] of lines) {
      await runIn(service, home, line, stdin);
      expect(openIn(home)).toEqual([]);
    }
  });

  test('a roster that is cut off', async () => {
    const service = await openSandbox({ latency: 5 });
    const ending = new AbortController();
    const home = emptyHome();
    const many = Array.from({ length: 200 }, (_unused, index) => `cut-${index},3`).join('\n');
    const open: string[] = [];
    const ran = await runAlone('license apply - --input-format csv -o ndjson', {
      home,
      env: service.env,
      stdin: `remote_user,size_allowance\n${many}\n`,
      interrupt: ending.signal,
      // A row is printed, and others are under way.
      written() {
        open.push(...openIn(home));
        ending.abort(new Failure('cancelled', 'interrupted'));
      },
    });
    expect({ exit: ran.exitCode, open }).toEqual({ exit: 130, open: [] });
    expect(filesIn(home).length).toBeGreaterThan(0);
    expect(openIn(home)).toEqual([]);
  });
});

test('the check sees an open file', needs('modes'), () => {
  const home = emptyHome();
  writeFileSync(join(home, 'open'), '');
  chmodSync(join(home, 'open'), 0o640);
  expect(openIn(home)).toEqual(['open 640']);
});

async function runIn({ sandbox, env }: RunningSandbox, home: string, line: string, stdin?: string): Promise<void> {
  const stored = /^auth|^license list/.test(line);
  const ran = await runAlone(line.replace('{url}', sandbox.licensing.base_url), {
    home,
    env: stored ? {} : env,
    ...(stdin === undefined ? {} : { stdin }),
  });
  expect(ran.exitCode).toBe(0);
}

/**
 * Those that somebody else may read or enter; XDG's own folders follow the umask, as everywhere. A socket is as closed
 * as its folder.
 */
function openIn(home: string): string[] {
  const shared = new Set(['tmp', '.local', '.local/state', '.config']);
  return filesIn(home).flatMap((name) => {
    const stat = lstatSync(join(home, name));
    const mode = stat.mode & 0o777;
    const wanted = stat.isDirectory() ? 0o700 : 0o600;
    return shared.has(name) || stat.isSocket() || mode === wanted ? [] : [`${name} ${mode.toString(8)}`];
  });
}

function filesIn(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' });
}
