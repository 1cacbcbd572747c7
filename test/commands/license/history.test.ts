import { expect, test } from 'vitest';
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
