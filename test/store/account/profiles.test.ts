import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { renaming } from '../../../src/core/shell-word.ts';
import { Secret } from '../../../src/core/secret.ts';
import { Credentials } from '../../../src/store/account/credentials.ts';
import { openProfiles } from '../../../src/store/account/profiles.ts';
import type { ChatProfile, LicensingProfile } from '../../../src/schema/profile.ts';
import { isWhole } from '../../helpers/extent.ts';
import { failureOf, place, type Place } from '../place.ts';
import { bundleProgram, ended, start, type Program } from '../spawning.ts';
import { needs } from '../../helpers/needs.ts';

const app: LicensingProfile = { kind: 'licensing', name: 'app', base_url: 'https://a.example', app_code: 7 };
const account: ChatProfile = { kind: 'chat', name: 'chat', site: 'https://chat.example', email: 'u@chat.example' };
const key = new Secret('canary-key');

const fileIn = ({ system }: Place, name: string): string => join(system.home, '.config/chatelaine', name);
const jsonIn = (host: Place, name: string): unknown => JSON.parse(readFileSync(fileIn(host, name), 'utf8'));
const write = (host: Place, name: string, text: string): void => {
  mkdirSync(join(host.system.home, '.config/chatelaine'), { recursive: true, mode: 0o700 });
  writeFileSync(fileIn(host, name), text, { mode: 0o600 });
};

const umask = process.umask(0o022);
afterEach(() => void process.umask(umask));

test('nothing is stored, and reading makes nothing', async () => {
  const { system, clock } = place();
  const profiles = openProfiles(system, clock);
  expect([await profiles.all(), await profiles.defaults(), await profiles.find('app')]).toEqual([[], {}, undefined]);
  expect(existsSync(system.home)).toBe(false);
});

test('a saved profile and its key are in two files', async () => {
  const host = place();
  await openProfiles(host.system, host.clock).save(
    { ...app, base_url: 'https://A.example/v1/', key_field: 'code' },
    key,
  );
  expect(jsonIn(host, 'config.json')).toEqual({
    version: 1,
    defaults: { licensing: 'app' },
    profiles: { app: { kind: 'licensing', base_url: 'https://a.example', app_code: 7, key_field: 'code' } },
  });
  expect(jsonIn(host, 'credentials.json')).toEqual({
    version: 1,
    keys: { app: { origin: 'https://a.example', api_key: 'canary-key' } },
  });
});

describe.each([0o000, 0o077])('under umask %i', needs('modes'), (mask) => {
  test('files are 0600 in 0700, and stay so', async () => {
    const host = place();
    process.umask(mask);
    const profiles = openProfiles(host.system, host.clock);
    await profiles.save(app, key);
    await profiles.save(account, key);
    const folder = join(host.system.home, '.config/chatelaine');
    expect(readdirSync(folder).sort()).toEqual(['config.json', 'credentials.json']);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});

test('the first of a kind becomes the default, another one when asked to', async () => {
  const { system, clock } = place();
  const profiles = openProfiles(system, clock);
  await profiles.save(app, key);
  await profiles.save({ ...app, name: 'second', app_code: 8 }, key);
  await profiles.save(account, key);
  expect(await profiles.defaults()).toEqual({ licensing: 'app', chat: 'chat' });
  await profiles.use('second');
  expect(await profiles.defaults()).toEqual({ licensing: 'second', chat: 'chat' });
  expect((await profiles.all()).map(({ name }) => name)).toEqual(['app', 'second', 'chat']);
});

test('a profile that is saved again replaces the one of its name, whatever its kind was', async () => {
  const host = place();
  const profiles = openProfiles(host.system, host.clock);
  await profiles.save(app, key);
  await profiles.save({ ...account, name: 'app' }, new Secret('other-key'));
  expect(await profiles.all()).toEqual([{ ...account, name: 'app' }]);
  expect(await profiles.defaults()).toEqual({ chat: 'app' });
  expect(jsonIn(host, 'credentials.json')).toMatchObject({
    keys: { app: { origin: 'https://chat.example', api_key: 'other-key' } },
  });
});

test('removing forgets the key and leaves no other default', async () => {
  const host = place();
  const profiles = openProfiles(host.system, host.clock);
  await profiles.save(app, key);
  await profiles.save({ ...app, name: 'second' }, new Secret('second-key'));
  await profiles.remove(() => ['app']);
  expect(await profiles.defaults()).toEqual({});
  expect(await profiles.find('app')).toBeUndefined();
  const credentials = { version: 1, keys: { second: { origin: 'https://a.example', api_key: 'second-key' } } };
  expect(jsonIn(host, 'credentials.json')).toEqual(credentials);
  await profiles.save({ ...app, name: 'second' }, key);
  expect(await profiles.defaults()).toEqual({ licensing: 'second' });
  // A key that is gone already leaves no file behind.
  rmSync(fileIn(host, 'credentials.json'));
  await profiles.remove(() => ['second']);
  expect(existsSync(fileIn(host, 'credentials.json'))).toBe(false);
  const exposed = { ...app, base_url: 'http://a.example' };
  await expect(profiles.save(exposed, key)).rejects.toThrow('is not encrypted');
  await expect(profiles.secretsOf(exposed)).rejects.toThrow('is not encrypted');
});

test('a key command is kept in place of a key, bound to its origin all the same', async () => {
  const host = place();
  const profiles = openProfiles(host.system, host.clock);
  await profiles.save(app, key);
  await profiles.save({ ...app, key_command: 'pass show app' }, undefined);
  expect(await profiles.find('app')).toEqual({ ...app, key_command: 'pass show app' });
  expect(jsonIn(host, 'credentials.json')).toMatchObject({ keys: { app: { origin: 'https://a.example' } } });
  expect(readFileSync(fileIn(host, 'credentials.json'), 'utf8')).not.toContain('canary');
});

test('what a later program wrote in files of this version is kept', async () => {
  const host = place();
  const newer = { version: 1, theme: 'dark', profiles: { bot: { kind: 'bot', id: 1 } }, defaults: { bot: 'bot' } };
  write(host, 'config.json', JSON.stringify(newer));
  write(host, 'credentials.json', JSON.stringify({ hint: 'x', keys: { bot: { token: 'y' } } }));
  const profiles = openProfiles(host.system, host.clock);
  await profiles.save(app, key);
  await expect(profiles.all()).rejects.toThrow(/profile 'bot': kind is neither licensing nor chat/);
  expect(jsonIn(host, 'config.json')).toMatchObject({
    ...newer,
    defaults: { bot: 'bot', licensing: 'app' },
    profiles: { bot: { kind: 'bot', id: 1 } },
  });
  expect(jsonIn(host, 'credentials.json')).toMatchObject({ hint: 'x', keys: { bot: { token: 'y' } } });
});

test.each(['a', 'A.b-c_9', '__proto__', 'constructor', '.x', 'x'.repeat(64)])('%s is a name', async (name) => {
  const { system, clock } = place();
  const profiles = openProfiles(system, clock);
  await profiles.save({ ...app, name }, key);
  expect(await profiles.all()).toEqual([{ ...app, name }]);
  expect(await profiles.find(name)).toEqual({ ...app, name });
  await profiles.remove(() => [name]);
  expect(await profiles.all()).toEqual([]);
});

test.each(['', 'a b', 'a/b', '-x', 'é', 'x'.repeat(65), 'a\n', 'environment'])('%j is no name', async (name) => {
  const { system, clock } = place();
  expect((await failureOf(() => openProfiles(system, clock).save({ ...app, name }, key))).kind).toBe('usage');
});

test.each(['toString', '__proto__'])('%s is not found where nothing of that name is stored', async (name) => {
  const { system, clock } = place();
  const profiles = openProfiles(system, clock);
  await profiles.save(app, key);
  expect(await profiles.find(name)).toBeUndefined();
  expect(await failureOf(() => profiles.use(name))).toEqual({
    kind: 'config',
    message: `there is no profile '${name}'`,
    hint: 'Stored: app.',
  });
});

test.each([
  [
    '{"profiles":{"app":{"kind":"licensing","base_url":"https://a.example","app_code":"7"}}}',
    'app_code is not an integer',
  ],
  ['{"profiles":{"app":{"kind":"licensing","app_code":7}}}', 'base_url is missing'],
  ['{"profiles":{"app":{"kind":"chat","site":"https://c.example","email":"a:b"}}}', 'the e-mail address'],
  [
    '{"profiles":{"app":{"kind":"licensing","base_url":"https://a.example","app_code":7,"read_only":"yes"}}}',
    'read_only is neither true nor false',
  ],
  ['{"profiles":{"app":7}}', 'is not an object'],
])('a profile that was edited wrongly is named: %s', async (text, problem) => {
  const host = place();
  write(host, 'config.json', text);
  const caught = await failureOf(() => openProfiles(host.system, host.clock).find('app'));
  expect(caught.kind).toBe('config');
  expect(caught.message).toContain(`${fileIn(host, 'config.json')}: profile 'app': `);
  expect(caught.message).toContain(problem);
});

test.each(['{"profiles"', '[]', '', '"x"'])('a broken file is named, and left as it is: %j', async (text) => {
  const host = place();
  write(host, 'config.json', text);
  const profiles = openProfiles(host.system, host.clock);
  const path = fileIn(host, 'config.json');
  const caught = {
    kind: 'config',
    message: `${path} is not a JSON object`,
    hint: `Repair it, or move it away and sign in again: ${renaming(path, `${path}.broken`)}`,
  };
  expect(await failureOf(() => profiles.all())).toEqual(caught);
  expect(await failureOf(() => profiles.save(app, key))).toEqual(caught);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test.each(['config', 'credentials'])('a %s.json of a newer version is neither used nor changed', async (name) => {
  const host = place();
  const profiles = openProfiles(host.system, host.clock);
  await profiles.save(app, key);
  const path = fileIn(host, `${name}.json`);
  const text = JSON.stringify({ ...(jsonIn(host, `${name}.json`) as object), version: 2 });
  writeFileSync(path, text);
  const caught = {
    kind: 'config',
    message: `${path} has format version 2; this program reads 1`,
    hint: 'Upgrade chatelaine; nothing was sent or changed.',
  };
  const credentials = new Credentials(host.system, profiles, () => Promise.resolve(key));

  expect(await failureOf(() => credentials.licensing({ profile: 'app' }))).toEqual(caught);
  expect(await failureOf(() => profiles.save({ ...app, app_code: 8 }, key))).toEqual(caught);
  expect(await failureOf(() => profiles.remove(() => ['app']))).toEqual(caught);
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(jsonIn(host, 'config.json')).toMatchObject({ profiles: { app: { app_code: 7 } } });
});

test.each([0o602, 0o620])('a config.json that others can write is refused: %#', needs('modes'), async (mode) => {
  const host = place();
  write(host, 'config.json', '{}');
  chmodSync(fileIn(host, 'config.json'), mode);
  const caught = await failureOf(() => openProfiles(host.system, host.clock).all());
  expect(caught.message).toContain('can be written by other users');
});

test('a config.json that is a link stays one', needs('modes'), async () => {
  const host = place();
  write(host, 'config.json', '{}');
  const target = join(host.folder, 'dotfile.json');
  writeFileSync(target, '{"theme":"dark"}');
  rmSync(fileIn(host, 'config.json'));
  symlinkSync(target, fileIn(host, 'config.json'));
  await openProfiles(host.system, host.clock).save(app, key);
  expect(JSON.parse(readFileSync(target, 'utf8'))).toMatchObject({ theme: 'dark', defaults: { licensing: 'app' } });
});

test('no failure shows the key', async () => {
  const host = place();
  write(host, 'credentials.json', '{"keys":{"app":{"api_key":"canary-key"');
  const profiles = openProfiles(host.system, host.clock);
  const caught = await failureOf(() => profiles.save(app, key));
  expect(caught.kind).toBe('config');
  expect(JSON.stringify(caught)).not.toContain('canary');
});

describe('many processes', () => {
  let program: Program;
  beforeAll(async () => {
    program = await bundleProgram();
  });
  afterAll(() => program.remove());

  // The simulation has the kills and power cuts of it (test/simulation, the world sign-in).
  const savers = isWhole ? 50 : 3;

  test(`${savers} that save at once lose nothing`, async () => {
    const host = place();
    const names = Array.from({ length: savers }, (_, index) => `p${String(index).padStart(2, '0')}`);
    const ends = await Promise.all(names.map((name) => ended(start(program, 'save', host.folder, name))));
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual(Array(savers).fill([0, '']));
    const stored = (await openProfiles(host.system, host.clock).all()).map(({ name }) => name);
    expect(stored.sort()).toEqual(names);
    const expected = names.map((name) => [name, { origin: 'https://a.example', api_key: `key-of-${name}` }]);
    expect(jsonIn(host, 'credentials.json')).toMatchObject({ keys: Object.fromEntries(expected) as object });
  });

  test('a file that the disk would cut stays as it was', needs('shell'), async () => {
    const host = place();
    await openProfiles(host.system, host.clock).save(app, key);
    const before = `{"pad":"${'x'.repeat(4040)}","keys":{}}`;
    write(host, 'credentials.json', before);
    // 8 blocks of 512 bytes; the write that crosses them is short, as on a full disk.
    const limited = ['-c', 'trap "" XFSZ; ulimit -f 8; exec "$0" "$@"', process.execPath, program.file, 'save-cut'];
    const child = spawn('/bin/sh', [...limited, host.folder, 'second'], { stdio: ['ignore', 'pipe', 'pipe'] });
    const { code, stderr } = await ended(child);
    expect(code).toBe(1);
    expect(stderr).toContain(`cannot write all of ${fileIn(host, 'credentials.json')}`);
    expect(readFileSync(fileIn(host, 'credentials.json'), 'utf8')).toBe(before);
    expect((await openProfiles(host.system, host.clock).all()).map(({ name }) => name)).toEqual(['app']);
  });
});
