import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { needs } from '../helpers/needs.ts';

/** `.ci/run` in a clone whose `npm test` and scripts/test.js only print what they are told to. */

const isRoot = process.getuid?.() === 0;

interface Part {
  readonly prints: string;
  readonly code?: number;
}

function runCi(tests: Part, ofRoot: Part, by: 'root' | 'a user') {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-ci-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [clone, bin] = [join(folder, 'a clone'), join(folder, 'bin')];
  for (const place of [clone, bin, join(clone, '.ci'), join(clone, 'scripts')]) mkdirSync(place);
  copyFileSync('.ci/run', join(clone, '.ci/run'));
  const print = ({ prints, code = 0 }: Part): string => `printf '%b' '${prints}'; exit ${code}`;
  writeFileSync(join(clone, 'scripts/test.sh'), `echo "root part by $(id -u) in $(pwd)"; ${print(ofRoot)}`);
  writeFileSync(join(bin, 'node'), '#!/bin/sh\nexec sh scripts/test.sh');
  writeFileSync(
    join(bin, 'npm'),
    `#!/bin/sh\ncase $1 in test) echo "tests by $(id -u), CI=$CI, stdin $(cat)."; ${print(tests)};; ci) touch installed;; *) echo /none;; esac`,
  );
  for (const file of [join(bin, 'npm'), join(bin, 'node'), join(clone, '.ci/run')]) chmodSync(file, 0o755);
  chmodSync(folder, by === 'root' ? 0o755 : 0o777);
  if (by === 'root') chmodSync(clone, 0o700);
  const user = by === 'a user' && isRoot ? { uid: 65_534, gid: 65_534 } : {};
  if ('uid' in user) spawnSync('chown', ['-R', '65534:65534', clone]);
  const PATH = [bin, process.env['PATH'], dirname(process.execPath)].join(delimiter);
  const { status, stdout, stderr } = spawnSync(join(clone, '.ci/run'), [], {
    ...{ ...user, cwd: clone, env: { PATH, HOME: folder, TMPDIR: folder }, encoding: 'utf8', input: 'typed' },
  });
  return { status, lines: stdout.trimEnd().split('\n'), stderr };
}

describe('by a user', needs('shell'), () => {
  test.each([
    ['all pass', { prints: 'x\\n9 passed, 0 failed, 3 skipped\\n' }, 0, '9 passed, 0 failed, 3 skipped'],
    ['some fail', { prints: '8 passed, 1 failed, 3 skipped\\n', code: 1 }, 1, '8 passed, 1 failed, 3 skipped'],
    ['nothing is counted', { prints: 'x\\n', code: 0 }, 1, '0 passed, 1 failed, 0 skipped'],
  ])('%s', (_what, tests, code, last) => {
    const { status, lines, stderr } = runCi(tests, { prints: '' }, 'a user');
    expect({ status, stderr, last: lines.at(-1) }).toEqual({ status: code, stderr: '', last });
    expect(lines[0]).toMatch(/^tests by [1-9]\d*, CI=true, stdin \.$/);
    expect(lines.filter((line) => line.includes('skipped'))).toHaveLength(1);
  });
});

describe('by root, where no other user can enter the clone', needs('root'), () => {
  const all = { prints: '9 passed, 0 failed, 3 skipped\\n' };

  test.each([
    ['all pass', all, { prints: '2 passed, 0 failed, 0 skipped\\n' }, 0, '11 passed, 0 failed, 1 skipped'],
    [
      'one of root fails',
      all,
      { prints: '1 passed, 1 failed, 0 skipped\\n', code: 1 },
      1,
      '10 passed, 1 failed, 1 skipped',
    ],
    [
      'one of nobody fails',
      { prints: '8 passed, 1 failed, 3 skipped\\n', code: 1 },
      { prints: '2 passed, 0 failed, 0 skipped\\n' },
      1,
      '10 passed, 1 failed, 1 skipped',
    ],
    ['nothing is counted for root', all, { prints: '' }, 1, '9 passed, 1 failed, 2 skipped'],
  ])('%s', (_what, tests, ofRoot, code, last) => {
    const { status, lines, stderr } = runCi(tests, ofRoot, 'root');
    expect({ status, stderr, last: lines.at(-1) }).toEqual({ status: code, stderr: '', last });
    expect(lines.slice(0, -1)).toEqual([
      'tests by 65534, CI=true, stdin .',
      expect.stringMatching(/^root part by 0 in \/.*\/clone$/),
    ]);
  });
});
