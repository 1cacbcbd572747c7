import { chmodSync, existsSync, mkdirSync, openSync, closeSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { Secret } from '../../../src/core/secret.ts';
import type { Environment } from '../../../src/core/system.ts';
import { Credentials, type Choice, type LicensingChoice } from '../../../src/store/account/credentials.ts';
import { openProfiles, type Profiles } from '../../../src/store/account/profiles.ts';
import type { ChatProfile, LicensingProfile } from '../../../src/schema/profile.ts';
import { failureOf, place, type Place, type Told } from '../place.ts';
import { needs } from '../../helpers/needs.ts';

const app: LicensingProfile = { kind: 'licensing', name: 'app', base_url: 'https://a.example', app_code: 7 };
const account: ChatProfile = { kind: 'chat', name: 'chat', site: 'https://chat.example', email: 'u@chat.example' };
const licensingUnit = { CHATELAINE_BASE_URL: 'https://env.example/', CHATELAINE_API_KEY: 'canary-env' };
const chatUnit = {
  CHATELAINE_CHAT_SITE: 'https://chat.env.example/api',
  CHATELAINE_CHAT_EMAIL: 'e@env.example',
  CHATELAINE_CHAT_API_KEY: 'canary-chat-env',
};

interface Opened {
  readonly host: Place;
  readonly profiles: Profiles;
  readonly credentials: Credentials;
  readonly commands: string[];
}

function open(env: Environment = {}): Opened {
  const host = place(env);
  const profiles = openProfiles(host.system, host.clock);
  const commands: string[] = [];
  const run = (command: string): Promise<Secret> => {
    commands.push(command);
    return Promise.resolve(new Secret('canary-command'));
  };
  return { host, profiles, commands, credentials: new Credentials(host.system, profiles, run) };
}

async function openStored(env: Environment = {}): Promise<Opened> {
  const opened = open(env);
  await opened.profiles.save(app, new Secret('canary-app'));
  await opened.profiles.save({ ...app, name: 'second', app_code: 8, read_only: true }, new Secret('canary-second'));
  await opened.profiles.save(account, new Secret('canary-chat'));
  return opened;
}

test.each<[string, Environment, LicensingChoice, string | undefined, string]>([
  ['the default', {}, {}, 'app', 'canary-app'],
  ['the named profile', {}, { profile: 'second' }, 'second', 'canary-second'],
  ['the stored app of a code', {}, { app_code: 8 }, 'second', 'canary-second'],
  ['the stored app of CHATELAINE_APP_CODE', { CHATELAINE_APP_CODE: '8' }, {}, 'second', 'canary-second'],
  ['the typed code before the variable', { CHATELAINE_APP_CODE: '8' }, { app_code: 7 }, 'app', 'canary-app'],
  ['the named profile before a code', {}, { profile: 'app', app_code: 8 }, 'app', 'canary-app'],
  ['the unit before the default', licensingUnit, {}, undefined, 'canary-env'],
  ['the unit before a code', licensingUnit, { app_code: 8 }, undefined, 'canary-env'],
  ['the typed profile before the unit', licensingUnit, { profile: 'second' }, 'second', 'canary-second'],
  [
    'the unit before the twin of --profile',
    licensingUnit,
    { profile: 'second', typed: false },
    undefined,
    'canary-env',
  ],
  [
    'a typed code before the twin of --profile',
    {},
    { profile: 'second', typed: false, app_code: 7 },
    'app',
    'canary-app',
  ],
  ['a profile where only the other kind has a unit', chatUnit, {}, 'app', 'canary-app'],
])('licensing takes %s', async (_name, env, choice, profile, key) => {
  const { credentials } = await openStored(env);
  const credential = await credentials.licensing(choice);
  expect([credential.profile, credential.key.reveal()]).toEqual([profile, key]);
});

test('the key of a unit without a code serves rows of one application, that of the first', async () => {
  const { credentials } = open(licensingUnit);
  const keyFor = async (row_app_code: number): Promise<string> =>
    (await credentials.licensing({ row_app_code })).key.reveal();
  expect([await keyFor(4711), await keyFor(4711)]).toEqual(['canary-env', 'canary-env']);
  await expect(keyFor(55)).rejects.toMatchObject({ kind: 'config' });
});

test.each<[string, Environment, Choice, string | undefined, string]>([
  ['the default', {}, {}, 'chat', 'canary-chat'],
  ['the named profile', {}, { profile: 'chat' }, 'chat', 'canary-chat'],
  ['the unit', chatUnit, {}, undefined, 'canary-chat-env'],
  ['the typed profile before the unit', chatUnit, { profile: 'chat' }, 'chat', 'canary-chat'],
  ['the unit before the twin of --profile', chatUnit, { profile: 'chat', typed: false }, undefined, 'canary-chat-env'],
])('chat takes %s', async (_name, env, choice, profile, key) => {
  const { credentials } = await openStored(env);
  const credential = await credentials.chat(choice);
  expect([credential.profile, credential.key.reveal()]).toEqual([profile, key]);
});

test('a whole licensing credential', async () => {
  const { profiles, credentials } = open();
  await profiles.save({ ...app, key_field: 'code', mac_format: 'as_is', read_only: true }, new Secret('k'));
  expect(await credentials.licensing({})).toEqual({
    kind: 'licensing',
    profile: 'app',
    base_url: 'https://a.example',
    app_code: 7,
    key: new Secret('k'),
    key_field: 'code',
    mac_format: 'as_is',
    read_only: true,
  });
});

test('whole credentials of the environment, without touching the disk', async () => {
  const { host, credentials } = open({ ...licensingUnit, ...chatUnit, CHATELAINE_APP_CODE: '3' });
  expect(await credentials.licensing({})).toEqual({
    kind: 'licensing',
    profile: undefined,
    base_url: 'https://env.example',
    app_code: 3,
    key: new Secret('canary-env'),
  });
  expect(await credentials.chat({})).toEqual({
    kind: 'chat',
    profile: undefined,
    site: 'https://chat.env.example',
    email: 'e@env.example',
    key: new Secret('canary-chat-env'),
  });
  expect(existsSync(host.system.home)).toBe(false);
});

test.each<[string, Environment, string, string]>([
  [
    'no key',
    { CHATELAINE_BASE_URL: 'https://a.example' },
    'CHATELAINE_API_KEY (or CHATELAINE_API_KEY_FILE) is',
    'CHATELAINE_BASE_URL',
  ],
  ['no URL', { CHATELAINE_API_KEY: 'canary' }, 'CHATELAINE_BASE_URL is', 'CHATELAINE_API_KEY'],
  [
    'no URL beside an app code',
    { CHATELAINE_API_KEY_FILE: '/canary', CHATELAINE_APP_CODE: '7' },
    'CHATELAINE_BASE_URL is',
    'CHATELAINE_API_KEY_FILE',
  ],
])('a unit with %s is incomplete, also when a profile is stored or typed', async (_name, env, missing, present) => {
  const { credentials } = await openStored(env);
  const caught = {
    kind: 'config',
    message: `the environment contains only part of a credential: ${missing} missing`,
    hint: `Set what is missing, or unset ${present}: variables and profiles are never mixed.`,
  };
  expect(await failureOf(() => credentials.licensing({}))).toEqual(caught);
  expect(await failureOf(() => credentials.licensing({ profile: 'app' }))).toEqual(caught);
  expect((await credentials.chat({})).profile).toBe('chat');
});

test.each<[string, Environment, Choice?]>([
  ['CHATELAINE_BASE_URL', { CHATELAINE_BASE_URL: '', CHATELAINE_API_KEY: '' }],
  ['CHATELAINE_API_KEY', { ...licensingUnit, CHATELAINE_API_KEY: '' }],
  ['CHATELAINE_API_KEY', { ...licensingUnit, CHATELAINE_API_KEY: '', CHATELAINE_API_KEY_FILE: '/f' }],
  ['CHATELAINE_API_KEY_FILE', { CHATELAINE_API_KEY_FILE: '' }],
  ['CHATELAINE_APP_CODE', { CHATELAINE_APP_CODE: '' }],
  ['CHATELAINE_APP_CODE', { ...licensingUnit, CHATELAINE_APP_CODE: '' }],
  ['CHATELAINE_BASE_URL', { CHATELAINE_BASE_URL: '' }, { profile: 'second' }],
])('%s that is set and empty, as by a secret that a CI lacks, is refused: %o', async (name, env, choice = {}) => {
  const { credentials } = await openStored(env);
  expect(await failureOf(() => credentials.licensing(choice))).toEqual(setAndEmpty(name));
});

test.each(['SITE', 'EMAIL', 'API_KEY', 'API_KEY_FILE'])(
  'CHATELAINE_CHAT_%s that is set and empty is refused, also beside stored accounts',
  async (field) => {
    const { credentials } = await openStored({ [`CHATELAINE_CHAT_${field}`]: '' });
    expect(await failureOf(() => credentials.chat({}))).toEqual(setAndEmpty(`CHATELAINE_CHAT_${field}`));
    expect((await credentials.licensing({})).profile).toBe('app');
  },
);

function setAndEmpty(name: string): Told {
  return { kind: 'config', message: `${name} is set and empty`, hint: 'Set its value, or unset it.' };
}

test('a key and a key file at once are refused', async () => {
  const { credentials } = open({ ...licensingUnit, CHATELAINE_API_KEY_FILE: '/f' });
  expect(await failureOf(() => credentials.licensing({}))).toEqual({
    kind: 'config',
    message: 'CHATELAINE_API_KEY and CHATELAINE_API_KEY_FILE are both set',
    hint: 'Unset one of them.',
  });
});

test.each<[string, Environment, string, string]>([
  ['a bad URL', { CHATELAINE_BASE_URL: 'x' }, 'usage', "CHATELAINE_BASE_URL: the base URL 'x' is not a URL"],
  [
    'an unencrypted URL',
    { CHATELAINE_BASE_URL: 'http://a.example' },
    'config',
    "'http://a.example' is not encrypted: a key is sent over http only to this computer",
  ],
  ['a bad code', { CHATELAINE_APP_CODE: 'x' }, 'usage', "CHATELAINE_APP_CODE: 'x' is not a whole number"],
  [
    'a line break',
    { CHATELAINE_API_KEY: 'canary\nmore' },
    'config',
    'CHATELAINE_API_KEY: the key contains a character that cannot be sent',
  ],
  ['blanks alone', { CHATELAINE_API_KEY: ' \t' }, 'config', 'CHATELAINE_API_KEY: the key is empty'],
  ['quotes', { CHATELAINE_API_KEY: '"canary"' }, 'config', 'CHATELAINE_API_KEY: the key is in quotes'],
  [
    'another URL in quotes',
    { CHATELAINE_BASE_URL: "'https://a.example'" },
    'usage',
    'CHATELAINE_BASE_URL: the base URL is in quotes',
  ],
  ['a code in quotes', { CHATELAINE_APP_CODE: '"7"' }, 'usage', 'CHATELAINE_APP_CODE: \'"7"\' is not a whole number'],
  [
    'an accent',
    { CHATELAINE_API_KEY: 'canaryé' },
    'config',
    'CHATELAINE_API_KEY: the key contains a character that cannot be sent',
  ],
])('a unit with %s is refused', async (_name, env, kind, message) => {
  const { credentials } = open({ ...licensingUnit, ...env });
  expect(await failureOf(() => credentials.licensing({}))).toMatchObject({ kind, message });
});

test.each<[string, LicensingChoice, string, string, string]>([
  [
    'a profile of the other kind',
    { profile: 'chat' },
    'config',
    "profile 'chat' is a chat account; this command needs a licensing app",
    'Name another profile. To see them: chatelaine auth status',
  ],
  [
    'an unknown code',
    { app_code: 9 },
    'config',
    'no stored app has the code 9 (stored: 7, 8)',
    'Sign in to it: chatelaine auth login licensing --base-url https://a.example --app-code 9',
  ],
])('%s is refused', async (_name, choice, kind, message, hint) => {
  const { credentials } = await openStored();
  expect(await failureOf(() => credentials.licensing(choice))).toEqual({ kind, message, hint });
});

test('several apps with one code must be distinguished', async () => {
  const { profiles, credentials } = await openStored();
  await profiles.save({ ...app, name: 'other' }, new Secret('k'));
  expect(await failureOf(() => credentials.licensing({ app_code: 7 }))).toEqual({
    kind: 'usage',
    message: 'several stored apps have the code 7',
    hint: 'Choose one: add --profile app or --profile other',
  });
});

test('a code that several stored apps have is named once where none has the asked one', async () => {
  const { profiles, credentials } = await openStored();
  await profiles.save({ ...app, name: 'other' }, new Secret('k'));
  expect(await failureOf(() => credentials.licensing({ app_code: 9 }))).toMatchObject({
    kind: 'config',
    message: 'no stored app has the code 9 (stored: 7, 8)',
  });
});

test.each([
  ['the environment holds a credential', { ...licensingUnit, CHATELAINE_APP_CODE: '7' }, 'https://env.example'],
  ['stored apps are at several addresses', {}, 'URL'],
])('where %s, an app that is not stored is to be signed in at %s', async (_name, env, url) => {
  const { profiles, credentials } = await openStored(env);
  await profiles.save({ ...app, name: 'other', base_url: 'https://other.test' }, new Secret('k'));
  const { hint } = await failureOf(() => credentials.licensing({ row_app_code: 9 }));
  expect(hint).toBe(`Sign in to it: chatelaine auth login licensing --base-url ${url} --app-code 9`);
});

test('where nothing is stored, the failure says how to sign in', async () => {
  const { credentials } = open();
  expect(await failureOf(() => credentials.licensing({}))).toEqual({
    kind: 'config',
    message: 'no licensing app is signed in',
    hint: 'Try it out first with --sandbox, or sign in: chatelaine auth login licensing --base-url URL --app-code C',
  });
  expect(await failureOf(() => credentials.chat({}))).toEqual({
    kind: 'config',
    message: 'no chat account is signed in',
    hint: 'Try it out first with --sandbox, or sign in: chatelaine auth login chat --site URL --email E',
  });
});

test('stored profiles without a default are named', async () => {
  const { profiles, credentials } = await openStored();
  await profiles.remove(() => ['app']);
  expect(await failureOf(() => credentials.licensing({}))).toEqual({
    kind: 'config',
    message: 'no licensing app is the default',
    hint: 'Choose second with --profile, or for all commands: chatelaine auth use NAME',
  });
});

/** Rewrites config.json as an editor, or someone else, might. */
function edit({ host }: Opened, profiles: object): void {
  const folder = join(host.system.home, '.config/chatelaine');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles, defaults: { licensing: 'app' } }), {
    mode: 0o600,
  });
}

test.each(['https://b.example', 'https://a.example:444', 'http://localhost'])(
  'a stored key is not given out for %s',
  async (base_url) => {
    const opened = await openStored();
    edit(opened, { app: { ...app, base_url } });
    expect(await failureOf(() => opened.credentials.licensing({}))).toEqual({
      kind: 'config',
      message: `the key of profile 'app' is for another host: https://a.example, not ${base_url}`,
      hint: `Nothing was sent. If the new address is right, sign in again: chatelaine auth login licensing --base-url ${base_url} --app-code 7 --name app`,
    });
  },
);

test('a stored key that is bound to no host is not given out', async () => {
  const { host, credentials } = await openStored();
  const path = join(host.system.home, '.config/chatelaine/credentials.json');
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"origin"', '"was"'));
  expect((await failureOf(() => credentials.licensing({}))).message).toContain('is for another host: no host, not');
});

test('a key command runs when its credential is asked for, and never for another host', async () => {
  const opened = open();
  await opened.profiles.save({ ...app, key_command: 'pass show app' }, undefined);
  expect((await opened.credentials.licensing({})).key.reveal()).toBe('canary-command');
  edit(opened, { app: { ...app, key_command: 'pass show app', base_url: 'https://b.example' } });
  expect((await failureOf(() => opened.credentials.licensing({}))).message).toContain('for another host');
  expect(opened.commands).toEqual(['pass show app']);
});

test('a key command of a copied config.json needs no credentials.json', async () => {
  const opened = open();
  edit(opened, { app: { ...app, key_command: 'pass show app' } });
  expect((await opened.credentials.licensing({})).key.reveal()).toBe('canary-command');
});

test('a profile without a key: the failure says how to sign in again', async () => {
  const opened = open();
  edit(opened, { app });
  expect(await failureOf(() => opened.credentials.licensing({}))).toEqual({
    kind: 'config',
    message: "no key is stored for profile 'app'",
    hint: 'Sign in again: chatelaine auth login licensing --base-url https://a.example --app-code 7 --name app',
  });
});

test('a credentials file that others can read is refused', needs('modes'), async () => {
  const { host, credentials } = await openStored();
  const path = join(host.system.home, '.config/chatelaine/credentials.json');
  chmodSync(path, 0o640);
  expect(await failureOf(() => credentials.licensing({}))).toEqual({
    kind: 'config',
    message: `${path} can be read by other users (mode 640)`,
    hint: `Run: chmod 600 ${path}`,
  });
});

test('one broken app does not hide the others', async () => {
  const opened = await openStored();
  edit(opened, { app, broken: { ...app, app_code: 9 } });
  const apps = await opened.credentials.licensingApps();
  const results = await Promise.allSettled(apps.map((stored) => stored.credential()));
  expect(apps.map(({ profile, app_code }) => [profile, app_code])).toEqual([
    ['app', 7],
    ['broken', 9],
  ]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
});

test.each<[string, typeof openStored, string | undefined, readonly unknown[]]>([
  ["the environment's", (env) => Promise.resolve(open(env)), '3', [['environment', 3, 'https://env.example']]],
  ['none where the environment names no application', (env) => Promise.resolve(open(env)), undefined, []],
  ['the stored ones alone', openStored, '3', [7, 8].map((code) => [code === 7 ? 'app' : 'second', code, app.base_url])],
])('the apps are %s', async (_name, opened, CHATELAINE_APP_CODE, expected) => {
  const { credentials } = await opened({ ...licensingUnit, CHATELAINE_APP_CODE });
  const apps = await credentials.licensingApps();
  expect(apps.map(({ profile, app_code, base_url }) => [profile, app_code, base_url])).toEqual(expected);
});

test.each([
  ['key\n', 'key'],
  ['key\r\nsecond line\n', 'key'],
  ['key', 'key'],
])('a key file of %j gives its first line', async (text, key) => {
  const { folder } = place();
  const path = join(folder, 'key');
  writeFileSync(path, text, { mode: 0o600 });
  const { credentials } = open({ CHATELAINE_BASE_URL: 'https://a.example', CHATELAINE_API_KEY_FILE: path });
  expect((await credentials.licensing({})).key.reveal()).toBe(key);
});

test.each([
  ['empty', '', '(PATH): the key is empty'],
  ['empty in its first line', '\ncanary\n', '(PATH): the key is empty'],
  ['no text', 'canary\0\n', '(PATH): the key contains a character that cannot be sent'],
])('a key file that is %s is refused', async (_name, text, message) => {
  expect(await refusalOf(text, 0o600)).toMatchObject({ kind: 'config', message });
});

test.each([
  ['open to others', 0o644, 'PATH can be read by other users (mode 644)'],
  ['open to its group', 0o640, 'PATH can be read by other users (mode 640)'],
])('a key file that is %s is refused', needs('modes'), async (_name, mode, message) => {
  expect(await refusalOf('canary', mode)).toMatchObject({ kind: 'config', message });
});

/** With PATH for the path, and without the variable that names it. */
async function refusalOf(text: string, mode: number): Promise<Told> {
  const { folder } = place();
  const path = join(folder, 'key');
  writeFileSync(path, text);
  chmodSync(path, mode);
  const { credentials } = open({ CHATELAINE_BASE_URL: 'https://a.example', CHATELAINE_API_KEY_FILE: path });
  const told = await failureOf(() => credentials.licensing({}));
  return { ...told, message: told.message.replace(path, 'PATH').replace(/^CHATELAINE_API_KEY_FILE:? /, '') };
}

test('a missing key file, and a folder in its place, are reported', async () => {
  const { folder } = place();
  const at = (path: string) =>
    open({ CHATELAINE_BASE_URL: 'https://a.example', CHATELAINE_API_KEY_FILE: path }).credentials.licensing({});
  expect((await failureOf(() => at(join(folder, 'none')))).message).toBe(
    `CHATELAINE_API_KEY_FILE: cannot read ${join(folder, 'none')}: no such file or directory`,
  );
  expect((await failureOf(() => at(folder))).message).toBe(
    `CHATELAINE_API_KEY_FILE: cannot read ${folder}: it is a directory`,
  );
});

test('a key file may be a pipe', needs('proc', 'shell'), async () => {
  const { folder } = place();
  const { execFileSync } = await import('node:child_process');
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const writer = openSync(path, 'r+');
  writeFileSync(writer, 'piped-key\n');
  const { credentials } = open({ CHATELAINE_BASE_URL: 'https://a.example', CHATELAINE_API_KEY_FILE: path });
  expect((await credentials.licensing({})).key.reveal()).toBe('piped-key');
  closeSync(writer);
});

test('no failure holds a key, however it is shown', async () => {
  const environments: Environment[] = [
    { CHATELAINE_API_KEY: 'canary' },
    { ...licensingUnit, CHATELAINE_API_KEY: 'canary\nmore' },
    { ...licensingUnit, CHATELAINE_BASE_URL: 'https://user:canary@a.example' },
    { ...licensingUnit, CHATELAINE_API_KEY: 'canary', CHATELAINE_API_KEY_FILE: '/f' },
  ];
  for (const env of environments) {
    const failure: unknown = await open(env)
      .credentials.licensing({})
      .catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(Failure);
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('canary');
  }
});
