import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyHome, openSandbox, runAlone } from '../../helpers/run.ts';
import { needs } from '../../helpers/needs.ts';

const stateOf = (home: string): string => join(home, '.local', 'state', 'chatelaine');

describe('the folder of state', needs('modes'), () => {
  const edit = async (home: string) =>
    (await openSandbox()).run('license ensure --remote-user ada --size-allowance 4', { home });

  test.each([
    ['history-2026.ndjson', 'is not a regular file'],
    ['locks', 'is a symbolic link, which is not followed'],
  ])('nothing is written through a link: %s', async (name, said) => {
    const home = emptyHome();
    const outside = join(home, 'outside');
    mkdirSync(stateOf(home), { recursive: true, mode: 0o700 });
    if (name === 'history-2026.ndjson') writeFileSync(outside, 'theirs\n');
    else mkdirSync(outside);
    symlinkSync(outside, join(stateOf(home), name));
    writeFileSync(join(home, 'roster.csv'), 'remote_user,size_allowance\nada,4\n');

    const { exitCode, stderr } = await (await openSandbox()).run(`license apply ${join(home, 'roster.csv')}`, { home });

    expect([exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([3, expect.stringContaining(said) as string]);
    if (name === 'history-2026.ndjson') expect(readFileSync(outside, 'utf8')).toBe('theirs\n');
    else expect(readdirSync(outside)).toEqual([]);
  });

  test('one that others can write is refused, as that of the configuration is', async () => {
    const home = emptyHome();
    mkdirSync(stateOf(home), { recursive: true });
    chmodSync(stateOf(home), 0o777);

    const { exitCode, stderr } = await edit(home);

    expect(exitCode).toBe(3);
    expect(stderr).toContain(`the folder ${stateOf(home)} can be written by other users (mode 777)`);
    expect(stderr).toContain(`chmod 700 ${stateOf(home)}`);
    expect(readdirSync(stateOf(home))).toEqual([]);
  });

  test.each([
    ['license history', 'XDG_STATE_HOME', 'that can be written'],
    ['license ensure --remote-user ada --size-allowance 4', 'XDG_STATE_HOME', 'that can be written'],
    ['auth list', 'CHATELAINE_CONFIG_DIR', 'of your own'],
  ])('one that cannot be read says how another is named: %s', async (line, variable, what) => {
    const loop = join(emptyHome(), 'loop');
    symlinkSync(loop, loop);

    const { exitCode, error } = await (await openSandbox()).run(`${line} -o json`, { env: { [variable]: loop } });

    expect([exitCode, error?.message]).toEqual([3, expect.stringContaining('too many symbolic links')]);
    expect(error?.hint).toBe(`Set ${variable} to a folder ${what}.`);
  });

  test('it may be a link itself, to a folder of this user', async () => {
    const home = emptyHome();
    const real = join(home, 'real');
    mkdirSync(real, { mode: 0o700 });
    mkdirSync(join(stateOf(home), '..'), { recursive: true });
    symlinkSync(real, stateOf(home));

    expect((await edit(home)).exitCode).toBe(0);
    expect(readdirSync(real)).toContain('history-2026.ndjson');
  });
});

describe('an archive that came from elsewhere', needs('modes'), () => {
  async function archived(options = '') {
    const service = await openSandbox();
    service.sandbox.state.post({ channel: 'general', topic: 'plans', content: '[file](/user_uploads/2/a/b.pdf)' });
    const home = emptyHome();
    const folder = join(home, 'archive');
    await service.run(`archive pull ${folder} --channel general --topic plans --both${options}`);
    service.sandbox.state.post({ channel: 'general', topic: 'plans', content: '[more](/user_uploads/2/a/c.pdf)' });
    return { ...service, home, folder, outside: join(home, 'outside') };
  }

  test.each([
    'changes.ndjson',
    'files.ndjson',
    'purge.ndjson',
    'parts.ndjson',
    'archive.json',
    'rendered-000001.ndjson',
  ])('no file of it is opened through a link, also where none was before: %s', async (name) => {
    const { run, folder, outside } = await archived();
    if (existsSync(join(folder, name))) renameSync(join(folder, name), outside);
    symlinkSync(outside, join(folder, name));
    const before = existsSync(outside) ? readFileSync(outside, 'utf8') : undefined;

    const ran = [
      await run(`archive pull ${folder} --recheck --files`),
      await run(`archive export ${folder} -o html --to ${folder}-site/`),
    ];

    expect(ran.map(({ exitCode }) => exitCode)).toEqual([3, 3]);
    for (const { stderr } of ran) expect(stderr).toMatch(/is a symbolic link, which is\s+not followed/);
    expect(existsSync(outside) ? readFileSync(outside, 'utf8') : undefined).toBe(before);
  });

  test('nor is its folder of attached files, of an archive and of an export', async () => {
    const { run, folder, outside, home } = await archived(' --files');
    renameSync(join(folder, 'files'), outside);
    symlinkSync(outside, join(folder, 'files'));
    const before = readdirSync(outside);

    const pull = await run(`archive pull ${folder}`);
    renameSync(outside, `${outside}-2`);
    renameSync(join(folder, 'files'), outside);
    renameSync(`${outside}-2`, join(folder, 'files'));
    const site = join(home, 'site');
    mkdirSync(site);
    mkdirSync(join(home, 'other'));
    symlinkSync(join(home, 'other'), join(site, 'files'));
    const exported = await run(`archive export ${folder} -o html --to ${site}/`);

    for (const { exitCode, stderr } of [pull, exported]) {
      expect(exitCode).toBe(3);
      expect(stderr).toContain('files is a symbolic link, which is not followed');
    }
    expect(readdirSync(join(folder, 'files'))).toEqual(before);
    expect(readdirSync(join(home, 'other'))).toEqual([]);
  });

  test.each([
    ['a channel', 'archive pull DIR --all-channels'],
    ['a topic', 'topic delete general plans --confirm plans --archive DIR'],
  ])('nor is the folder of %s', async (_what, making) => {
    const { run, home, sandbox } = await archived();
    const [folder, outside] = [join(home, 'all'), join(home, 'elsewhere')];
    await run(making.replace('DIR', folder));
    const [name = ''] = readdirSync(folder).filter((one) => one.startsWith('1-'));
    renameSync(join(folder, name), outside);
    symlinkSync(outside, join(folder, name));
    const before = readdirSync(outside);
    sandbox.state.post({ channel: 'general', topic: 'plans', content: 'later' });

    const again = await run(making.replace('DIR', folder));
    const exported = await run(`archive export ${folder} -o csv`);

    for (const { exitCode, stderr } of [again, exported]) {
      expect(exitCode).toBe(3);
      expect(stderr).toContain(`${join(folder, name)} is a symbolic link, which is not followed`);
    }
    expect(readdirSync(outside)).toEqual(before);
  });
});

test('the configuration may be links: stow and mounts of Kubernetes make them', needs('modes'), async () => {
  const home = emptyHome();
  const real = join(home, 'dotfiles');
  mkdirSync(real, { mode: 0o700 });
  writeFileSync(join(real, 'config.json'), '{"version":1}\n', { mode: 0o600 });
  mkdirSync(join(home, '.config', 'chatelaine'), { recursive: true, mode: 0o700 });
  symlinkSync(join(real, 'config.json'), join(home, '.config', 'chatelaine', 'config.json'));

  expect((await runAlone('auth list', { home, bare: true })).stderr).toContain('no credential is stored');
});
