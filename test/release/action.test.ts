import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { sampleOf, testOfAll } from '../helpers/extent.ts';

// @module-tag shell

/**
 * The lines of action.yml, run by bash with the real npm against a registry on loopback that has one package of this
 * name.
 */

const version = '7.8.9';
const file = `chatelaine-${version}.tgz`;
const folder = mkdtempSync(join(tmpdir(), 'chatelaine-action-'));
const marker = join(folder, 'a-script-was-run');
const npm = { HOME: folder, PATH: process.env['PATH'], npm_config_update_notifier: 'false' };
let requests = 0;
const registry = createServer(({ url = '' }, answer) => {
  const { port } = registry.address() as AddressInfo;
  const dist = { tarball: `http://127.0.0.1:${port}/${file}`, integrity: `sha512-${hashOf('sha512', 'base64')}` };
  requests += 1;
  const about = { name: 'chatelaine', versions: { [version]: { name: 'chatelaine', version, dist } } };
  answer.end(url.endsWith('.tgz') ? readFileSync(join(folder, file)) : JSON.stringify(about));
});

beforeAll(async () => {
  const place = join(folder, 'sources');
  mkdirSync(place);
  const manifest = { name: 'chatelaine', version, bin: 'run.js', scripts: { install: `touch ${marker}` } };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(place, 'run.js'), `#!/usr/bin/env node\nconsole.log('${version}');\n`);
  // npm takes a tarball whatever its one folder is called, and its own start would take longer than the packing.
  expect(spawnSync('tar', ['-czf', join(folder, file), '-C', folder, 'sources'])).toMatchObject({ status: 0 });
  await new Promise<void>((ready) => registry.listen(0, '127.0.0.1', ready));
});
afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});

function hashOf(algorithm: string, encoding: 'hex' | 'base64'): string {
  return createHash(algorithm)
    .update(readFileSync(join(folder, file)))
    .digest(encoding);
}

/** Runs the one step of the action, as a runner of GitHub does: `bash --noprofile --norc -eo pipefail`. */
async function install(sha256: string, asked = version) {
  const { runs } = parse(readFileSync('action.yml', 'utf8')) as { runs: { steps: readonly { run: string }[] } };
  expect(runs.steps).toHaveLength(1);
  const prefix = mkdtempSync(join(folder, 'prefix-'));
  const { port } = registry.address() as AddressInfo;
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', runs.steps[0]?.run ?? ''], {
    cwd: folder,
    env: {
      ...npm,
      ...{ PATH: `${join(prefix, 'bin')}:${npm.PATH ?? ''}`, TMPDIR: folder, VERSION: asked, SHA256: sha256 },
      ...{ npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_prefix: prefix },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr, installed: existsSync(join(prefix, 'bin/chatelaine')) };
}

test('a release of the named checksum is installed, and no script of it is run', async () => {
  const { code, stdout, stderr, installed } = await install(hashOf('sha256', 'hex').toUpperCase());

  expect({ code, installed, last: stdout.trimEnd().split('\n').at(-1) }, stderr).toEqual({
    ...{ code: 0, installed: true, last: version },
  });
  expect(existsSync(marker)).toBe(false);
});

testOfAll('a version may have the v of its tag', async () => {
  const { code, stdout, stderr } = await install(hashOf('sha256', 'hex'), `v${version}`);
  expect({ code, last: stdout.trimEnd().split('\n').at(-1) }, stderr).toEqual({ code: 0, last: version });
});

test.each(
  sampleOf(3, [
    '',
    'latest',
    '7',
    '^7.8.9',
    'file:sources',
    `file:${folder}/sources`,
    'https://127.0.0.1/x.tgz',
    '7.8.9 --foreground-scripts',
    '7.8.9\n::add-mask::x',
  ]),
)('what is no version is refused before npm is asked: %j', async (asked) => {
  const before = requests;
  const { code, stderr, installed } = await install(hashOf('sha256', 'hex'), asked);
  expect({ code, installed, stderr, asked: requests - before }).toEqual({
    ...{ code: 1, installed: false, asked: 0 },
    stderr: `::error::'${asked.replaceAll('\n', ' ')}' is no version such as 0.1.0: nothing was installed\n`,
  });
  expect(existsSync(marker)).toBe(false);
});

test.each(sampleOf(1, ['', 'x', `${'0'.repeat(64)}\n::add-mask::x`]))('nor is what is no checksum: %j', async (sum) => {
  const { code, stderr, installed } = await install(sum);
  expect({ code, installed, stderr }).toEqual({
    ...{ code: 1, installed: false },
    stderr: `::error::'${sum.replaceAll('\n', ' ')}' is no SHA-256: nothing was installed\n`,
  });
});

testOfAll('a version that the registry does not have is said so', async () => {
  const { code, stderr, installed } = await install(hashOf('sha256', 'hex'), '7.8.10');
  expect({ code, installed }).toEqual({ code: 1, installed: false });
  expect(stderr).toContain('::error::chatelaine 7.8.10 could not be fetched from the registry: nothing was installed');
  expect(stderr).toContain('No matching version');
});

test('a release of another checksum is refused, and nothing is installed', async () => {
  const wrong = '0'.repeat(64);
  const { code, stderr, installed } = await install(wrong);

  expect({ code, installed }).toEqual({ code: 1, installed: false });
  const found = hashOf('sha256', 'hex');
  expect(stderr).toContain(`::error::${file} has the SHA-256 ${found}, not ${wrong}: nothing was installed`);
});
