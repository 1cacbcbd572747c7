import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { licensingWorld } from '../../helpers/licensing-world.ts';
import { openSandbox, runAlone } from '../../helpers/run.ts';

async function service() {
  const { run, runElsewhere, sandbox, home, users } = await licensingWorld();
  await runElsewhere('license create --remote-user ada --size-allowance 4');
  await runElsewhere('license create --remote-user ben --size-allowance 5');
  const file = join(home, 'sheet.csv');
  const codeOf = (user: string) =>
    sandbox.state.licenses().find(({ remote_user }) => remote_user === user)?.license_code ?? '';
  const write = (text: string): string => {
    writeFileSync(file, text);
    return file;
  };
  return { run: (line: string | string[], stdin = '') => run(line, { stdin }), codeOf, write, users, sandbox };
}

describe('license list --from', () => {
  const sheet = 'Name;Remote User;Ort\nBen B.;ben;Ulm\nNobody;zoe;Bonn\nAda A.;ada;Köln\nBen again;ben;Ulm\n';

  test('has a row for each row of the sheet, in its order, with its other columns, and is 5 where a user has none', async () => {
    const { run, codeOf, write, users } = await service();
    const before = users();
    const ran = await run(`license list --from ${write(sheet)} --keep-columns -o json`);
    expect(ran.exitCode).toBe(5);
    expect(ran.error).toMatchObject({
      message: '1 of 3 users has no license: zoe',
      hint: 'license apply with the same file and options creates what is missing.',
    });
    const rows = (JSON.parse(ran.stdout) as Record<string, unknown>[]).map((row) =>
      ['Name', 'Ort', 'remote_user', 'license_code', 'size_allowance'].map((name) => row[name]),
    );
    expect(rows).toEqual([
      ['Ben B.', 'Ulm', 'ben', codeOf('ben'), 5],
      ['Nobody', 'Bonn', 'zoe', null, null],
      ['Ada A.', 'Köln', 'ada', codeOf('ada'), 4],
      ['Ben again', 'Ulm', 'ben', codeOf('ben'), 5],
    ]);
    expect(users()).toEqual(before);
  });

  test('names the application whose key is used for another one', async () => {
    const { run } = await openSandbox();
    const env = { CHATELAINE_APP_CODE: '4712' };
    const { exitCode, error } = await run('license list --from - -o json', { env, stdin: 'remote_user\nada\n' });
    expect([exitCode, error?.message]).toEqual([4, 'this key belongs to application 4711, not 4712']);
  });

  test('-o csv has the same columns in each row, and -q prints the keys that there are', async () => {
    const { run, codeOf, write } = await service();
    const csv = await run(`license list --from ${write('remote_user\nzoe\nada\n')} -o csv`);
    expect(csv.stdout.split('\n').map((line) => line.split(',').length)).toEqual([5, 5, 5, 1]);
    expect((await run(`license list --from ${write('zoe\nada\n')} -q`)).stdout).toBe(`${codeOf('ada')}\n`);
  });

  test('of several licenses it shows the one that apply keeps, and warns', async () => {
    const { run, sandbox, write } = await service();
    await run('license create --remote-user ada --size-allowance 7');
    const wanted = sandbox.state.licenses().find((one) => one.remote_user === 'ada' && one.size_allowance === 7);
    const ran = await run(`license list --from ${write('remote_user,size_allowance\nada,7\n')} -q`);
    expect([ran.exitCode, ran.stdout]).toEqual([0, `${wanted?.license_code ?? ''}\n`]);
    expect(ran.stderr).toContain('ada has several licenses');
  });

  test('a long sheet is read by one list', async () => {
    const requests: string[] = [];
    const { run } = await openSandbox({ log: ({ method, path }) => void requests.push(`${method} ${path}`) });
    const rows = Array.from({ length: 30 }, () => 'physio-7731\n').join('');
    const ran = await run('license list --from - --fields remote_user --no-header', { stdin: `remote_user\n${rows}` });
    expect([ran.exitCode, ran.stdout]).toEqual([0, rows]);
    expect(requests.length).toBeLessThanOrEqual(3);
  });

  const part = '.[] | select(.created >= "2026-01-31")';
  const filters = ['--remote-user ada', "--match 'a*'", '--code x', '--since 7d', '--until 7d', '--limit 3'];
  test.each([...filters, '--size-allowance 4', '--active', '--all-apps'])(
    'excludes %s, and says how to take a part of the result',
    async (words) => {
      const { error } = await runAlone(`license list --from sheet.csv -o json ${words}`);
      expect(error).toMatchObject({
        exit: 2,
        message: `--from and ${words.split(' ')[0] ?? ''} exclude each other`,
        hint: `The sheet selects the users. --where COLUMN=VALUE selects rows of it, --jq part of the result: --jq '${part}'`,
      });
    },
  );

  test('the part of the result that the error of --since shows is taken', async () => {
    const { run, write } = await service();
    const line = `license list --from ${write(sheet)} -o json --jq`;
    expect((await run([...line.split(' '), part])).exitCode).toBe(5);
  });
});

describe('--where', () => {
  const sheet = 'remote_user,size_allowance,Status\nada,6,renew\nben,x,leave\ncleo,3,renew\n';

  test('takes the rows that have the value, says how many it left, and the others may be wrong', async () => {
    const { run, write, users } = await service();
    const ran = await run(`license apply ${write(sheet)} --where Status=renew -q --fields remote_user,status`);
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    expect(users()).toContain('cleo');
    const shown = await run(`license apply ${write(sheet)} --where status=renew --dry-run --fields remote_user`);
    expect(shown.stderr).toContain('2 of 3 rows are taken: status is renew');
    expect(shown.stdout).toBe('remote_user\nada\ncleo\n');
  });

  test('is an option of every command that reads a sheet of users or sensors', async () => {
    const { run, write } = await service();
    const sensors = write('mac_address,remote_user,Ort\n00:13:43:9A:01:7F,ada,Ulm\n00:13:43:9A:01:80,ada,Bonn\n');
    const taken = '1 of 2 rows is taken: ort is Ulm';
    for (const line of [
      `first-activation --from ${sensors} --where Ort=Ulm`,
      `first-activation audit ${sensors} --where Ort=Ulm`,
      `license audit --roster ${sensors} --where Ort=Ulm`,
    ])
      expect([line, (await run(line)).stderr]).toEqual([line, expect.stringContaining(taken)]);
  });
});
