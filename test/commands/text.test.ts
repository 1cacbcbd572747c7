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

  test('ignores how the environment sorts lists', async () => {
    const { run } = await openSandbox();
    const folder = join(emptyHome(), 'kitchen');
    await run(['archive', 'pull', folder, '--channel', 'general', '--topic', 'who has dock 4?']);
    for (const line of [`archive export ${folder} -o csv`, 'api licensing GET license/', 'completion bash']) {
      const plain = await run(line);
      expect(plain.exitCode).toBe(0);
      expect(await run(line, { env: { CHATELAINE_SORT: 'size_allowance' } })).toMatchObject({
        exitCode: 0,
        stdout: plain.stdout,
      });
    }
  });

  test.each([
    ['archive export nowhere -o ndjson --jq .', 'jq'],
    ['completion bash --jq .', 'jq'],
    ['completion bash --fields name', 'fields'],
    ['archive export nowhere -o csv --sort=-id', 'sort'],
    ['completion bash --sort name', 'sort'],
    ['api licensing GET license/ --sort remote_user', 'sort'],
  ])('refuses %s', async (line, option) => {
    const { exitCode, stdout, stderr } = await runAlone(line);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`prints its text unchanged: --${option} does not apply`);
  });

  test.each(['ndjson', 'html'])('refuses fields for %s, which has none', async (format) => {
    const { exitCode, stdout, lines } = await runAlone(`archive export nowhere -o ${format} --fields id`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(lines.join('\n')).toContain(`--fields does not apply to -o ${format}`);
  });

  test.each([
    'license ensure --remote-user ada --size-allowance 4',
    'ledger init --dry-run',
    'sandbox serve',
    'auth token',
  ])('has no columns: %s', async (line) => {
    const { exitCode, stdout, lines } = await runAlone(`${line} --fields url`);
    const name = line.split(' ').slice(0, 2).join(' ');
    expect({ exitCode, stdout, lines }).toEqual({
      exitCode: 2,
      stdout: '',
      lines: [
        `chatelaine: ${name} prints text without columns: --fields url does not apply`,
        'hint: Leave it out, or choose -o json, ndjson or yaml for all fields.',
      ],
    });
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
