import { expect, test } from 'vitest';
import { emptyHome, fakeService, run } from '../helpers/run.ts';

const members = [
  { user_id: 10, full_name: 'Ada Lovelace', email: 'user10@chat.test', delivery_email: 'ada.l@b.de' },
  { user_id: 11, full_name: 'Bob Hope', email: 'bob@b.de', delivery_email: null },
];
const page = { result: 'success', msg: '', messages: [], found_newest: true, found_oldest: true, found_anchor: false };
const dm = (operand: unknown, negated = {}) => ({ operator: 'dm', operand, ...negated });
const including = (operand: unknown) => ({ operator: 'dm-including', operand });

test.each<[string, readonly object[]]>([
  ['--dm 10,bob@b.de', [dm([10, 11])]],
  ['--dm BOB@b.de,10', [dm([11, 10])]],
  ['--dm ada.l@b.de,11', [dm([10, 11])]],
  ["--dm 'bob@b.de,Ada Lovelace'", [dm([11, 10])]],
  ['--not dm=10,bob@b.de', [dm([10, 11], { negated: true })]],
  ['--dm-including 10,bob@b.de', [including(10), including(11)]],
  ["'#narrow/dm/10,bob@b.2Ede'", [dm([10, 11])]],
  ["--channel '#narrow/dm/10,bob@b.2Ede'", [dm([10, 11])]],
  ["'#narrow/dm-including/10,11-group'", [including(10), including(11)]],
])('users that are typed in two ways are all sent as ids: %s', async (words, narrow) => {
  const service = fakeService();
  if (!words.includes('10,11')) {
    if (words.includes('@')) service.expect('GET /api/v1/users').reply(200, { ...success, members });
  }
  const around = { anchor: 'newest', num_before: '5', num_after: '0' };
  service
    .expect({ method: 'GET', path: '/api/v1/messages', query: { narrow: JSON.stringify(narrow), ...around } })
    .reply(200, page);

  const { exitCode, stdout } = await run(service, `messages fetch --limit 5 ${words} -o json`);

  service.done();
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
});

const success = { result: 'success', msg: '' };

test.each([
  ['addresses alone are sent as addresses', 'bob@b.de,eve@b.de', 'bob@b.de,eve@b.de'],
  ['ids alone are sent as ids', 'id:10,11', [10, 11]],
])('%s, and no user is looked up', async (_case, text, operand) => {
  const service = fakeService();
  const around = { anchor: 'newest', num_before: '5', num_after: '0' };
  service
    .expect({ method: 'GET', path: '/api/v1/messages', query: { narrow: JSON.stringify([dm(operand)]), ...around } })
    .reply(200, page);

  const { exitCode } = await run(service, `messages fetch --limit 5 --dm ${text} -o json`);

  service.done();
  expect(exitCode).toBe(0);
});

test.each([
  ['messages fetch --dm 10,eve@b.de', "no user 'eve@b.de'"],
  ["messages fetch --dm 'Ada Lovelace,Nobody'", "no user 'Nobody'"],
  ["messages fetch --dm '10,bob hopp'", "no user 'bob hopp'; Bob Hope is 11"],
  ['archive pull kept-people --dm 10,eve@b.de', "no user 'eve@b.de'"],
])(
  'who is not found among users that are typed in two ways is named, and nothing is asked for: %s',
  async (line, message) => {
    const service = fakeService();
    // An archive belongs to a person.
    if (line.startsWith('archive')) service.expect('GET /api/v1/users/me').reply(200, { ...success, user_id: 10 });
    service.expect('GET /api/v1/users').reply(200, { ...success, members });

    const { exitCode, error } = await run(service, `${line} -o json`, { home: emptyHome() });

    service.done();
    expect({ exitCode, message: error?.message }).toEqual({ exitCode: 6, message });
  },
);

test('several users of --not dm-including are refused: what the server leaves out would be more', async () => {
  const { exitCode, error } = await run(fakeService(), 'messages fetch --not dm-including=10,11 -o json');

  expect({ exitCode, message: error?.message }).toEqual({ exitCode: 2, message: '--not dm-including: give one user' });
});
