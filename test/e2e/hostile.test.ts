import { expect, test } from 'vitest';
import { sampleOf } from '../helpers/extent.ts';
import { openOrigin } from '../helpers/origin.ts';
import { needs } from '../helpers/needs.ts';
import { openService, start, temporaryHome, type Done } from './program.ts';

const nested = (open: string, close: string, size: number): string =>
  open.repeat(30) + 'seen'.padEnd(size, '<br>x') + close.repeat(30);

/**
 * An organization whose messages all have one content: the environment that points to it, and when it is first asked.
 */
async function chatOf(content: string, count: number) {
  const message = {
    ...{ type: 'stream', stream_id: 1, display_recipient: 'general', subject: 't', timestamp: 1, content },
    ...{ sender_id: 2, sender_full_name: 'Eve', sender_email: 'eve@chat.test', content_type: 'text/html' },
  };
  const messages = Array.from({ length: count }, (_, index) => ({ ...message, id: index + 1 }));
  const head = {
    result: 'success',
    msg: '',
    found_oldest: true,
    found_newest: true,
    history_limited: false,
    anchor: 1,
  };
  const body = JSON.stringify({ ...head, messages });
  let answer = (): void => undefined;
  const asked = new Promise<void>((resolve) => (answer = resolve));
  const { port } = await openOrigin(({ url }) => {
    answer();
    return { body: url.includes('/messages') ? body : '{"result":"success","msg":""}' };
  });
  const env = {
    CHATELAINE_CHAT_SITE: `http://127.0.0.1:${port}`,
    CHATELAINE_CHAT_EMAIL: 'ada@chat.test',
    CHATELAINE_CHAT_API_KEY: 'key-of-the-test-123',
  };
  return { env, asked };
}

const rendering = [
  ...['text', 'table'].map((format) => ({ line: `messages fetch -o ${format}`, isArchived: false })),
  { line: 'archive export kept -o html', isArchived: true },
];

test.each(sampleOf(1, rendering))(
  'rendering that takes minutes ends by the deadline and by SIGTERM: $line',
  needs('signals'),
  async ({ line, isArchived }) => {
    const content = nested('<blockquote>', '</blockquote>', 100_000);
    const home = temporaryHome();
    const { env } = await chatOf(content, 40);
    const again = await chatOf(content, 40);
    if (isArchived) await start('archive pull kept --channel id:1', { env, home }).ended;
    let deadline = 300;
    let late: Done;
    // A busy machine can be so slow that a deadline comes before the beginning: then one of twice the length is tried.
    do {
      late = await start(`${line} --deadline ${deadline}ms`, { env, home }).ended;
      deadline *= 2;
    } while (isArchived && late.stdout === '');
    // What was printed is a part: rows, or the beginning of an export.
    expect(late.code).toBe(late.stdout === '' ? 7 : 8);
    expect(late.stderr).toMatch(/the deadline of [\d.m]+s was reached/);
    const run = start(line, { env: again.env, home });
    if (isArchived) run.child.stdout?.once('data', () => run.child.kill('SIGTERM'));
    else {
      await again.asked;
      run.child.kill('SIGTERM');
    }
    expect((await run.ended).code).toBe(143);
  },
);

test('an expression of jq that never ends is exit 6 at the deadline, and the key was written', async () => {
  const { env } = await openService();
  let deadline = 400;
  let done: Done;
  // A busy machine can be so slow that a deadline comes before the key: then one of twice the length is tried.
  do {
    const create = `license create --remote-user ada-${deadline} --size-allowance 3 --deadline ${deadline}ms`;
    done = await start(`${create} --jq last(repeat(1))`, { env }).ended;
    deadline *= 2;
  } while (done.stdout === '');
  const { code, stdout, stderr } = done;
  const problem = /did not end: the deadline of [\d.ms]+ was reached/;
  expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringMatching(problem) as string });
  expect(JSON.parse(stdout)).toMatchObject({ license_code: expect.any(String) as string });
});
