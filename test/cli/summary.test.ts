import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Failure } from '../../src/core/failure.ts';
import { emptyHome, fakeService, openSandbox, run } from '../helpers/run.ts';
import { needs } from '../helpers/needs.ts';

const roster = 'remote_user,size_allowance\nada,6\nclinic-north/ward-3,6\nphysio-7731,5\n';

interface Written {
  readonly outcome: string;
  readonly exit: number | null;
  readonly error?: { readonly message: string };
}

function summaryIn(file: string): Written {
  return JSON.parse(readFileSync(file, 'utf8')) as Written;
}

test(
  'says how a run ended, what it counted and changed, and no key; rows that are not printed are counted',
  needs('modes'),
  async () => {
    const { run } = await openSandbox();
    const file = join(emptyHome(), 'summary.json');
    const { exitCode, stdout } = await run(`license apply - --changed -o json --summary ${file}`, { stdin: roster });

    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toHaveLength(2);
    expect(summaryIn(file)).toEqual({
      command: 'license apply',
      outcome: 'ok',
      exit: 0,
      counts: { created: 1, resized: 1, unchanged: 1 },
      changes: [
        { remote_user: 'ada', app_code: 4711, size_allowance: 6, status: 'created' },
        { remote_user: 'physio-7731', app_code: 4711, size_allowance: 5, status: 'resized', change: '4 -> 5' },
      ],
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  },
);

test('what ensure did is counted, and its JSON names it', async () => {
  const { run } = await openSandbox();
  const file = join(emptyHome(), 'summary.json');
  const ensure = async (size: number): Promise<unknown> => {
    const { stdout } = await run(
      `license ensure --remote-user physio-7731 --size-allowance ${size} -o json --summary ${file}`,
    );
    expect(JSON.parse(stdout)).toMatchObject({ size_allowance: size, status: size === 5 ? 'resized' : 'unchanged' });
    return summaryIn(file);
  };
  const change = { remote_user: 'physio-7731', app_code: 4711, size_allowance: 5, size_allowance_before: 4 };

  expect(await ensure(4)).toMatchObject({ counts: { unchanged: 1 }, changes: [] });
  expect(await ensure(5)).toMatchObject({ counts: { resized: 1 }, changes: [{ ...change, status: 'resized' }] });
});

test('a failure is in it, also one of the values, and the text of an earlier run is replaced', async () => {
  const file = join(emptyHome(), 'summary.json');
  writeFileSync(file, `{"command":null,"outcome":"${'x'.repeat(5000)}"}`);
  const service = fakeService();
  service.expect('GET /v1/license/').reply(403, { detail: 'no licensing-key' });
  const refused = await run(service, `license list --summary ${file}`);
  expect(refused.exitCode).toBe(4);
  expect(summaryIn(file)).toMatchObject({ command: 'license list', outcome: 'auth', exit: 4, counts: {} });

  await run(fakeService(), `license edit CODE --size-allowance 19 --summary ${file}`);
  expect(summaryIn(file)).toMatchObject({ outcome: 'usage', exit: 2 });
  expect(summaryIn(file).error?.message).toContain('19');
});

test('Ctrl-C is in it', async () => {
  const stop = new AbortController();
  const file = join(emptyHome(), 'summary.json');
  const { run } = await openSandbox({
    log: ({ method }) => {
      if (method === 'POST') stop.abort(new Failure('cancelled', 'interrupted'));
    },
  });
  const users = Array.from({ length: 200 }, (_, index) => `user-${index},4\n`).join('');
  const given = { stdin: `remote_user,size_allowance\n${users}`, interrupt: stop.signal };
  const { exitCode } = await run(`license apply - -o ndjson --summary ${file}`, given);

  expect(exitCode).toBe(130);
  expect(summaryIn(file)).toMatchObject({ outcome: 'cancelled', exit: 130 });
});

test('a run that has not ended says so: this is what a killed one leaves', async () => {
  const file = join(emptyHome(), 'summary.json');
  const seen: unknown[] = [];
  const service = fakeService();
  service.expect('GET /v1/license/').reply(200, []);
  await run(service, `license audit -o ndjson --summary ${file}`, {
    alarm: () => (seen.push(readFileSync(file, 'utf8')), () => undefined),
  });

  expect(seen).toContain('{"command":"license audit","outcome":"running","exit":null}\n');
  expect(summaryIn(file)).toMatchObject({ outcome: 'ok', exit: 0 });
});

test.each([
  ['the roster itself', 'remote_user,size_allowance\nada,4\n'],
  ['a roster below many blank lines', `${'\n'.repeat(120)}remote_user,size_allowance\nada,4\n`],
  ['the settings of another program', '{"command": "npx", "args": ["serve"]}\n'],
])('a file that holds something else is left alone: %s', async (_what, text) => {
  const file = join(emptyHome(), 'file');
  writeFileSync(file, text);

  const { exitCode, stderr } = await run(fakeService(), `license apply ${file} --summary ${file}`);

  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('holds something else than a summary')]);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test.each([
  ['missing/x', 3, 'cannot write the summary'],
  ['.', 3, 'cannot write the summary'],
])('%s is refused before anything is sent', refused);

test.each([
  ['/dev/full', 2, 'is not a regular file'],
  ['/dev/null/x', 3, 'cannot write the summary'],
])('%s is refused before anything is sent', needs('devices'), refused);

async function refused(path: string, exit: number, message: string): Promise<void> {
  const { exitCode, stderr } = await run(
    fakeService(),
    `license create --remote-user a --size-allowance 4 --summary ${path}`,
  );
  expect(exitCode).toBe(exit);
  expect(stderr).toContain(message);
}

test('findings of an audit are counted', async () => {
  const { run } = await openSandbox();
  const home = emptyHome();
  mkdirSync(join(home, 'ci'));
  const file = join(home, 'ci', 'summary.json');
  const { exitCode } = await run(`license audit --roster - --summary ${file}`, { stdin: roster });
  expect(exitCode).toBe(10);
  expect(existsSync(file)).toBe(true);
  expect(summaryIn(file)).toMatchObject({
    outcome: 'differences',
    counts: { missing: 1, 'other-size': 1, unexpected: 4 },
  });
  expect(readFileSync(file, 'utf8')).not.toContain('CD3AE');
});

test.each([
  ['license apply roster.csv --chnged --summary F', {}],
  ['license apply roster.csv --summary=F --changed=maybe', {}],
  ['licens apply --summary F', {}],
  ['license apply roster.csv --retries few', { CHATELAINE_SUMMARY: 'F' }],
  ['license list -o docx --summary F', {}],
])('a line that cannot be read replaces the summary of an earlier run: %s', async (line, env) => {
  const file = join(emptyHome(), 'summary.json');
  writeFileSync(file, '{"command":"license apply","outcome":"ok","exit":0}\n');
  const set = Object.fromEntries(Object.keys(env).map((name) => [name, file]));
  const { exitCode, stderr } = await run(fakeService(), line.replace('F', file), { env: set });
  expect(exitCode).toBe(2);
  expect(summaryIn(file)).toMatchObject({ outcome: 'usage', exit: 2 });
  expect(stderr).toContain(summaryIn(file).error?.message);
});

test('a line that cannot be read leaves a file that is no summary as it is, and says so', async () => {
  const file = join(emptyHome(), 'roster.csv');
  writeFileSync(file, roster);
  const { exitCode, stderr } = await run(fakeService(), `license apply --chnged --summary ${file}`);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('--chnged');
  expect(stderr).toContain('holds something else than a summary');
  expect(readFileSync(file, 'utf8')).toBe(roster);
});

test('what follows -- in a line that cannot be read is no file of a summary', async () => {
  const file = join(emptyHome(), 'summary.json');
  const { exitCode } = await run(fakeService(), `license list --bogus -- --summary ${file}`);
  expect(exitCode).toBe(2);
  expect(existsSync(file)).toBe(false);
});
