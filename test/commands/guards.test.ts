import { describe, expect, test } from 'vitest';
import { emptyHome, openSandbox, type RunOptions } from '../helpers/run.ts';

const ensure = (user: string, size = 4) => `license ensure --remote-user ${user} --size-allowance ${size}`;

async function service() {
  const { run, sandbox } = await openSandbox();
  const before = JSON.stringify(sandbox.state.licenses());
  const isUnchanged = () => JSON.stringify(sandbox.state.licenses()) === before;
  return { isUnchanged, run: (line: string, env: NonNullable<RunOptions['env']>) => run(line, { env }) };
}

describe('CHATELAINE_DRY_RUN', () => {
  test.each(['1', 'true', 'yes', 'TRUE'])('%s: ensure changes nothing, and says what it would do', async (value) => {
    const { run, isUnchanged } = await service();
    const env = { CHATELAINE_DRY_RUN: value };
    const created = await run(ensure('ada'), env);
    expect([created.exitCode, created.stdout]).toEqual([10, '']);
    expect(created.stderr).toContain('would be created: the license of ada');
    const resized = await run(ensure('physio-7731', 9), env);
    expect(resized.exitCode).toBe(0);
    expect(resized.stdout).toMatch(/^[0-9A-F-]{23}\n$/);
    expect(resized.stderr).toContain('would be resized 4 -> 9: the license of physio-7731');
    const left = await run(ensure('physio-7731', 4), env);
    expect([left.exitCode, left.stdout]).toEqual([0, resized.stdout]);
    expect(left.stderr).toContain('CHATELAINE_DRY_RUN is set: nothing is changed');
    expect(isUnchanged()).toBe(true);
  });

  test.each([
    'license create --remote-user ada --size-allowance 4',
    'settings set color_scheme=dark',
    'snippet rm 1',
    'view pin inbox',
    'api licensing POST /license/ -f remote_user=x',
  ])('%s shows its requests', async (line) => {
    const { run, isUnchanged } = await service();
    const ran = await run(`${line} -o json`, { CHATELAINE_DRY_RUN: '1' });
    expect([ran.exitCode, JSON.parse(ran.stdout)]).toEqual([
      0,
      expect.arrayContaining([expect.objectContaining({ method: expect.any(String) as string })]),
    ]);
    expect(isUnchanged()).toBe(true);
  });

  test.each([
    'license rename physio-7731 eva',
    'license retire --remote-user physio-7731',
    "topic delete general 'calibration log'",
  ])('%s shows its plan, also where only reading is allowed', async (line) => {
    const { run, isUnchanged } = await service();
    const ran = await run(line, { CHATELAINE_DRY_RUN: '1', CHATELAINE_READ_ONLY: '1' });
    expect(ran.exitCode).toBe(0);
    expect(ran.stdout).toContain('would be');
    expect(isUnchanged()).toBe(true);
  });

  test.each(['', '0', 'false', 'no'])('%j is unset', async (value) => {
    const { run, isUnchanged } = await service();
    expect((await run(ensure('ada'), { CHATELAINE_DRY_RUN: value, CHATELAINE_READ_ONLY: value })).exitCode).toBe(0);
    expect(isUnchanged()).toBe(false);
  });

  test.each(['CHATELAINE_DRY_RUN', 'CHATELAINE_READ_ONLY'])('%s with another value is exit 3', async (name) => {
    const { run, isUnchanged } = await service();
    const ran = await run(ensure('ada'), { [name]: 'on' });
    expect([ran.exitCode, ran.lines[0]]).toEqual([3, `chatelaine: ${name}: 'on' is neither true nor false`]);
    expect(isUnchanged()).toBe(true);
  });
});

test.each([
  ensure('ada'),
  'license create --remote-user ada --size-allowance 4',
  'license rename physio-7731 eva',
  'license retire --remote-user physio-7731',
  'license edit 0191A-86552-95939-DF69B --size-allowance 8',
  'settings set color_scheme=dark',
  'snippet rm 1',
  'view pin inbox',
  "topic delete general 'calibration log' --confirm 'calibration log' --no-archive",
  'api licensing POST /license/ -f remote_user=x',
])('CHATELAINE_READ_ONLY refuses %s', async (line) => {
  const { run, isUnchanged } = await service();
  const ran = await run(line, { CHATELAINE_READ_ONLY: 'yes' });
  expect([ran.exitCode, ran.stderr]).toEqual([3, expect.stringContaining('unset CHATELAINE_READ_ONLY')]);
  expect(isUnchanged()).toBe(true);
  expect((await run('license list', { CHATELAINE_READ_ONLY: 'yes' })).exitCode).toBe(0);
});

test('CHATELAINE_READ_ONLY refuses ledger init before it connects', async () => {
  const { run } = await service();
  const env = { CHATELAINE_READ_ONLY: 'yes', CHATELAINE_LEDGER: 'postgres://x@127.0.0.1:1/y' };
  const ran = await run('ledger init', env);
  expect([ran.exitCode, ran.stderr]).toEqual([3, expect.stringContaining('unset CHATELAINE_READ_ONLY')]);
});

describe('a variable that is none of ours', () => {
  test.each([
    ['CHATELAINE_APP_CDOE', 3, 'CHATELAINE_APP_CODE'],
    ['CHATELAINE_DRYRUN', 3, 'CHATELAINE_DRY_RUN'],
    ['CHATELAINE_READONLY', 3, 'CHATELAINE_READ_ONLY'],
    ['CHATELAINE_PROFIL', 3, 'CHATELAINE_PROFILE'],
    ['CHATELAINE_CHAT_STIE', 3, 'CHATELAINE_CHAT_SITE'],
    ['CHATELAINE_TIMOUT', 0, 'CHATELAINE_TIMEOUT'],
  ])('and differs by one slip: %s is exit %i', async (name, exitCode, meant) => {
    const { run } = await service();
    const ran = await run('license list', { [name]: '7' });
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(`${name} is not a variable of chatelaine; did you mean ${meant}?`);
    const checked = await run('doctor -o csv', { [name]: '7' });
    expect(checked.stdout).toContain(`environment,${name},note,is not a variable of chatelaine,Did you mean ${meant}?`);
  });

  test('and like none of ours is named by doctor alone', async () => {
    const { run } = await service();
    const env = { CHATELAINE_COLOUR_OF_HAIR: 'x', CHATELAINE_YES: '1' };
    const ran = await run('license list', env);
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    const { stdout } = await run('doctor -o csv', env);
    expect(stdout).toContain('environment,CHATELAINE_COLOUR_OF_HAIR,note,is not a variable of chatelaine,');
    expect(stdout).toContain('environment,CHATELAINE_YES,note,is not a variable of chatelaine,');
  });
});

describe('with several profiles of a kind stored', () => {
  async function twins() {
    const { run, sandbox } = await openSandbox();
    const home = emptyHome();
    const { licensing, chat } = sandbox;
    const [account = { email: '', api_key: '' }] = chat.accounts;
    for (const name of ['prod', 'staging']) {
      const app = `auth login licensing --base-url ${licensing.base_url} --app-code 4711 --name ${name} --api-key-stdin`;
      await run(app, { home, bare: true, stdin: licensing.apps[0].api_key });
      const site = `auth login chat --site ${chat.site} --email ${account.email} --name chat-${name} --api-key-stdin`;
      await run(site, { home, bare: true, stdin: account.api_key });
    }
    const hosts = { license: new URL(licensing.base_url).host, chat: new URL(chat.site).host };
    const given = { home, bare: true, tty: true };
    return { hosts, run: (line: string, stdin = '') => run(line, { ...given, stdin }) };
  }

  test.each([
    ['license retire --remote-user physio-7731', "Retire the license of 'physio-7731'?"],
    ['license create --remote-user physio-7731 --size-allowance 4', 'physio-7731 already has a license'],
    ["license edit --match 'physio-77*' --size-allowance 9", 'Resize'],
    ['snippet rm 1', 'Delete 1 '],
    ["topic delete general 'calibration log'", 'Type the topic'],
  ])('the question of %s names host and profile', async (line, question) => {
    const { run, hosts } = await twins();
    const isChat = !line.startsWith('license');
    const ran = await run(`${line} -p ${isChat ? 'chat-staging' : 'staging'}`, 'n\n');
    expect(ran.exitCode).toBe(130);
    expect(ran.stderr.replace(/\s+/g, ' ')).toContain(
      `${isChat ? hosts.chat : hosts.license}, profile ${isChat ? 'chat-' : ''}staging: ${question}`,
    );
  });

  test.each([
    [ensure('ada'), 'license'],
    ['license create --remote-user ada --size-allowance 4', 'license'],
    ['license rename physio-7731 eva', 'license'],
    ['license retire --remote-user physio-7731 -y', 'license'],
    ['license edit --match physio-7731 --size-allowance 9 -y', 'license'],
    ['settings set color_scheme=dark', 'chat'],
    ['view pin inbox', 'chat'],
    ['view hide inbox', 'chat'],
    ['snippet rm 1 -y', 'chat'],
  ] as const)('the result of %s names host and profile', async (line, kind) => {
    const { run, hosts } = await twins();
    const profile = kind === 'chat' ? 'chat-staging' : 'staging';
    const ran = await run(`${line} -p ${profile}`);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr.replace(/\s+/g, ' ')).toMatch(new RegExp(`on ${hosts[kind]}.*profile ${profile}`));
    expect((await run(`license list -p staging`)).stderr).not.toContain('profile staging');
  });

  test('license apply and undo name them once', async () => {
    const { run, hosts } = await twins();
    const ran = await run('license edit --match physio-7731 --size-allowance 9 -y -p staging');
    expect(ran.exitCode).toBe(0);
    const undone = await run('license undo -p staging', 'n\n');
    expect(undone.stderr.replace(/\s+/g, ' ')).toContain(`${hosts.license}, profile staging: Put this license back?`);
  });
});
