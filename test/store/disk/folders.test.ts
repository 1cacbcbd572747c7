import { expect, test } from 'vitest';
import { foldersOf, libpqFile } from '../../../src/store/disk/folders.ts';
import type { Environment, System } from '../../../src/core/system.ts';
import { failureOf } from '../place.ts';
import { systemIn } from '../system.ts';

const system = (platform: NodeJS.Platform, home: string, env: Environment): System => ({
  ...systemIn('/tmp'),
  env,
  platform,
  home,
});

test.each<[string, NodeJS.Platform, string, Environment, string, string]>([
  ['the home', 'linux', '/home/u', {}, '/home/u/.config/chatelaine', '/home/u/.local/state/chatelaine'],
  ['the home of macOS', 'darwin', '/Users/u', {}, '/Users/u/.config/chatelaine', '/Users/u/.local/state/chatelaine'],
  [
    'XDG variables',
    'linux',
    '/home/u',
    { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' },
    '/c/chatelaine',
    '/s/chatelaine',
  ],
  [
    'no relative or empty XDG variable',
    'linux',
    '/home/u',
    { XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '' },
    '/home/u/.config/chatelaine',
    '/home/u/.local/state/chatelaine',
  ],
  [
    'CHATELAINE_CONFIG_DIR as it is',
    'linux',
    '/home/u',
    { CHATELAINE_CONFIG_DIR: '/ours', XDG_CONFIG_HOME: '/c' },
    '/ours',
    '/home/u/.local/state/chatelaine',
  ],
  [
    'never the current folder',
    'linux',
    '',
    {},
    '/nonexistent/.config/chatelaine',
    '/nonexistent/.local/state/chatelaine',
  ],
  [
    'APPDATA',
    'win32',
    'C:\\Users\\u',
    { APPDATA: 'C:\\Roaming', LOCALAPPDATA: 'C:\\Local' },
    'C:\\Roaming\\chatelaine',
    'C:\\Local\\chatelaine',
  ],
])('uses %s', (_name, platform, home, env, config, state) => {
  expect(foldersOf(system(platform, home, env))).toEqual({ config, state });
});

test('a relative CHATELAINE_CONFIG_DIR is refused where the configuration is used', async () => {
  const folders = foldersOf(system('linux', '/home/u', { CHATELAINE_CONFIG_DIR: './here' }));
  expect(folders.state).toBe('/home/u/.local/state/chatelaine');
  expect(await failureOf(() => folders.config)).toEqual({
    kind: 'config',
    message: "CHATELAINE_CONFIG_DIR is './here': it must be an absolute path",
    hint: 'No file of the current folder is ever read; write the absolute path.',
  });
});

test('on Windows a CHATELAINE_CONFIG_DIR without a drive is refused, and libpq has its files in a folder of its own', async () => {
  const windows = (env: Environment): System => system('win32', 'C:\\Users\\u', env);
  const folders = foldersOf(windows({ CHATELAINE_CONFIG_DIR: '\\cfg' }));
  expect((await failureOf(() => folders.config)).message).toBe(
    String.raw`CHATELAINE_CONFIG_DIR is '\cfg': it must be an absolute path`,
  );
  for (const whole of ['D:\\cfg', '\\\\server\\share\\cfg'])
    expect(foldersOf(windows({ CHATELAINE_CONFIG_DIR: whole })).config).toBe(whole);
  expect(libpqFile(windows({ APPDATA: 'D:\\Data' }), '.pgpass', 'pgpass.conf')).toBe(
    String.raw`D:\Data\postgresql\pgpass.conf`,
  );
  expect(libpqFile(windows({}), '.pgpass', 'pgpass.conf')).toBe(
    String.raw`C:\Users\u\AppData\Roaming\postgresql\pgpass.conf`,
  );
  expect(libpqFile(system('linux', '/home/u', {}), '.postgresql/root.crt', 'root.crt')).toBe(
    '/home/u/.postgresql/root.crt',
  );
});
