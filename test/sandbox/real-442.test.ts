import { expect, test } from 'vitest';
import { started } from './start.ts';

/** What a real server of level 442 answered to these requests, and one of 372 where that differs. */
const success = '';

test.each([
  ['full_name', '', 442, 'Name must not be empty!'],
  ['full_name', '  ', 442, 'Name must not be empty!'],
  ['full_name', 'M', 442, success],
  ['full_name', 'M', 372, 'Name too short!'],
  ['emojiset', 'google-blob', 442, 'Invalid emojiset: Value error, Not in the list of possible values'],
  ['emojiset', 'google-blob', 372, success],
  ['resolved_topic_notice_auto_read_policy', 'x', 442, 'Invalid resolved_topic_notice_auto_read_policy'],
  ['web_inbox_show_channel_folders', 'true', 442, success],
])('settings: %s=%j at level %i: %j', async (name, text, featureLevel, msg) => {
  const { chat } = await started({ featureLevel });

  const { body } = await chat('PATCH', '/settings', { as: 'tomas', form: { [name]: text } });

  expect(body).toEqual(msg === '' ? { result: 'success', msg } : { result: 'error', code: 'BAD_REQUEST', msg });
});

test.each([
  [{ operator: 'channel', operand: true }, 442, 'Invalid narrow operator: unknown channel True'],
  [{ operator: 'channel', operand: true }, 372, success],
  [{ operator: 'id', operand: true }, 442, 'Invalid narrow operator: Invalid message ID'],
  [{ operator: 'dm', operand: ['x'] }, 442, 'operand[0] is not an integer'],
  [{ operator: 'dm', operand: [9, 1.5] }, 442, 'operand[1] is not an integer'],
  [{ operator: 'dm', operand: [[1]] }, 442, 'operand[0] is not an integer'],
  [{ operator: 'dm', operand: ['x'] }, 372, 'operand is not a string or an integer list'],
])('narrow %j at level %i: %j', async (term, featureLevel, msg) => {
  const { chat } = await started({ featureLevel });
  const query = { anchor: 'newest', num_before: '1', num_after: '0', narrow: JSON.stringify([term]) };

  expect((await chat('GET', '/messages', { query })).body).toMatchObject({ msg });
});

test('a view may have a name of 101 characters', async () => {
  const { chat } = await started({ featureLevel: 442 });
  const name = 'x'.repeat(101);

  expect((await chat('PATCH', '/navigation_views/narrow/is/alerted', { form: { name } })).body).toEqual({
    result: 'success',
    msg: '',
  });
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
