import { expect, test } from 'vitest';
import { readFaults } from '../../../src/sandbox/faults.ts';
import { openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { openSandbox } from '../../helpers/run.ts';

test.each([
  ['--channel generl --sender 10', /^no channel 'generl'; general is id:1/],
  ["--channel general --sender 'Ines Okafo'", /^no user 'Ines Okafo'; Ines Okafor is --sender 10/],
  ["--channel firmwar --sender 'Ines Okafor'", /firmware is id:2|unknown user/],
  ["--dm 'Ines Okafo'", /^no user 'Ines Okafo'; Ines Okafor is --dm 10/],
  ["--channel bench --sender 'King Hamlet'", /^no channel 'bench'$/],
  ["--channel general --sender 'King Hamlet'", /^no user 'King Hamlet'$/],
  ['--channel general --sender general', /^no user 'general'$/],
  ["--topic 'Ines Okafo' --sender 'Ines Okafo'", /^no user 'Ines Okafo'; Ines Okafor is --sender 10/],
])('%s: the hint is of what the server named', async (words, message) => {
  const { run } = await openSandbox();

  const { exitCode, error } = await run(`messages fetch ${words} -o json`);

  expect(exitCode).toBe(6);
  expect(error?.message).toMatch(message);
});

test.each([
  ["--sender 'INES OKAFOR'", [{ operator: 'sender', operand: 10 }]],
  ['--sender "Ines Okafor"', [{ operator: 'sender', operand: 10 }]],
  ["--sender 'name:Ines Okafor'", [{ operator: 'sender', operand: 10 }]],
  ["--dm 'Ines Okafor,9'", [{ operator: 'dm', operand: [10, 9] }]],
  ["--dm 'me,Ines Okafor'", [{ operator: 'dm', operand: [8, 10] }]],
  ["--not 'sender=Ines Okafor'", [{ operator: 'sender', operand: 10, negated: true }]],
])('%s: the user of that name is taken, and said', async (words, narrow) => {
  const { run } = await openSandbox();

  const { exitCode, stdout, stderr } = await run(`messages fetch --limit 3 ${words} -o json`);
  const same = await run(['messages', 'fetch', '--limit', '3', '--narrow', JSON.stringify(narrow), '-o', 'json']);

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: same.stdout });
  expect(stderr).toMatch(/^note: '(name:)?Ines Okafor' is Ines Okafor \(id 10\)\n/i);
});

test('a name that several users have: exit 2 with each, and no message is asked for', async () => {
  const { sandbox, run } = await openSandbox();
  const ines = sandbox.state.users().find(({ user_id }) => user_id === 10);
  if (ines) sandbox.state.change(({ users }) => users.put(99, { ...ines, user_id: 99, full_name: 'Ines okafor' }));

  const { exitCode, error } = await run('messages fetch --sender "ines okafor" -o json');

  expect({ exitCode, message: error?.message }).toEqual({
    exitCode: 2,
    message: "'ines okafor' is the name of several users; Ines Okafor is 10; Ines okafor is 99",
  });
});

test('a channel that is there is not said to be missing beside an unknown user', async () => {
  const { run } = await openSandbox();

  const { error } = await run("messages fetch --channel general --sender 'King Hamlet' -o json");

  expect(error?.message).not.toContain('no channel');
  expect(error?.message).toContain('King Hamlet');
});

test('digits that are the name of a channel: name: is named, as topic delete does', async () => {
  const server = await openChatServer({
    messages: topicOf('lunch', [1], { stream_id: 9, channel: '2024' }),
    channels: [{ stream_id: 9, name: '2024' }],
  });

  const { exitCode, error } = await server.run('messages fetch --channel 2024 -o json');

  expect({ exitCode, message: error?.message, hint: error?.hint }).toEqual({
    ...{ exitCode: 6, message: 'no channel has the id 2024; a channel is named so' },
    hint: 'Write name:2024 for the channel of that name.',
  });
});

test('a refusal of the narrow itself is said as the server says it, and no name is called unknown', async () => {
  const { run } = await openSandbox();

  const { exitCode, error } = await run('messages fetch --channel general --dm 9 -o json');

  expect(exitCode).toBe(6);
  expect(error?.message).toContain('No message can be both a channel message and direct message');
  expect(error?.message).not.toContain('no channel');
});

test('an empty result stays one where the request that would explain it fails', async () => {
  const { run } = await openSandbox({ faults: readFaults('GET /api/v1/messages=500#9+1', 1) });

  const { exitCode, stdout } = await run(
    "messages fetch --channel general --topic 'no such topic' -o json --retries 0",
  );

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
});
