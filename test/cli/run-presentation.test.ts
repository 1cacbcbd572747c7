import { expect, test } from 'vitest';
import { presentationOf } from '../../src/cli/run-presentation.ts';
import type { GlobalValues } from '../../src/commands/context.ts';
import type { Show } from '../../src/output/presentation.ts';
import { many, written } from '../output/looks.ts';

/** What a command of these looks is printed as. */
function presented(show: Show<unknown>, options: Partial<GlobalValues>, isTTY: boolean) {
  const command = { name: 'x', summary: 'x', examples: [], isList: false, run: () => undefined, show };
  const host = { system: { env: {} }, stdout: { isTTY, columns: 0 } };
  return presentationOf(command, { typed: new Set(), ...options }, host).result;
}

const rows = [{ id: 'k\x1b1' }, { id: 'k2' }];
const textOf = (row: unknown): string => (row as { id: string }).id;
const [quiet, text]: Show<unknown>[] = [{ quiet: textOf }, { text: textOf }];
const line: Show<unknown> = { line: (row) => `Deleted ${textOf(row)}.\nDone.` };

test.each<[string, Partial<GlobalValues>, 'terminal' | 'pipe', Show<unknown>, string]>([
  ['-q prints the one thing, unchanged in a pipe', { quiet: true }, 'pipe', { ...quiet }, 'k\x1b1\nk2\n'],
  ['-q on a terminal is harmless', { quiet: true }, 'terminal', { ...quiet }, 'k\\x1b1\nk2\n'],
  [
    '-q leaves ndjson alone',
    { quiet: true, output: 'ndjson' },
    'pipe',
    { ...quiet },
    '{"id":"k\\u001b1"}\n{"id":"k2"}\n',
  ],
  ['without -q the format is written', {}, 'pipe', { ...quiet }, 'id\nk\x1b1\nk2\n'],
  ['some print one text without -q too', { output: 'csv' }, 'pipe', { ...text }, 'k\x1b1\nk2\n'],
  ['a table is sentences', { output: 'table' }, 'pipe', line, 'Deleted k\\x1b1.\nDone.\nDeleted k2.\nDone.\n'],
  [
    'fields ask for a table',
    { output: 'table', fields: 'id' },
    'pipe',
    { ...line, columns: ['id'] },
    'id\nk\\x1b1\nk2\n',
  ],
  ['tsv has no sentences', {}, 'pipe', line, 'id\nk\x1b1\nk2\n'],
  ['-q wins over sentences', { output: 'table', quiet: true }, 'pipe', { ...line, ...quiet }, 'k\x1b1\nk2\n'],
])('%s', async (_name, options, stdout, show, expected) => {
  expect(await written(many(...rows), presented(show, options, stdout === 'terminal'))).toBe(expected);
});

test('one value is one sentence, and nothing is none', async () => {
  const presentation = presented(line, { output: 'table' }, false);
  expect(await written({ one: { id: 'x' } }, presentation)).toBe('Deleted x.\nDone.\n');
  expect(await written({ one: undefined }, presentation)).toBe('');
});

test('the requests of a dry run are a table on a real terminal, whose isTTY is of its prototype', async () => {
  const command = {
    name: 'x',
    summary: 'x',
    examples: [],
    isList: false,
    run: () => undefined,
    dryRun: ['requests'],
  } as const;
  const stdout = Object.create({ isTTY: true, columns: 60 }) as { isTTY: boolean; columns: number };
  const { plan } = presentationOf(command, { typed: new Set(), dry_run: true }, { system: { env: {} }, stdout });
  expect(plan && (await written(many({ method: 'GET', url: 'u' }), plan))).not.toContain('\t');
});
