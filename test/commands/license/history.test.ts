import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyHome, openSandbox, type Ran } from '../../helpers/run.ts';

const rowsOf = ({ stdout }: Ran): unknown =>
  (JSON.parse(stdout) as { remote_user: string }[]).map((row) => row.remote_user);

test('--profile shows what runs did for the application of that profile', async () => {
  const home = emptyHome();
  const [near, far] = await Promise.all([openSandbox(), openSandbox()]);
  for (const [name, { run, env }] of Object.entries({ near, far })) {
    const line = `auth login licensing --base-url ${env['CHATELAINE_BASE_URL']} --app-code 4711 --name ${name} --api-key-stdin`;
    expect((await run(line, { home, bare: true, stdin: `${env['CHATELAINE_API_KEY']}\n` })).exitCode).toBe(0);
    const created = await run(`license create --remote-user ${name} --size-allowance 3 -p ${name}`, {
      home,
      bare: true,
    });
    expect(created.exitCode).toBe(0);
  }
  const show = (options: string): Promise<Ran> => near.run(`license history -o json ${options}`, { home, bare: true });

  expect(rowsOf(await show(''))).toEqual(['near', 'far']);
  expect(rowsOf(await show('-p near'))).toEqual(['near']);
  expect(rowsOf(await show('-p far'))).toEqual(['far']);
  expect((await show('-p nobody')).error).toMatchObject({ exit: 3, message: "there is no profile 'nobody'" });
});

test('rows of several servers have the server of each as it was given, in a pipe and at 80 columns; rows of one have none on a terminal', async () => {
  const home = emptyHome();
  const sandboxes = await Promise.all([openSandbox(), openSandbox()]);
  const origins = sandboxes.map(({ env }) => new URL(env['CHATELAINE_BASE_URL'] ?? '').origin);
  const terminal = { home, tty: true, columns: 80, env: { TZ: 'UTC', NO_COLOR: '1' } };
  for (const { run } of sandboxes) await run('license edit --match physio-7731 --size-allowance 5 -y', { home });
  const [{ run }] = sandboxes;

  for (const [format, mark] of [
    ['', '\t'],
    ['-o csv', ','],
  ] as const) {
    const [head = [], ...rows] = (await run(`license history ${format}`, { home })).stdout
      .trim()
      .split('\n')
      .map((line) => line.split(mark));
    expect(rows.map((row) => row[head.indexOf('origin')])).toEqual(origins);
  }
  const shown = (await run('license history', terminal)).stdout;
  expect(shown.split('\n')[0]).toMatch(/^time +run +origin +remote_user +change$/);
  for (const origin of origins) expect(shown).toContain(` ${origin} `);
  const one = await run('license history --since 2000-01-01', { ...terminal, home: await homeOfOne() });
  expect(one.stdout.split('\n')[0]).toMatch(/^time.* change/);
  expect(one.stdout).not.toContain('origin');
  expect(one.stderr).not.toContain('origin');
});

async function homeOfOne(): Promise<string> {
  const home = emptyHome();
  const { run } = await openSandbox();
  for (const user of ['physio-7731', 'physio-7740'])
    await run(`license edit --match ${user} --size-allowance 5 -y`, { home });
  return home;
}

test('at 80 columns the time of each change stays', async () => {
  const home = emptyHome();
  const { run } = await openSandbox();
  for (const [hour, line] of [
    'license create --remote-user ada.lovelace@clinic-north.example --size-allowance 3',
    'license edit --match physio-7731 --size-allowance 5 -y',
  ].entries())
    await run(line, { home, now: Date.UTC(2026, 2, 1, 12 + hour) });

  const { stdout, lines } = await run('license history', {
    home,
    tty: true,
    columns: 80,
    env: { TZ: 'UTC', NO_COLOR: '1' },
  });

  expect(stdout.replaceAll(/ [0-9A-Z]{4} /g, ' RUNN ').split('\n')).toEqual([
    'time              run   remote_user                        change',
    '2026-03-01 12:00  RUNN  ada.lovelace@clinic-north.example  created',
    '2026-03-01 13:00  RUNN  physio-7731                        resized 4 -> 5',
    '',
  ]);
  expect(lines.at(-1)).toContain('license_code_end');
});

describe('a roster that asks for users whom this computer renamed or retired', () => {
  const roster = ['remote_user,size_allowance', 'physio-7731,4', 'physio-7740,4', 'new,2', ''].join('\n');
  const warnings = ({ stderr }: Ran): string[] => stderr.split('\n').filter((line) => line.includes('since'));
  const expected = [
    "warning: 'physio-7731' is 'physio-9' since 2026-03-01; this roster asks for a new license",
    expect.stringMatching(
      /^warning: 'physio-7740' is 'left-2026-03-physio-7740-\w{4}' since 2026-03-01: run (\w{4}) retired that license, and chatelaine license undo \1 gives it back; this roster asks for a new license$/,
    ),
  ];

  test.each([
    ['a plan', '-n', {}],
    ['a question', '', { tty: true, columns: 300, env: { NO_COLOR: '1' } }],
  ])('%s names them', async (_what, options, given) => {
    const home = emptyHome();
    const { run } = await openSandbox();
    await run('license rename physio-7731 physio-9', { home });
    await run('license retire --remote-user physio-7740 -y', { home });
    const file = join(home, 'roster.csv');
    writeFileSync(file, roster);
    const ran = await run(`license apply ${file} ${options}`, { home, stdin: 'n\n', ...given });
    expect(warnings(ran)).toEqual(expected);
  });

  test('who had the name again, and lost it elsewhere, is not named', async () => {
    const home = emptyHome();
    const { run } = await openSandbox();
    await run('license rename physio-7731 physio-9', { home });
    await run('license rename physio-9 physio-7731', { home });
    await run('license rename physio-7731 physio-10');
    const ran = await run('license apply - -n --input-format csv --send-again physio-7731', { home, stdin: roster });
    expect(ran.stdout).toContain('physio-7731\t4711\t4\tcreate');
    expect(warnings(ran)).toEqual([]);
  });
});

test('--retire-missing counts a retired license that was resized since as one in use', async () => {
  const home = emptyHome();
  const { run } = await openSandbox();
  await run('license retire --remote-user physio-7740 -y', { home });
  const { stdout } = await run('license list --match left-* -o json', { home });
  const [left] = JSON.parse(stdout) as readonly { readonly license_code: string; readonly remote_user: string }[];
  await run(`license edit ${left?.license_code} --size-allowance 5 -y`, { home });
  const roster = 'remote_user,size_allowance\nphysio-7731,4\n';
  const plan = await run('license apply - -n --retire-missing --max-retire 9 --input-format csv', {
    home,
    stdin: roster,
  });
  expect(plan.stdout).toMatch(new RegExp(`${left?.remote_user}\\t.*\\tretire\\t`));
});
