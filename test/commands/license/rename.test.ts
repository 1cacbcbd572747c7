import { expect, test } from 'vitest';
import { Failure } from '../../../src/core/failure.ts';
import { licensingWorld } from '../../helpers/licensing-world.ts';
import { emptyHome } from '../../helpers/run.ts';

test('a name whose creation was answered, and is in no list yet, is not given to another license', async () => {
  const { run, users } = await licensingWorld({ stale: 60_000 });
  const opened = await run('license ensure --remote-user ada --size-allowance 4');
  const before = users();

  const renamed = await run('license rename physio-7731 ada -y');

  expect([opened.exitCode, renamed.exitCode]).toEqual([9, 6]);
  expect(renamed.stderr).toMatch(
    /the server answered a request of \S+Z with 201, with a license whose key ends with \w{4}; .*: nothing was changed/,
  );
  expect(users()).toEqual(before);
});

test('Ctrl-C in a rename whose PATCH is carried out late: the same command finds it done, and the history does not know whether it was', async () => {
  const stop = new AbortController();
  const { run, users } = await licensingWorld({}, 'PATCH /*=delay-commit#1@3s', {
    log: ({ method }) => {
      if (method === 'PATCH') stop.abort(new Failure('cancelled', 'interrupted'));
    },
  });

  const cut = await run('license rename physio-7731 ada -y', { interrupt: stop.signal });
  const again = await run('license rename physio-7731 ada -y -o json');
  await run('license ensure --remote-user ada --size-allowance 4');
  const history = await run('license history -o json');

  expect(cut.exitCode).toBe(130);
  expect([again.exitCode, JSON.parse(again.stdout)]).toMatchObject([0, [{ remote_user: 'ada', status: 'unchanged' }]]);
  expect(users().filter((name) => name === 'ada' || name === 'physio-7731')).toEqual(['ada']);
  expect(JSON.parse(history.stdout)).toMatchObject([
    { change: 'unknown: renamed from physio-7731', remote_user: 'ada' },
  ]);
});

test('what was renamed before the user got another license, from whatever computer, is a license of the new name', async () => {
  const { run, users } = await licensingWorld({});
  const rename = 'license rename physio-7731 ada -y -o json';
  const first = await run(rename);
  await run('license ensure --remote-user physio-7731 --size-allowance 4', { home: emptyHome() });

  const again = await run(rename);
  const allowed = await run(`${rename} --allow-duplicate`);

  expect([first.exitCode, again.exitCode, allowed.exitCode]).toEqual([0, 6, 0]);
  expect(again.stderr).toContain('ada already has a license: nothing was changed');
  expect(users().filter((name) => name === 'ada' || name === 'physio-7731')).toEqual(['ada', 'ada']);
  const stdin = 'remote_user,new_remote_user\nphysio-7740,ada\nclinic-north/ward-3,eva\n';
  const many = 'license rename --from - --input-format csv -y';
  expect([(await run(many, { stdin })).exitCode, users().includes('eva')]).toEqual([6, false]);
  expect((await run(`${many} --allow-duplicate`, { stdin })).exitCode).toBe(0);
});

test('what was renamed stays renamed, whatever another application gives the user, or this one another', async () => {
  const { run } = await licensingWorld({});
  const rename = 'license rename physio-7731 ada -y -o json';
  await run(rename);
  await run('license create --remote-user zoe --size-allowance 4');
  const env = { CHATELAINE_APP_CODE: '4712', CHATELAINE_API_KEY: 'sandbox-key-of-app-4712' };
  const other = await run('license ensure --remote-user physio-7731 --size-allowance 4', { env });

  const again = await run(rename);

  expect(other.exitCode).toBe(0);
  expect([again.exitCode, JSON.parse(again.stdout)]).toMatchObject([0, [{ remote_user: 'ada', status: 'unchanged' }]]);
});
