import { expect, test } from 'vitest';
import login from '../../../src/commands/auth/login.ts';

const [prod, staging] = ['prod', 'staging'].map((name, index) => ({
  ...{ kind: 'licensing', name, base_url: `https://${name}.test`, app_code: 7 + index },
}));
const talk = { kind: 'chat', name: 'talk', site: 'https://chat.test', email: 'ada@chat.test' };

/** What is asked where `prod`, `staging` and `talk` are stored, in this order. */
async function asked(kind: string, name?: string): Promise<readonly string[]> {
  const questions: string[] = [];
  const profiles = () => ({
    find: (named: string) => Promise.resolve([prod, staging, talk].find((profile) => profile?.name === named)),
    all: () => Promise.resolve([prod, staging, talk]),
    check: (profile: unknown) => profile,
    refuseExposed: () => undefined,
    save: () => Promise.resolve(),
  });
  const ask = (question: string): Promise<string> => {
    questions.push(question);
    if (question.includes('[')) return Promise.resolve('');
    const isCode = question.startsWith('Code');
    return Promise.resolve(isCode ? '9' : 'https://new.test');
  };
  const rest = { interactive: () => true, note: () => undefined, confirm: () => Promise.resolve(), options: {} };
  const keys = { fromFile: () => Promise.resolve('key') };
  const context = { accounts: { profiles }, terminal: { ask }, keys, ...rest };
  await login.run({ kind, name, check: false, api_key_file: 'key' }, context as never);
  return questions;
}

test('offers on a terminal what the profile of that name has, so that Enter sends its key to its own server', async () => {
  expect(await asked('licensing', 'prod')).toEqual([
    'URL of the licensing API: [https://prod.test]',
    'Code of the application: [7]',
  ]);
  expect(await asked('chat', 'talk')).toEqual([
    'URL of the chat organization: [https://chat.test]',
    'E-mail address of the account: [ada@chat.test]',
  ]);
});

test.each(['new', 'talk', undefined])('offers nothing of another profile: --name %s', async (name) => {
  expect(await asked('licensing', name)).toEqual(['URL of the licensing API:', 'Code of the application:']);
});
