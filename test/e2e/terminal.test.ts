import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../helpers/sandbox.ts';
import { realTime } from '../helpers/clock.ts';
import { sampleOf } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { emptyHome, openTerminal, type Ended, type TerminalOptions } from './pty.ts';

/** The built program on a real terminal, where people meet it. */

const key = 'sandbox-key-of-app-4711';

describe('the key of auth login', () => {
  test('is asked for, not shown, and stored', needs('terminals'), async () => {
    const { licensing } = await serve();
    const home = emptyHome();
    const login = openTerminal(`chatelaine auth login licensing --base-url ${licensing.base_url} --app-code 4711`, {
      home,
    });
    await login.shows(/API key:/);
    login.type(`${key}\r`);
    const { exitCode, output } = await login.ended;

    expect({ exitCode, isShown: output.includes(key) }).toEqual({ exitCode: 0, isShown: false });
    expect(plainText(output)).toContain('Profile app-4711: stored');
    expect(await on('chatelaine auth token app-4711', { home })).toEqual({ exitCode: 0, output: `${key}\n` });
  });

  test(
    'that is not given because of Ctrl-C leaves nothing behind, and the terminal as it was',
    needs('terminals'),
    async () => {
      const home = emptyHome();
      const login = 'chatelaine auth login licensing --base-url https://licenses.example.com --app-code 7';
      const { output } = await interrupted(login, /API key:/, { home });

      expect(output).toMatch(/code=130/);
      expect(output).toMatch(/ icanon .* echo /s);
      expect((await on('chatelaine auth list', { home })).output).not.toContain('app-7');
    },
  );
});

describe('colour', () => {
  const line = 'chatelaine --sandbox license list';

  test('is there on a terminal', needs('terminals'), async () => {
    expect((await on(line)).output).toContain('\u001b[');
  });
});

describe('sandbox serve', () => {
  test('ends at Ctrl-C with the code of an interrupt and the terminal as it was', needs('terminals'), async () => {
    const { output } = await interrupted('chatelaine sandbox serve', /until Ctrl-C/);

    expect(output).toMatch(/export CHATELAINE_BASE_URL=http:\/\/127\.0\.0\.1:\d+\n/);
    expect(output).toMatch(/code=130/);
    expect(output).toMatch(/ icanon .* echo /s);
  });
});

describe('license apply', () => {
  const rows = Array.from({ length: 20 }, (_, index) => `user-${index},4`);

  test(
    'ends at Ctrl-C with the rows that are done, the counts and the line that resumes',
    needs('terminals'),
    async () => {
      const home = emptyHome();
      writeFileSync(join(home, 'roster.csv'), ['remote_user,size_allowance', ...rows, ''].join('\n'));
      const { licensing } = await serve({ latency: 300 });
      const env = { CHATELAINE_BASE_URL: licensing.base_url, CHATELAINE_API_KEY: key, CHATELAINE_APP_CODE: '4711' };
      const line = 'chatelaine license apply roster.csv --yes --color never';
      // Two rows and more are a table; a row alone is shown as a record.
      const { output } = await interrupted(line, /licenses ([2-9]|\d\d)\/20/, { home, env });

      const words = shown(output).replace(/\s+/g, ' ');

      expect(words).toMatch(/code=130/);
      expect(shown(output)).toMatch(/^user-0 .* created /m);
      expect(words).toMatch(/interrupted; .*[1-9]\d* created, .*\d+ not done on /);
      expect(words).toContain('Run the same command again, which plans again: chatelaine license apply roster.csv');
    },
  );
});

describe('a question, where standard input is a pipe', () => {
  const roster = "printf 'remote_user,size_allowance\\nada,4\\nben,4\\n'";
  const apply = `${roster} | chatelaine license apply - -o json`;

  /** A server that tells which users have been given a license, and what a client needs to reach it. */
  async function licensed() {
    const { licensing, state } = await serve();
    const env = {
      CHATELAINE_BASE_URL: licensing.base_url,
      CHATELAINE_API_KEY: key,
      CHATELAINE_APP_CODE: '4711',
      NO_COLOR: '1',
    };
    const before = state.licenses().length;
    return { env, home: emptyHome(), state, created: () => state.licenses().length - before };
  }

  test('is asked at the terminal', needs('terminals'), async () => {
    const at = await licensed();
    const run = openTerminal(apply, at);
    await run.shows(/2 to create on .* \[y\/N\]/s);
    expect(at.created()).toBe(0);
    run.type('y\r');
    expect([(await run.ended).exitCode, at.created()]).toEqual([0, 2]);
  });

  test('is asked behind a roster that was typed at the same terminal', needs('terminals'), async () => {
    const at = await licensed();
    const run = openTerminal('chatelaine license apply - -o json', at);
    await run.shows(/Reading standard input/);
    run.type('remote_user,size_allowance\rada,4\r\u0004');
    await run.shows(/1 to create on .* \[y\/N\]/s);
    run.type('y\r');
    expect([(await run.ended).exitCode, at.created()]).toEqual([0, 1]);
  });

  test.each(
    sampleOf<[string, string, Record<string, string>]>(1, [
      ['in a CI', apply, { CI: 'true' }],
      ['where standard error is a file', `${apply} 2>said`, {}],
      ['with --no-input', `${apply} --no-input`, {}],
      ['in the background', `set -m; { ${apply}; } & wait $!`, {}],
      ['without a terminal of the process', `${roster} | setsid --wait "$NODE" "$PROGRAM" license apply -`, {}],
    ]),
  )('is not asked %s', needs('terminals'), async (_where, line, more) => {
    const at = await licensed();
    const { exitCode, output } = await on(line, { ...at, env: { ...at.env, ...more } });
    expect([exitCode, at.created(), output.includes('[y/N]')]).toEqual([0, 2, false]);
  });
});

async function serve(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ clock: realTime, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

async function on(line: string, options: TerminalOptions = {}): Promise<Ended> {
  return openTerminal(line, options).ended;
}

/** Ctrl-C once the terminal shows something; then the exit code and the modes of the terminal. */
async function interrupted(line: string, when: RegExp, options: TerminalOptions = {}): Promise<Ended> {
  const terminal = openTerminal(`trap : INT; ${line}; echo "code=$?"; stty -a`, options);
  await terminal.shows(when);
  terminal.type('\u0003');
  return terminal.ended;
}

function plainText(output: string): string {
  return output.replaceAll(/\u001b\[[\d;?]*[a-zA-Z]/g, '');
}

/** What is left on the terminal of lines that were drawn over. */
function shown(output: string): string {
  return output
    .split('\n')
    .map((text) => text.split('\r\u001b[K').at(-1) ?? '')
    .join('\n');
}
