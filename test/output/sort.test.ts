import { expect, test } from 'vitest';
import { Failure } from '../../src/core/failure.ts';
import { inOrder, orderOf } from '../../src/output/sort.ts';
import { runAlone } from '../helpers/run.ts';

async function* rowsOf(values: readonly unknown[], failure?: Failure): AsyncGenerator {
  for (const value of values) yield { value };
  if (failure) throw failure;
}

async function sorted(values: readonly unknown[], sort: string, failure?: Failure): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const row of inOrder(rowsOf(values, failure), orderOf(sort), {}))
    found.push((row as { value: unknown }).value);
  return found;
}

test.each([
  ['numbers as numbers', [10, 9, -1, 2n ** 60n, 1.5], 'value', [-1, 1.5, 9, 10, 2n ** 60n]],
  ['texts by their characters', ['b', 'a10', 'a9', 'B'], 'value', ['B', 'a10', 'a9', 'b']],
  ['texts and numbers the other way round', ['a', 3, 'b', 7], '-value', ['b', 'a', 7, 3]],
  ['nothing last, whatever was first', [undefined, 'a', null, 1], 'value', [1, 'a', undefined, null]],
  ['objects by their JSON', [{ a: 2 }, [1], { a: 1 }], 'value', [[1], { a: 1 }, { a: 2 }]],
  ['numbers before texts, nothing last', ['!', null, 3], 'value', [3, '!', null]],
  ['the other way round, nothing last all the same', ['a', null, 3, 7], '-value', ['a', 7, 3, null]],
])('%s', async (_what, values, sort, wanted) => {
  expect(await sorted(values, sort)).toEqual(wanted);
});

test('equal rows keep their order', async () => {
  const rows = [1, 2, 3].map((id) => ({ id, value: 1 }));
  const given = (async function* () {
    yield* rows;
  })();
  const found: unknown[] = [];
  for await (const row of inOrder(given, orderOf('-value'), {})) found.push(row);
  expect(found).toEqual(rows);
});

test('what came before a failure is given out before it', async () => {
  const found: unknown[] = [];
  const failing = async (): Promise<void> => {
    for await (const row of inOrder(rowsOf([2, 1], new Failure('incomplete', 'cut')), orderOf('value'), {}))
      found.push(row);
  };
  await expect(failing()).rejects.toThrow('cut');
  expect(found).toEqual([{ value: 1 }, { value: 2 }]);
});

test.each([
  ['settings list --sort=-name -o tsv --fields name --no-header', (names: string[]) => names.toSorted().toReversed()],
  ['settings list --sort name -o csv --fields name --no-header', (names: string[]) => names.toSorted()],
])('the rows of a command come in that order: %s', async (line, order) => {
  const { exitCode, stdout } = await runAlone(line);
  const names = stdout.split('\n').slice(0, -1);
  expect(exitCode).toBe(0);
  expect(names.length).toBeGreaterThan(20);
  expect(names).toEqual(order(names));
});

test('CHATELAINE_SORT obeys, a typed --sort goes before it, and an unknown field is exit 2', async () => {
  const first = async (line: string): Promise<string | undefined> =>
    (await runAlone(`${line} -o tsv --fields name --no-header`, { env: { CHATELAINE_SORT: '-name' } })).stdout.split(
      '\n',
    )[0];
  expect(await first('settings list')).not.toBe(await first('settings list --sort name'));
  expect(await runAlone('auth list --sort nosuch')).toMatchObject({ exitCode: 2, stdout: '' });
});
