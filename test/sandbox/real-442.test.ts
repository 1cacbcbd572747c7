import { expect, test } from 'vitest';
import { started } from './start.ts';

/** What a real server of level 442 answered to these requests, and one of 372 where that differs. */
test('a policy is one of those that the server knows', async () => {
  const { chat } = await started({ featureLevel: 442 });
  const form = { resolved_topic_notice_auto_read_policy: 'x' };
  const msg = 'Invalid resolved_topic_notice_auto_read_policy';

  const { body } = await chat('PATCH', '/settings', { as: 'tomas', form });

  expect(body).toEqual({ result: 'error', code: 'BAD_REQUEST', msg });
});

test.each([
  [{ operator: 'channel', operand: true }, 442, 'Invalid narrow operator: unknown channel True'],
  [{ operator: 'channel', operand: true }, 372, ''],
  [{ operator: 'dm', operand: [9, 1.5] }, 442, 'operand[1] is not an integer'],
  [{ operator: 'dm', operand: [[1]] }, 442, 'operand[0] is not an integer'],
])('narrow %j at level %i: %j', async (term, featureLevel, msg) => {
  const { chat } = await started({ featureLevel });
  const query = { anchor: 'newest', num_before: '1', num_after: '0', narrow: JSON.stringify([term]) };

  expect((await chat('GET', '/messages', { query })).body).toMatchObject({ msg });
});

test('a view is made once, a built-in one without a name, another one with one', async () => {
  const { chat } = await started({ featureLevel: 442 });
  const post = async (form: Readonly<Record<string, string>>) =>
    (await chat('POST', '/navigation_views', { form })).body;
  const refused = (msg: string) => ({ result: 'error', code: 'BAD_REQUEST', msg });

  expect((await chat('PATCH', '/navigation_views/drafts', { form: { is_pinned: 'true' } })).status).toBe(404);
  expect(await post({ fragment: 'drafts', is_pinned: 'true' })).toEqual({ result: 'success', msg: '' });
  expect(await post({ fragment: 'drafts', is_pinned: 'true' })).toEqual(refused('Navigation view already exists.'));
  expect(await post({ fragment: 'narrow/x', is_pinned: 'true' })).toEqual(
    refused('Custom views must have a valid name.'),
  );
  expect(await post({ fragment: 'reminders', is_pinned: 'true', name: 'x' })).toEqual(
    refused('Built-in views cannot have a custom name.'),
  );
  expect((await chat('GET', '/navigation_views')).body).toMatchObject({
    navigation_views: expect.arrayContaining([{ fragment: 'drafts', is_pinned: true, name: null }]) as unknown,
  });
});
