import { chmodSync, existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../helpers/needs.ts';
import { emptyHome, openSandbox } from '../helpers/run.ts';

const roster = 'license apply - --input-format csv --dry-run';
const how = { stdin: 'remote_user,size_allowance\nada,4\n' };

const writing = [
  `${roster} --write-plan`,
  'license audit --write-accepted',
  'archive export {home}/kept -o csv --to',
  'sandbox serve --ready-file',
];

test.each([...writing, 'license list --log'])('%s -: a file that is written has a name', async (line) => {
  const { run, home } = await archived();

  const { exitCode, stderr } = await run(`${line.replace('{home}', home)} -`, how);

  const message = `${line.split(' ').at(-1) ?? ''}: '-' names no file to write`;
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  expect(existsSync('-')).toBe(false);
});

test.each(writing)('%s LINK: neither a link nor the device behind it is replaced', needs('modes'), async (line) => {
  const { run, home } = await archived();
  const link = join(home, 'out.csv');
  symlinkSync('/dev/null', link);

  const { exitCode, stderr } = await run(`${line.replace('{home}', home)} ${link}`, how);

  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('out.csv is not a regular file')]);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

test.each(writing.slice(0, -1))('%s FILE keeps the mode of the file it replaces', needs('modes'), async (line) => {
  const { run, home } = await archived();
  const file = join(home, 'out.csv');
  writeFileSync(file, 'old');
  chmodSync(file, 0o600);

  await run(`${line.replace('{home}', home)} ${file}`, how);

  expect(readFileSync(file, 'utf8')).not.toBe('old');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

async function archived() {
  const { run } = await openSandbox();
  const home = emptyHome();
  await run(`archive pull ${home}/kept --channel general --topic lunch`);
  return { run, home };
}

test.each([
  ['archive pull {file} --channel general', {}],
  ['topic delete general lunch --confirm lunch --archive {file}', {}],
  ['auth list', { CHATELAINE_CONFIG_DIR: '{file}' }],
])('%s %j, where a file is in the place of the folder, says so', async (line, env) => {
  const { run, home } = await archived();
  const file = join(home, 'file');
  writeFileSync(file, '');
  const set = Object.fromEntries(Object.keys(env).map((name) => [name, file]));

  const { exitCode, stderr } = await run(line.replace('{file}', file), { ...how, env: set });

  expect([exitCode, stderr]).toEqual([3, expect.stringContaining(`${file} is a file, not a folder\n`)]);
  expect(stderr).not.toContain('chmod');
});
