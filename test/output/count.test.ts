import { describe, expect, test } from 'vitest';
import { elementsOf } from '../../src/core/json-elements.ts';
import { Failure } from '../../src/core/failure.ts';
import { countByOf } from '../../src/output/sort.ts';
import { JsonRows } from '../../src/output/json-rows.ts';
import { emptyHome, openSandbox, runAlone } from '../helpers/run.ts';
import { failing, look, many, written } from './looks.ts';

const tsv = (by: string, ...rows: readonly unknown[]) =>
  written(many(...rows), look('tsv', { countBy: countByOf(by), show: { none: 'nothing' } }));

describe('--count-by', () => {
  test('a value is a row with its count, most first, and of one count the smaller value first', async () => {
    const rows = [3, 'b', 10, 'a', null, 3, 'b', { deep: [1] }, { deep: [1] }, { deep: [1] }].map((size) => ({ size }));
    expect(await tsv('size', ...rows, {})).toBe('size\tcount\n{"deep":[1]}\t3\n3\t2\nb\t2\n\t2\n10\t1\na\t1\n');
  });

  test('a field that is named count has its number under another name', async () => {
    expect(await tsv('count', { count: 4 })).toBe('count\trows\n4\t1\n');
  });

  test('JSON keeps the type of the value', async () => {
    const by = look('json', { countBy: countByOf('n') });
    expect(JSON.parse(await written(many({ n: 1 }, { n: '1' }, {}, {}), by))).toEqual([
      { n: null, count: 2 },
      { n: 1, count: 1 },
      { n: '1', count: 1 },
    ]);
  });

  test('an empty list is a header', async () => {
    const notes: string[] = [];
    const say = (line: string): void => void notes.push(line);
    await written(many(), look('tsv', { countBy: countByOf('size'), show: { none: 'nothing' }, say }));
    expect([await tsv('size'), ...notes]).toEqual(['size\tcount\n', 'nothing']);
    expect(await tsv('created:month')).toBe('created\tcount\n');
  });

  test('what came before a failure is counted, and the failure is thrown', async () => {
    const pieces: string[] = [];
    const countBy = countByOf('n');
    const failure = new Failure('incomplete', 'cut');
    const { writeResult } = await import('../../src/output/write.ts');
    const sink = { write: (text: unknown) => Promise.resolve(void pieces.push(String(text))) };
    const writing = writeResult({ many: failing([{ n: 1 }, { n: 1 }], failure) }, look('tsv', { countBy }), sink);
    await expect(writing).rejects.toBe(failure);
    expect(pieces.join('')).toBe('n\tcount\n1\t2\n');
  });
});

describe('periods', () => {
  const at = (...times: readonly unknown[]) => times.map((time) => ({ time }));

  test.each([
    ['day', ['2026-02-27\t2', '2026-02-28\t0', '2026-03-01\t1']],
    ['week', ['2026-02-23\t3']],
    ['month', ['2026-02\t2', '2026-03\t1']],
    ['year', ['2026\t3']],
  ])('by %s, in their order, with those in which nothing was', async (unit, lines) => {
    const rows = at('2026-03-01', '2026-02-27T08:00:00', Date.parse('2026-02-27T23:59:59') / 1000);
    expect(await tsv(`time:${unit}`, ...rows)).toBe(`time\tcount\n${lines.join('\n')}\n`);
  });

  test('rows without a time come last', async () => {
    expect(await tsv('time:year', ...at('May 2026', undefined, '2026-03-01', '2024-01-01T00:00:00Z'))).toMatch(
      /^time\tcount\n202[34]\t1\n(2024\t0\n)?2025\t0\n2026\t1\n\t2\n$/,
    );
  });

  test('where no row has a time, the field is refused', async () => {
    await expect(tsv('name:day', { name: null }, { name: 'ada' }, { name: 'ben' })).rejects.toThrow(
      '--count-by name:day: ada is not a time',
    );
    expect(await tsv('name:day', { name: null }, {})).toBe('name\tcount\n\t2\n');
  });

  test('are local: a moment is of two days in two zones, and a day of 23 hours is one', async () => {
    const zone = process.env['TZ'];
    const rows = at('2026-03-28T22:30:00Z', '2026-03-29T22:30:00Z', '2026-03-30T22:30:00Z');
    try {
      process.env['TZ'] = 'Europe/Berlin';
      expect(await tsv('time:day', ...rows)).toBe(
        'time\tcount\n2026-03-28\t1\n2026-03-29\t0\n2026-03-30\t1\n2026-03-31\t1\n',
      );
      process.env['TZ'] = 'UTC';
      expect(await tsv('time:day', ...rows)).toBe('time\tcount\n2026-03-28\t1\n2026-03-29\t1\n2026-03-30\t1\n');
      process.env['TZ'] = 'America/New_York';
      expect(await tsv('time:day', ...at('2026-03-01'))).toBe('time\tcount\n2026-03-01\t1\n');
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });

  test('a time that must be wrong does not fill ten thousand years with rows', async () => {
    expect(await tsv('time:year', ...at(8.64e12, 1e17, 0))).toBe('time\tcount\n1970\t1\n\t2\n');
    expect((await tsv('time:day', ...at(2e11, 0))).split('\n')).toHaveLength(4);
  });

  test('another span is refused', () => {
    expect(() => countByOf('created:hour')).toThrow("--count-by: 'hour' is not one of day, week, month, year");
  });
});

test('a terminal names the rows without a value', async () => {
  const rows = many(...['ada', 'ada', 'ben', null].map((user) => ({ user })));
  const text = await written(rows, look('table', { countBy: countByOf('user'), terminal: true, width: 40 }));
  expect(text).toBe('user    count\nada         2\nben         1\n(none)      1\n');
});

test('rows that came as texts are counted by what a column of ours shows, else by their own field', async () => {
  const opened: unknown[] = [];
  const document = Buffer.from('{"rows":[{"id":1,"to":"a"},{"id":2,"to":"a"},{"to":"b"}]}');
  const rows = new JsonRows(
    elementsOf(document, 'rows').elements,
    (text) => (opened.push(text), { message: text.parse() }),
  );
  const show = {
    data: (row: unknown) => (row as { message: unknown }).message,
    columns: [{ name: 'own', when: 'asked', of: (row: unknown) => JSON.stringify(row).length } as const],
  };
  const counted = (by: string) => written(many(rows), look('tsv', { countBy: countByOf(by), show }));

  expect(await counted('to')).toBe('to\tcount\na\t2\nb\t1\n');
  expect(opened).toHaveLength(1);
  expect(await counted('own')).toBe('own\tcount\n29\t2\n22\t1\n');
  expect(await counted('id')).toBe('id\tcount\n1\t1\n2\t1\n\t1\n');
});

describe('the command line', () => {
  test('counts what a command lists, and exit code and error stay', async () => {
    const { run } = await openSandbox();
    for (const name of ['ada', 'Ada']) await run(`license create --remote-user ${name} --size-allowance 3`);

    const listed = await run('license list --count-by size_allowance');
    const audited = await run('license audit --count-by finding');
    const months = await run('license list --count-by created:year --jq map(.count)|add', {});

    expect(listed).toMatchObject({ exitCode: 0, stdout: 'size_allowance\tcount\n3\t3\n4\t2\n2\t1\n6\t1\n17\t1\n' });
    expect(audited).toMatchObject({ exitCode: 10, stdout: 'finding\tcount\nsimilar-name\t1\n' });
    expect(months).toMatchObject({ exitCode: 0, stdout: '8\n' });
  });

  test('counts the outcomes of an apply, the plan of a dry run, messages, topics and the history', async () => {
    const { run } = await openSandbox();
    const stdin = 'remote_user,size_allowance\nada,4\nben,4\nphysio-7731,4\n';
    const home = emptyHome();
    const columns = async (line: string) => (await run(line, { stdin, home })).stdout;

    expect(await columns('license apply - -n --count-by status')).toBe('status\tcount\ncreate\t2\nunchanged\t1\n');
    expect(await columns('license apply - --count-by status')).toBe('status\tcount\ncreated\t2\nunchanged\t1\n');
    expect(await columns('license history --count-by change')).toBe('change\tcount\ncreated\t2\n');
    expect(await columns('topic list general --count-by resolved')).toMatch(/^resolved\tcount\nfalse\t\d+\n/);
    expect(await columns('messages fetch --channel general --all --count-by timestamp:year')).toMatch(
      /^timestamp\tcount\n2026\t\d+\n$/,
    );
  });

  test.each([
    ['auth list --count-by kind --fields kind', '--count-by and --fields exclude each other'],
    ['auth list --count-by kind --sort kind', '--count-by and --sort exclude each other'],
    ['auth list --count-by who', "no field 'who' in the result"],
    [
      'license ensure --remote-user a --size-allowance 3 --count-by status',
      'license ensure does not print a list: --count-by does not apply',
    ],
    ['messages fetch --count-by id -o text', '-o text shows no counts'],
    ['license list --count-by created:hour', "--count-by: 'hour' is not one of day, week, month, year"],
  ])('%s is refused', async (line, message) => {
    const { exitCode, stdout, stderr } = await runAlone(line);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('a field that no license has is refused after the answer', async () => {
    const { run } = await openSandbox();
    expect(await run('license list --count-by colour')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('the environment is ignored where it does not apply', async () => {
    const env = { CHATELAINE_COUNT_BY: 'site' };
    expect((await runAlone('archive list', { env })).stdout).toBe('site\tcount\n');
    expect((await runAlone('archive list --fields folder', { env })).stdout).toBe('folder\n');
    expect((await runAlone('--version', { env })).exitCode).toBe(0);
  });
});
