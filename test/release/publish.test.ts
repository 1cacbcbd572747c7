import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';

// @module-tag shell

/**
 * scripts/release/publish.js with the real npm, up to the request that publishes; where a package was built is attested
 * on other machines.
 */

const folder = mkdtempSync(join(tmpdir(), 'chatelaine-publish-'));
const tarball = 'what was tried';
const ours = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
/** What the registry has under this name. */
let versions: Readonly<Record<string, string>> = {};
const registry = createServer(({ url = '' }, answer) => {
  const rows = Object.entries(versions).map(([version, integrity]) => [
    version,
    { name: 'chatelaine', version, dist: { integrity, tarball: `http://127.0.0.1/${version}.tgz` } },
  ]);
  if (rows.length > 0 && url.startsWith('/chatelaine'))
    answer.end(JSON.stringify({ name: 'chatelaine', 'dist-tags': {}, versions: Object.fromEntries(rows) as unknown }));
  else answer.writeHead(404).end('{}');
});

beforeAll(async () => {
  mkdirSync(join(folder, 'release'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'chatelaine', version: '7.8.9', type: 'module' }));
  writeFileSync(join(folder, 'release/chatelaine-7.8.9.tgz'), tarball);
  for (const file of ['release/publish.js', 'usage.js']) cpSync(`scripts/${file}`, join(folder, 'scripts', file));
  await new Promise<void>((ready) => registry.listen(0, '127.0.0.1', ready));
});
afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true });
});

async function publish() {
  const { port } = registry.address() as AddressInfo;
  const child = spawn(process.execPath, ['scripts/release/publish.js'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, npm_config_registry: `http://127.0.0.1:${port}/` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, stdout, stderr };
}

test('what the registry has with the same sum is left alone', async () => {
  versions = { '7.8.8': 'sha512-other', '7.8.9': ours };
  expect(await publish()).toEqual({
    ...{ code: 0, stderr: '', stdout: 'chatelaine 7.8.9 is there already, with the same sum\n' },
  });
});

test('what the registry has with another sum is an error', async () => {
  versions = { '7.8.9': 'sha512-other' };
  expect(await publish()).toEqual({
    ...{ code: 1, stdout: '' },
    stderr: `chatelaine 7.8.9 is there already, with another sum: sha512-other, not ${ours}\n`,
  });
});

test.each(
  isWhole
    ? ([
        ['a version', { '7.8.8': ours }],
        ['a package', {}],
      ] as const)
    : [],
)('%s that the registry does not have is published', async (_what, there) => {
  versions = there;
  const { code, stderr } = await publish();
  // npm reads the tarball that it is about to send: this one is none.
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('TAR_BAD_ARCHIVE') as string });
});
