import { expect, test } from 'vitest';
import { realAlarm } from '../../src/cli/clock.ts';
import { Failure } from '../../src/core/failure.ts';
import { openFilter } from '../../src/output/jq.ts';
import { writeResult } from '../../src/output/write.ts';
import { parseJson } from '../../src/core/json.ts';
import type { Alarm } from '../../src/core/system.ts';
import { sampleOf } from '../helpers/extent.ts';
import { fakeService, run, runAlone, sandboxed } from '../helpers/run.ts';
import { failing, look, many, written } from './looks.ts';

/** Nothing ends it. */
const filterOf = (expression: string, mostBytes?: number) =>
  openFilter(expression, { signal: new AbortController().signal, alarm: realAlarm, env }, mostBytes);

const env = {
  ...{ U: 'ada', ODD: '\\(1) "é"', CHATELAINE_OUTPUT: 'json' },
  ...{ CHATELAINE_API_KEY: 'k-1', CHATELAINE_CHAT_API_KEY_FILE: '/key' },
};

test.each([
  [
    'strings raw, a result a line, blanks and empty lines at either end too; anything else as compact JSON',
    '.[]',
    '["a b","\\u0022","","  a\\t","b\\n","",{"a":[1,"x"]},null,true]',
    'a b\n"\n\n  a\t\nb\n\n\n{"a":[1,"x"]}\nnull\ntrue\n',
  ],
  ['nothing', 'empty', '[]', ''],
  [
    'integers of 20 digits, characters beyond the basic plane, and what the language of jq says',
    '-.a, .id, .sign, (.rows | group_by(.a) | map({a: .[0].a, n: length}))',
    '{"a":1,"id":12345678901234567890,"sign":"😀é","rows":[{"a":1},{"a":1}]}',
    '-1\n12345678901234567890\n😀é\n[{"a":1,"n":2}]\n',
  ],
])('jq prints %s', async (_what, expression, json, wanted) => {
  expect(await (await filterOf(expression))(json)).toBe(wanted);
});

test.each([
  ['$ENV.U', 'ada\n'],
  ['env.U', 'ada\n'],
  ['def u: $ENV.U; u # of env', 'ada\n'],
  ['env | keys', '["CHATELAINE_OUTPUT","ODD","U"]\n'],
  ['$ENV.ODD', '\\(1) "é"\n'],
  ['.env, "env"', 'null\nenv\n'],
])('%s has the environment without our keys', async (expression, wanted) => {
  expect(await (await filterOf(expression))('{}')).toBe(wanted);
});

test.each([
  ['env | .[', 'syntax error, unexpected end of file at <top-level>, line 1, column 8'],
  ['$ENV.U |\n $x', '$x is not defined at <top-level>, line 2, column 2'],
])('%s is refused at its own place', async (expression, problem) => {
  await expect(filterOf(expression)).rejects.toThrow(`--jq: ${problem}`);
});

test('an expression that never ends is compiled all the same', async () => {
  await expect(filterOf('repeat(1)')).resolves.toBeTypeOf('function');
});

test.each([
  ['.[', 'syntax error, unexpected end of file at <top-level>, line 1, column 2'],
  ['$x, $y', '$x is not defined at <top-level>, line 1, column 1; $y is not defined at <top-level>, line 1, column 5'],
  ['include "x"; .', 'module not found: x'],
])('%s is refused', async (expression, problem) => {
  await expect(filterOf(expression)).rejects.toThrow(`--jq: ${problem}`);
});

test('where the expression fails on the document, the failure is not one of usage', async () => {
  await expect((await filterOf('.a'))('[1]')).rejects.toMatchObject({
    kind: 'rejected',
    message: '--jq: Cannot index array with string ("a")',
  });
});

test.each([
  ['recurses without end', 'def f: 1 + f; f'],
  ['makes a text of a gigabyte', '"a" * (. * 1000000000)'],
])('one that %s is rejected', async (_what, expression) => {
  await expect((await filterOf(expression))('1')).rejects.toMatchObject({
    kind: 'rejected',
    message: '--jq: the expression needs too much memory',
  });
});

test.each([
  [new Failure('cancelled', 'interrupted'), { kind: 'cancelled', message: 'interrupted' }],
  [new Failure('unavailable', 'late'), { kind: 'rejected', message: '--jq: the expression did not end: late' }],
])('one that is ended by %s says so', async (reason, failure) => {
  const ending = new AbortController();
  const filter = await openFilter('repeat(1) | empty', { signal: ending.signal, alarm: realAlarm, env });
  const ended = filter('1');
  ending.abort(reason);
  await expect(ended).rejects.toMatchObject({ ...failure, retryable: false });
});

test('one whose results do not end is rejected', async () => {
  const filter = await filterOf('repeat("a" * 1000)', 2_000_000);
  await expect(filter('1')).rejects.toMatchObject({ message: '--jq: the expression needs too much memory' });
});

test('rows are one array, cut off or not, and stay exact', async () => {
  const filter = await filterOf('length, .[0].id');
  const rows = [{ id: parseJson('98765432109876543210') }, { id: 2 }];
  expect(await written(many(...rows), look('json', { filter }))).toBe('2\n98765432109876543210\n');
  const pieces: string[] = [];
  const sink = { write: (text: unknown) => Promise.resolve(void pieces.push(String(text))) };
  const cut = writeResult({ many: failing(rows, new Failure('incomplete', 'cut')) }, look('json', { filter }), sink);
  await expect(cut).rejects.toThrow('cut');
  expect(pieces).toEqual(['2\n98765432109876543210\n']);
  expect(await written(many(), look('json', { filter }))).toBe('0\nnull\n');
});

test('a terminal shows no control characters', async () => {
  const filter = await filterOf('.');
  expect(await written({ one: 'a\u001b[31m\nb' }, look('json', { filter, terminal: true }))).toBe('a\\x1b[31m\nb\n');
  expect(await written({ one: 'a\u001b[31m' }, look('json', { filter }))).toBe('a\u001b[31m\n');
});

test.each(sampleOf(2, ['-o tsv', '-o table', '-o yaml', '-q', '--fields name', '']))(
  '%s gives way to --jq',
  async (others) => {
    const { exitCode, stdout } = await runAlone(`settings list ${others} --jq .[0].name`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'full_name\n' });
  },
);

test('under -o ndjson too, jq gets a list as one array, and the hint says so', async () => {
  const { exitCode, stdout, stderr } = await runAlone('settings list -o ndjson --jq .name');
  expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' });
  expect(stderr).toContain('If the command makes changes, they are made:');
  expect(stderr).toContain('jq gets a list as one array.');
});

test('an error of jq repeats no long text of the expression', async () => {
  const { error } = await runAlone('settings list -o json --jq .AbCdEf1234567890GhIjKlMnOpQr12');
  expect(error?.message).toBe('--jq: Cannot index array with string "…"');
});

test('CHATELAINE_JQ is its twin', async () => {
  const { stdout } = await runAlone('settings list', {
    env: { CHATELAINE_JQ: '.[] | select(.name == "email") | .name' },
  });
  expect(stdout).toBe('email\n');
});

test('a bad expression is refused before anything is sent', async () => {
  const service = fakeService();
  const { exitCode, stdout, error } = await run(service, [...'license list -o json --jq'.split(' '), '.[']);
  expect({ exitCode, stdout, code: error?.code }).toEqual({ exitCode: 2, stdout: '', code: 'usage' });
  expect(service.seen).toEqual([]);
});

test('a deadline that comes while the expression is checked says what a deadline says, and nothing is sent', async () => {
  const service = fakeService();
  const atOnce: Alarm = (_span, ring) => {
    ring();
    return () => undefined;
  };
  const { exitCode, stdout, error } = await run(service, 'license list -o json --jq . --deadline 5s', {
    alarm: atOnce,
  });
  expect({ exitCode, stdout, error }).toMatchObject({
    exitCode: 7,
    stdout: '',
    error: { code: 'unavailable', message: 'the deadline of 5s was reached', retryable: true },
  });
  expect(error?.hint).toBe('Run the command again, or increase --deadline.');
  expect(service.seen).toEqual([]);
});

test('a key that was created is printed even if the expression fails on it', async () => {
  const line = 'license create --remote-user jq-user --size-allowance 3 --jq .[0]';
  const { exitCode, stdout, stderr } = await sandboxed({}, line);
  expect(exitCode).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({ remote_user: 'jq-user', license_code: expect.any(String) as string });
  expect(stderr).toContain('--jq: Cannot index object with number (0)');
});
