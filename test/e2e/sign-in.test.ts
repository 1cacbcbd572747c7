import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSandbox } from '../helpers/sandbox.ts';
import { realTime } from '../helpers/clock.ts';
import { expectGolden } from '../helpers/golden.ts';
import { needs } from '../helpers/needs.ts';
import { emptyHome, openTerminal } from './pty.ts';

const password = 'sandbox-password-of-mara';

interface SignedIn {
  readonly exitCode: number | undefined;
  /** All that the terminal showed. */
  readonly output: string;
  readonly requests: readonly string[];
  /** All that was stored. */
  readonly stored: string;
}

/** `auth login chat` on a terminal, at which these texts are typed, each when it is asked for. */
async function signIn(
  words: string,
  ...typed: readonly { readonly at: RegExp; readonly text: string }[]
): Promise<SignedIn> {
  const requests: string[] = [];
  const log = ({ method, path }: { method: string; path: string }) => void requests.push(`${method} ${path}`);
  const sandbox = await startSandbox({ clock: realTime, log });
  onTestFinished(() => sandbox.close());
  const home = emptyHome();
  const terminal = openTerminal(
    `chatelaine auth login chat --site ${sandbox.chat.site} --email mara@harbour.example --name work ${words}`,
    { home },
  );
  for (const { at, text } of typed) {
    await terminal.shows(at);
    terminal.type(`${text}\r`);
  }
  const { exitCode, output } = await terminal.ended;
  const folder = join(home, '.config/chatelaine');
  const files =
    typed.length > 0 && exitCode === 0
      ? readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
      : [];
  return { exitCode, output: output.replace(/\s+/g, ' '), requests, stored: files.join('\n') };
}

const atPassword = (text: string) => ({ at: /Password of mara@harbour.example:/, text });
const atKey = (text: string) => ({ at: /API key:/, text });

describe('--password', () => {
  test('fetches the key, tries it, and keeps only that', needs('terminals'), async () => {
    const { exitCode, requests, stored, output } = await signIn('--password --trace', atPassword(password));

    expect({ exitCode, requests }).toEqual({
      exitCode: 0,
      requests: ['POST /api/v1/fetch_api_key', 'GET /api/v1/messages'],
    });
    expect(stored).toContain('SandboxKeyOfMara');
    expect(stored).not.toContain(password);
    expect(output).not.toMatch(/SandboxKeyOfMara|sandbox-password/);
  });

  test('that is wrong is exit 4, was sent once, and nothing is stored', needs('terminals'), async () => {
    const { exitCode, requests, output } = await signIn('--password', atPassword('wrong horse'));

    expect({ exitCode, requests }).toEqual({ exitCode: 4, requests: ['POST /api/v1/fetch_api_key'] });
    expect(output).toContain('Your username or password is incorrect');
    expect(output).toContain('paste the key: in the app, Settings, Account & privacy, API key');
    expect(output).not.toContain('wrong horse');
  });
});

test('the prompt for a key says where the key is', needs('terminals'), async () => {
  const { exitCode, output } = await signIn('', atKey('SandboxKeyOfMara0000000000000000'));

  expect(exitCode).toBe(0);
  expect(output).toContain('The chat key is in the app: Settings, Account & privacy, API key. It is not your password');
  await expectGolden(screenOf(output), 'test/golden/screens/sign-in.txt');
  // Nobody has looked at the key before it is typed.
  expect(output).not.toContain('✔');
});

test('a password that is typed as key is named as that', needs('terminals'), async () => {
  const { exitCode, output, requests } = await signIn('', atKey(password));

  expect(exitCode).toBe(4);
  expect(output).toContain('which has 32 letters and digits. For a password: auth login chat --password.');
  expect(output).not.toContain(password);
  expect(requests).toHaveLength(1);
});

/** What stays on the screen: the prompt is drawn again for each letter, as often as the terminal is read. */
function screenOf(output: string): string {
  const pieces = stripVTControlCharacters(output).split('API key: ');
  return `${[pieces[0], 'API key:', pieces.at(-1)].map((piece = '') => piece.trim()).join('\n')}\n`;
}
