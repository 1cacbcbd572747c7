import { describe, expect, test } from 'vitest';
import { idsBetween, openChatServer, topicOf } from '../../helpers/chat-server.ts';
import { openSandbox } from '../../helpers/run.ts';

describe.each([372, 489])('level %d: a channel of which the account sees nothing', (featureLevel) => {
  test.each(['topic list clinic-pilot', 'topic list id:4', 'messages fetch --channel clinic-pilot --topic rollout'])(
    '%s: said, with exit 5, and no empty list',
    async (words) => {
      const { run } = await openSandbox({ featureLevel });

      const { exitCode, error } = await run(`${words} -o json`);

      expect(exitCode).toBe(5);
      const channel = words.includes('id:4') ? '4' : 'clinic-pilot';
      expect(error?.message).toBe(`nothing of the channel '${channel}' is visible to this account`);
    },
  );
});

test('an empty selection of a channel that is visible is an empty list', async () => {
  const { run } = await openSandbox();

  for (const channel of ['general', 'hackathon-2024'])
    expect(await run(`messages fetch --channel ${channel} --topic nowhere -o json`)).toMatchObject({
      ...{ exitCode: 0, stdout: '[]\n' },
    });
});

describe('a channel whose messages the plan hides', () => {
  const hidden = () =>
    openChatServer({
      ...{ messages: topicOf('lunch', idsBetween(1, 5)), firstVisible: 100 },
      channels: [{ stream_id: 5, name: 'kitchen' }],
    });

  test.each(['kitchen', '5'])('topic list %s warns that the plan cuts the history', async (channel) => {
    const { exitCode, stdout, stderr } = await (await hidden()).run(`topic list ${channel} -o json`);

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
    expect(stderr).toContain('the plan of the organization limits the history');
  });

  test.each([
    '',
    ' --topic lunch',
    ' --topic lunch --all',
    ' --topic lunch --since 2020-01-01',
    ' --topic lunch --limit 5',
  ])('messages fetch --channel kitchen%s warns of it too', async (words) => {
    const { exitCode, stdout, stderr } = await (await hidden()).run(`messages fetch --channel kitchen${words} -o json`);

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '[]\n' });
    expect(stderr).toContain('the plan of the organization limits the history');
  });

  test('topic delete by name says the plan', async () => {
    const { exitCode, error } = await (await hidden()).run('topic delete kitchen lunch --confirm lunch -o json');

    expect(exitCode).toBe(6);
    expect(error?.message).toContain("of the topic 'lunch' was deleted: the Zulip plan hides older messages");
  });
});
