import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyHome, openSandbox, runAlone } from '../helpers/run.ts';

describe('a command that prints a text', () => {
  test('writes its archive whole though the environment has a filter', async () => {
    const { run } = await openSandbox();
    const folder = join(emptyHome(), 'kitchen');
    await run(['archive', 'pull', folder, '--channel', 'general', '--topic', 'who has dock 4?']);
    for (const format of ['ndjson', 'csv', 'html']) {
      const line = ['archive', 'export', folder, '-o', format];
      const plain = await run(line);
      const filtered = await run(line, { env: { CHATELAINE_JQ: '.[0].id' } });
      expect({ exitCode: plain.exitCode, isEmpty: plain.stdout === '' }).toEqual({ exitCode: 0, isEmpty: false });
      expect(filtered).toMatchObject({ exitCode: 0, stdout: plain.stdout, stderr: plain.stderr });
    }
  });

  test.each(['archive export nowhere -o ndjson --jq .', 'completion bash --jq .'])('refuses %s', async (line) => {
    const { exitCode, stdout, stderr } = await runAlone(line);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('prints a text as it is: --jq does not apply');
  });

  test('api prints JSON, which a filter of the environment filters too', async () => {
    const { run } = await openSandbox();
    const line = 'api licensing GET license/';
    const typed = await run([...line.split(' '), '--jq', '.[0].remote_user']);
    const { exitCode, stdout } = await run(line, { env: { CHATELAINE_JQ: '.[0].remote_user' } });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: typed.stdout });
  });
});

describe('--no-input', () => {
  test('is there behind api, which has an --input of its own', async () => {
    const { run } = await openSandbox();
    const line = 'api licensing GET license/';
    const plain = await run(line);
    const { exitCode, stdout } = await run(`${line} --no-input`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: plain.stdout });
    const body = await run('api licensing POST license/ --input - --no-input', {
      stdin: '{"remote_user":"ada","app_code":4711,"size_allowance":4}',
    });
    expect(body.stdout).toContain('"ada"');
  });
});

test.each([
  ['licence --help', 'Did you mean license?'],
  ['license lst --help', 'Did you mean list?'],
  ['help nosuch', 'See chatelaine --help.'],
])('%s is exit 2 with the nearest names', async (line, hint) => {
  const { exitCode, stdout, lines } = await runAlone(line);
  expect({ exitCode, stdout, hint: lines.at(-1) }).toEqual({ exitCode: 2, stdout: '', hint });
});
