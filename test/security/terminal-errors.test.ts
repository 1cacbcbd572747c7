import { expect, test } from 'vitest';
import { isWhole, onesFor, seed } from '../helpers/extent.ts';
import { openOrigin, type Respond } from '../helpers/origin.ts';
import { runAlone, type Ran } from '../helpers/run.ts';

/** Title, colour, cursor, clipboard, C1 controls, bidirectional overrides, a line that erases the text before it. */
const hostile = 'no\u001b]0;owned\u0007\u001b[31m\u009b2J\u202eevil\u2066\r\u001b[2Kchatelaine: all is well\b\u0000';

const controls = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\u001b(?!\[\d*m)/u;

const repliesOf = (hostile: string): Readonly<Record<string, Respond>> => ({
  'an error of the licensing API': () => ({ status: 400, body: JSON.stringify({ detail: hostile }) }),
  'an error by field': () => ({ status: 400, body: JSON.stringify({ [hostile]: [hostile] }) }),
  'a page': () => ({ status: 502, body: `<html><title>${hostile}</title></html>` }),
  'a text': () => ({ status: 403, body: hostile }),
  'an error of the chat': () => ({
    status: 400,
    body: JSON.stringify({ result: 'error', msg: hostile, code: hostile, extra: hostile }),
  }),
  'names that were ignored': () => ({
    body: JSON.stringify({
      result: 'success',
      msg: '',
      messages: [],
      ignored_parameters_unsupported: [hostile, 'narrow'],
    }),
  }),
  'fields of an unreadable answer': () => ({ body: JSON.stringify({ [hostile]: 1 }) }),
});
const replies = repliesOf(hostile);

const lines = [
  'license list',
  'license view --remote-user a',
  'license create --remote-user a --size-allowance 4 --settle 1s',
  'first-activation D422CD000301',
  'messages fetch --channel 5',
  'settings set full_name=Ada',
  'view rename narrow/is/alerted Zed',
  'snippet rm 1',
  'auth status',
];

const allFlags = ['', '--verbose', '--trace', '-o json', '--color always'];
const title = `a terminal is not at the mercy of %s${isWhole ? '' : ` (seed ${seed})`}`;

test.each(Object.entries(replies))(title, async (name, respond) => {
  const { port } = await openOrigin(respond);
  for (const [index, line] of lines.entries()) {
    for (const flags of onesFor(Object.keys(replies).indexOf(name) + index, allFlags)) {
      const { stdout, stderr } = await runAt(port, `${line} ${flags} --retries 0`);
      expect(`${line} ${flags}: ${controls.exec(stdout + stderr)?.[0] ?? 'harmless'}`).toBe(
        `${line} ${flags}: harmless`,
      );
    }
  }
});

const breaking = 'x\nchatelaine: error: a\r\nwarning: b\rnote c\u2028* d\u0085chatelaine: e: rm f';

test.each(Object.entries(repliesOf(breaking)))('no line of a server looks like ours: %s', async (_name, respond) => {
  const { port } = await openOrigin(respond);
  for (const line of lines) {
    for (const flags of onesFor(lines.indexOf(line), ['', '--verbose', '--trace'])) {
      const { stderr } = await runAt(port, `${line} ${flags} --retries 0`, false);
      const begun = stderr.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
      expect(begun.filter((text) => /^(chatelaine: (error|e:)|warning: b|note c|\* d| *rm f)/.test(text))).toEqual([]);
    }
  }
});

test('what was typed is made harmless too', async () => {
  const ran = await runAt(1, ['license', 'list', '--app-code', `7${hostile}`]);
  expect(ran.exitCode).toBe(2);
  expect(controls.exec(ran.stderr)).toBeNull();
});

function runAt(port: number, line: string | readonly string[], tty = true): Promise<Ran> {
  const url = `http://127.0.0.1:${port}`;
  return runAlone(line, {
    tty,
    env: {
      TERM: 'xterm-256color',
      CHATELAINE_BASE_URL: url,
      CHATELAINE_API_KEY: 'licensing-key-1',
      CHATELAINE_APP_CODE: '7',
      CHATELAINE_CHAT_SITE: url,
      CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
      CHATELAINE_CHAT_API_KEY: 'chat-key-1',
    },
  });
}
