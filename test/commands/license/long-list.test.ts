import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openOrigin } from '../../helpers/origin.ts';
import { emptyHome, runAlone, type Ran } from '../../helpers/run.ts';

/** A quarter of this is held in memory; the lists below are longer. */
const bodyLimit = 4000;

const rows = Array.from({ length: 100 }, (_, index) => ({
  license_code: `KEY-${index}`,
  remote_user: `user-${index}`,
  app_code: 7,
  size_allowance: 1 + (index % 18),
}));

async function list(
  answer: unknown,
  { words = '', headers = {} }: { words?: string; headers?: Record<string, string> } = {},
) {
  const home = emptyHome();
  const { port } = await openOrigin(({ url }) => ({ body: bodyFor(answer, url), headers }));
  const ran = await runAlone(`license list -o ndjson --retries 0 ${words}`, {
    env: { CHATELAINE_BASE_URL: `http://127.0.0.1:${port}`, CHATELAINE_API_KEY: 'key', CHATELAINE_APP_CODE: '7' },
    home,
    bodyLimit,
  });
  expect(readdirSync(join(home, 'tmp'))).toEqual([]);
  return ran;
}

function bodyFor(answer: unknown, url: string): string {
  const value: unknown = typeof answer === 'function' ? (answer as (url: string) => unknown)(url) : answer;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const printed = ({ stdout }: Ran): unknown[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);

describe('a list that is too long for memory is whole', () => {
  test.each<[string, unknown]>([
    ['as an array', rows],
    ['under a usual name', { count: rows.length, results: rows }],
    ['as the only list of an object', { users: rows, total: rows.length }],
    [
      'in pages',
      (url: string) => (url.includes('page=2') ? rows.slice(50) : { next: '/?page=2', results: rows.slice(0, 50) }),
    ],
  ])('%s', async (_name, answer) => {
    const ran = await list(answer);
    expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(printed(ran)).toEqual(rows);
  });

  test('compressed, with integers that no number holds', async () => {
    const { stdout } = await list(
      `[${rows.map((row) => `{"id":12345678901234567890,${JSON.stringify(row).slice(1)}`).join()}]`,
    );
    expect(stdout.match(/"id":12345678901234567890/g)).toHaveLength(rows.length);
  });

  test('and filtered here', async () => {
    expect(printed(await list(rows, { words: '--match user-7' }))).toEqual([rows[7]]);
  });
});

describe('nothing is printed of an answer that', () => {
  test.each<[string, unknown, number]>([
    ['is cut', JSON.stringify(rows).slice(0, -1), 7],
    ['is no JSON', `<html>${'x'.repeat(2000)}</html>`, 7],
    ['holds two lists', { users: rows, others: rows }, 7],
    ['says error beside the rows', { results: rows, error: 'the index is rebuilt' }, 6],
    ['has no end', `["${'x'.repeat(bodyLimit * 40)}`, 7],
  ])('%s', async (_name, answer, exit) => {
    const { exitCode, stdout } = await list(answer);
    expect({ exitCode, stdout }).toEqual({ exitCode: exit, stdout: '' });
  });
});

test('a count above the rows makes it incomplete, after the rows', async () => {
  const ran = await list({ count: 101, results: rows });
  expect(ran.exitCode).toBe(8);
  expect(printed(ran)).toEqual(rows);
  expect(ran.error?.message).toContain('the server counts 101 licenses and lists 100');
});
