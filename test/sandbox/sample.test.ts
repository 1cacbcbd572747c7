import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { started } from './start.ts';

test('the data are those of the last release: people write scripts and slides with them', async () => {
  const { state } = (await started()).sandbox;
  const kinds = ['licenses', 'activations', 'users', 'channels', 'messages', 'views', 'snippets'] as const;
  const sumOf = (kind: (typeof kinds)[number]): string =>
    createHash('sha256').update(JSON.stringify(state[kind]())).digest('hex').slice(0, 8);

  // Whoever changes the data on purpose writes the new sum here.
  expect(Object.fromEntries(kinds.map((kind) => [kind, sumOf(kind)]))).toEqual({
    licenses: '16fcce3b',
    activations: 'e4feeae8',
    users: '957799ce',
    channels: 'b671e858',
    messages: 'e67851f3',
    views: 'ba2537b9',
    snippets: 'e8ce1f9e',
  });
});

test('what the API shows of them is that of the last release, to each kind of account', async () => {
  const { chat, licensing, sandbox } = await started();
  const shown = async (call: typeof chat, path: string, as: string, method = 'GET'): Promise<string> => {
    const { status, body } = await call(method, path, { as });
    const text = JSON.stringify([status, body]).replaceAll(sandbox.chat.site, 'SITE');
    return createHash('sha256').update(text).digest('hex').slice(0, 8);
  };
  const sums: Record<string, string> = {};
  for (const path of [
    '/users',
    '/users/me',
    '/users/me/subscriptions',
    '/streams',
    '/users/me/1/topics',
    '/messages',
  ]) {
    const asked = path === '/messages' ? `${path}?anchor=0&num_before=0&num_after=900` : path;
    const people = ['mara', 'tomas', 'priya', 'release-bot'];
    sums[path] = (await Promise.all(people.map((as) => shown(chat, asked, as)))).join(' ');
  }
  for (const path of ['/server_settings', '/navigation_views', '/saved_snippets'])
    sums[path] = await shown(chat, path, 'mara');
  sums['/register'] = await shown(chat, '/register', 'mara', 'POST');
  sums['/license/'] = await shown(licensing, '/license/', 'mara');

  // Whoever changes an answer on purpose writes the new sum here.
  expect(sums).toEqual({
    '/users': 'e1cdfc2b ad056ec7 7edd86a5 ad056ec7',
    '/users/me': '162e3663 30cef112 6a1a6c9e 712e2882',
    '/users/me/subscriptions': 'afc8ee3b 3b518e8f 32a9ae36 ceb7d840',
    '/streams': 'f25a4935 c1ba120b 0acb375d ea4d0f2b',
    '/users/me/1/topics': 'c5ba83ad c5ba83ad c5ba83ad c5ba83ad',
    '/messages': 'd6be0861 774e2268 3cf5a4e5 a3677e0d',
    '/server_settings': '57c8086c',
    '/navigation_views': '219704f9',
    '/saved_snippets': '1b1aa90a',
    '/register': 'c3580009',
    '/license/': '9d67341b',
  });
});

test.each([
  [undefined, ['Measurement 1 stored.', 'Measurement 2 stored.']],
  [22, ['Measurement 1 stored.', 'Measurement 2 stored.']],
  [34, ['Measurement 1 stored. Measurement', 'Measurement 2 stored. Measurement']],
])('more messages of %s characters are a minute apart, at the end', async (chars, contents) => {
  const extraMessages = { channel: 'general', topic: 'load', count: 2, ...(chars !== undefined && { chars }) };
  const { state } = (await started({ extraMessages })).sandbox;
  const rows = contents.map((content, index) => ({ id: 1452 + index, timestamp: 1_773_388_800 + index * 60, content }));
  expect(state.topic('general', 'load')).toMatchObject(rows);
});

test('keys have the form that each service asks for, and say that they are no secrets', async () => {
  const { sandbox } = await started();

  for (const { api_key } of sandbox.chat.accounts) expect(api_key).toMatch(/^SandboxKeyOf[A-Za-z0-9]{20}$/);
  for (const { api_key, app_code } of sandbox.licensing.apps) expect(api_key).toBe(`sandbox-key-of-app-${app_code}`);
  expect(sandbox.chat.accounts.map(({ role }) => role)).toEqual(['administrator', 'member', 'member', 'member', 'bot']);
});

test('some texts are traps: escapes, bidirectional overrides, formulas', async () => {
  const { sandbox } = await started();
  const texts = sandbox.state.messages().map(({ content }) => content);

  for (const trap of ['\u001b[31m', '\u001b]0;', '\u0007', '\u202e', '\u200b', '\n=HYPERLINK(']) {
    expect(
      texts.some((text) => text.includes(trap)),
      JSON.stringify(trap),
    ).toBe(true);
  }
});
