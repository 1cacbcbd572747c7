import { expect, test } from 'vitest';
import { typedPath } from '../../src/api/raw.ts';

test.each([
  ['licensing', 'license/', '/v1/license/', '/v1/license/'],
  ['licensing', '/license/', '/v1/license/', '/v1/license/'],
  ['licensing', '/v1/license/', '/v1/license/', '/v1/license/'],
  ['licensing', 'v1/license', '/v1/license', '/v1/license'],
  ['licensing', 'license/4f1c9a/', '/v1/license/4f1c9a/', '/v1/license/[license_code]/'],
  ['licensing', 'first-activation/', '/v1/first-activation/', '/v1/first-activation/'],
  ['chat', 'messages', '/api/v1/messages', '/api/v1/messages'],
  ['chat', '/api/v1/users/me', '/api/v1/users/me', '/api/v1/users/me'],
  ['chat', 'users/ada@chat.test', '/api/v1/users/ada%40chat.test', '/api/v1/users/ada%40chat.test'],
  ['chat', 'users/ada%40chat.test', '/api/v1/users/ada%40chat.test', '/api/v1/users/ada%40chat.test'],
  ['chat', 'x/100%25', '/api/v1/x/100%25', '/api/v1/x/100%25'],
  ['chat', 'x/a..b', '/api/v1/x/a..b', '/api/v1/x/a..b'],
] as const)('%s %s is sent to %s', (service, typed, sent, shown) => {
  expect(typedPath(service, typed).path).toEqual({ sent, shown });
});

test('a query is read, and its texts are decoded', () => {
  expect(typedPath('chat', 'messages?anchor=newest&narrow=%5B%5D').query).toEqual([
    ['anchor', 'newest'],
    ['narrow', '[]'],
  ]);
});

const refused = [
  '',
  '/',
  '//evil.test/v1/license/',
  '/v1//license/',
  'license//x',
  'https://evil.test/v1/license/',
  'HTTPS:evil.test',
  'javascript:x',
  '..',
  '../v2/license/',
  'license/..',
  'license/../../admin',
  'license/./x',
  '%2e%2e/admin',
  'license/%2E%2e/x',
  'license/.%2e/x',
  '%252e%252e/admin',
  '%25252e%25252e/admin',
  '..%2fadmin',
  'license/x%2f..%2f..',
  'license/x%252fy',
  'license\\..\\x',
  'license/x%5cy',
  '..;/admin',
  '..;a=b/admin',
  '%2e%2e%3b/admin',
  'license/%00',
  'license/%zz',
  'license/a b',
  'license/a\nb',
  'license/#x',
  '/v1/../license/',
  'v1/',
];

test.each(refused)("'%s' is refused", (typed) => {
  for (const service of ['licensing', 'chat'] as const)
    if (!(service === 'chat' && typed === 'v1/')) {
      const hint = `Give a path below /${service === 'chat' ? 'api/v1, such as messages' : 'v1, such as license/'}.`;
      const refusal: unknown = expect.objectContaining({ kind: 'usage', details: { hint } });
      expect(() => typedPath(service, typed)).toThrow(refusal);
    }
});
