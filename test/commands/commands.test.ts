import { expect, test } from 'vitest';
import { commandTable } from '../../src/commands/index.ts';
import { runAlone } from '../helpers/run.ts';

interface Tree {
  readonly commands: readonly { readonly name: string; readonly options: readonly { readonly option: string }[] }[];
  readonly options: readonly { readonly name: string; readonly environment: readonly string[] }[];
  readonly exit_codes: readonly { readonly exit: number; readonly name: string }[];
}

test('the whole surface is the one that was read and found good', async () => {
  const { exitCode, stdout } = await runAlone('commands -o json');
  expect(exitCode).toBe(0);
  await expect(stdout).toMatchFileSnapshot('../golden/commands.json');
});

test('every command is there, with its options, their variables, and the exit codes', async () => {
  const tree = JSON.parse((await runAlone('commands -o json')).stdout) as Tree;
  expect(tree.commands.map(({ name }) => name)).toEqual(commandTable.map(({ name }) => name));
  const list = tree.commands.find(({ name }) => name === 'license list');
  expect(list?.options.map(({ option }) => option)).toContain('--remote-user');
  const variables = (wanted: string): unknown => tree.options.find(({ name }) => name === wanted)?.environment;
  expect(variables('jq')).toEqual(['CHATELAINE_JQ']);
  expect(variables('header')).toEqual(['CHATELAINE_HEADER', 'CHATELAINE_NO_HEADER']);
  expect(variables('yes')).toEqual([]);
  expect(tree.exit_codes.map(({ exit }) => exit)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130, 143]);
});

test('a terminal shows a line for each command', async () => {
  const { stdout } = await runAlone('commands', { tty: true });
  expect(stdout.split('\n')).toHaveLength(commandTable.length + 1);
});
