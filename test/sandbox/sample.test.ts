import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { started } from './start.ts';

test('every start begins with the same data', async () => {
  const [one, other] = [(await started()).sandbox.state, (await started()).sandbox.state];

  for (const what of ['licenses', 'activations', 'users', 'channels', 'messages', 'views', 'snippets'] as const) {
    expect(one[what]().length, what).toBeGreaterThan(0);
    expect(one[what](), what).toEqual(other[what]());
  }
});

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
