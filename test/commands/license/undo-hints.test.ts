import { expect, test } from 'vitest';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { emptyHome, fakeService, openSandbox, run, type RunOptions } from '../../helpers/run.ts';

const license = { license_code: 'ABCD-1234', remote_user: 'ada', app_code: 7, size_allowance: 4 };

/** The license is moved to application 8, as the answer says. */
async function move(fields: object, words: string) {
  const service = fakeService();
  const path = `/v1/license/${license.license_code}/`;
  service.expect(`GET ${path}`, 2).reply(200, license);
  for (const name of ['ada', 'ADA', 'Ada'])
    service.expect(`GET /v1/license/?remote_user=${name}&app_code=8`).reply(200, []);
  service.expect({ method: 'PATCH', path, json: fields }).reply(200, { ...license, ...fields });
  const home = emptyHome();
  const moved = await run(service, `license edit ${license.license_code} ${words}`, { home });
  service.done();
  return { moved, home };
}

test('edit --app-code says how to move the license back, not an undo that finds nothing', async () => {
  const { moved, home } = await move({ app_code: 8 }, '--app-code 8');
  expect([moved.exitCode, moved.lines.slice(-2)]).toEqual([
    0,
    ['app_code 7 -> 8', 'undo: chatelaine license edit CODE --app-code 7'],
  ]);
  const shown = await run(fakeService(), 'license history -o json --jq .[0].change', { home });
  expect(shown.stdout).toBe('moved from application 7\n');
  const undone = await run(fakeService(), 'license undo --dry-run', { home });
  expect([undone.exitCode, undone.stderr]).toEqual([8, expect.stringContaining('it was moved from application 7')]);
});

test('edit of application and size says both, and the edit that takes both back', async () => {
  const { moved } = await move({ app_code: 8, size_allowance: 9 }, '--app-code 8 --size-allowance 9');
  expect(moved.lines.slice(-2)).toEqual([
    'resized 4 -> 9, app_code 7 -> 8',
    'undo: chatelaine license edit CODE --app-code 7 --size-allowance 4',
  ]);
});

test('one strange name is one: not names of users', async () => {
  const { run: runHere } = await openSandbox();
  const { stderr } = await runHere('license apply - --dry-run', {
    stdin: 'remote_user,size_allowance\nSumme,3\nada,2\n',
  });
  expect(stderr).toContain("'Summe' (line 2) may not be the name of a user: spreadsheets write such a text\n");
});

test.each([
  ['ensure', 9],
  ['create', 9],
])('after the deadline license %s announces no check that does not come', async (verb, exit) => {
  let reach: () => void = () => undefined;
  const log = ({ method }: { readonly method: string }) => (method === 'POST' ? reach() : undefined);
  const { run: runHere } = await openSandbox({ log, faults: readFaults('POST /v1/license/=hang', 1) });
  const alarm: RunOptions['alarm'] = (span, ring) => {
    if (span === 4000) reach = ring;
    return () => undefined;
  };
  const ran = await runHere(`license ${verb} --remote-user zoe --size-allowance 2 --deadline 4s`, { alarm });
  expect([ran.exitCode, ran.stderr.includes('checking')]).toEqual([exit, false]);
  expect(ran.stderr).toContain('the deadline of 4s was reached');
});
