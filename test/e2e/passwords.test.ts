import { expect, onTestFinished, test } from 'vitest';
import { startSandbox, type Sandbox } from '../helpers/sandbox.ts';
import { realTime } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';
import { start } from './program.ts';
import { openTerminal, type Terminal } from './pty.ts';

/** Passwords are typed on a real terminal, where a shown one would be seen. */

const line = 'chatelaine settings set old_password new_password';
const present = 'sandbox-password-of-mara';
const next = 'correct-horse-battery-42';

test('bare names ask for both passwords, the new one twice, and show none', needs('terminals'), async () => {
  const sandbox = await serve();
  const terminal = await typed(sandbox, [present, next, next]);
  const { exitCode, output } = await terminal.ended;

  expect({ exitCode, isShown: output.includes(present) || output.includes(next) }).toEqual({
    exitCode: 0,
    isShown: false,
  });
  expect(passwordIn(sandbox)).toBe(next);
});

// Help is shown before the program is loaded; test/security/typed-secrets.test.ts has every other place.
test('a key in the place of a command is refused without it', async () => {
  const key = 'CanaryKey0123456789abcdefGHIJ';
  const { code, stdout, stderr } = await start(`${key} --help`).ended;
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^chatelaine: \S/);
  expect(stderr).not.toContain(key.slice(0, 9));
});

async function serve(): Promise<Sandbox> {
  const sandbox = await startSandbox({ clock: realTime });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

async function typed({ chat }: Sandbox, passwords: readonly string[]): Promise<Terminal> {
  const [account] = chat.accounts;
  const env = {
    CHATELAINE_CHAT_SITE: chat.site,
    CHATELAINE_CHAT_EMAIL: account?.email ?? '',
    CHATELAINE_CHAT_API_KEY: account?.api_key ?? '',
  };
  const terminal = openTerminal(line, { env });
  for (const [index, question] of [/old password:/, /new password:/, /new password again:/].entries()) {
    await terminal.shows(question);
    terminal.type(`${passwords[index] ?? ''}\r`);
  }
  return terminal;
}

function passwordIn({ state }: Sandbox): string | undefined {
  return state.users().find(({ user_id }) => user_id === 8)?.password;
}
