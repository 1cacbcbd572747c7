import { expect, test } from 'vitest';
import { started } from './start.ts';

test('every start begins with the same data', async () => {
  const [one, other] = [(await started()).sandbox.state, (await started()).sandbox.state];

  for (const what of ['licenses', 'activations', 'users', 'channels', 'messages', 'views', 'snippets'] as const) {
    expect(one[what]().length, what).toBeGreaterThan(0);
    expect(one[what](), what).toEqual(other[what]());
  }
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
