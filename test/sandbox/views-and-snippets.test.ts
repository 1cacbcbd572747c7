import { expect, test } from 'vitest';
import { started } from './start.ts';

const success = { status: 200, body: { result: 'success', msg: '' } };
const refused = (status: number, msg: string) => ({ status, body: { result: 'error', msg, code: 'BAD_REQUEST' } });
const audit = 'narrow/channel/1-general/topic/license.20audit';

test('the list of views is of the caller alone', async () => {
  const { chat } = await started();

  expect((await chat('GET', '/navigation_views', { as: 'ines' })).body).toEqual({
    ...success.body,
    navigation_views: [],
  });
});

test('a view is hidden, pinned and renamed', async () => {
  const { chat, sandbox } = await started();
  const view = () => sandbox.state.views().find(({ fragment }) => fragment === audit);

  expect(await chat('PATCH', `/navigation_views/${audit}`, { form: { is_pinned: 'false' } })).toMatchObject(success);
  expect(view()).toMatchObject({ is_pinned: false, name: 'License audit' });
  expect(await chat('PATCH', `/navigation_views/${audit}`, { form: { name: ' Audit ' } })).toMatchObject(success);
  expect(view()).toMatchObject({ is_pinned: false, name: 'Audit' });
});

test.each([
  ['a built-in one with a name', 'inbox', { name: 'Mine' }, 400, 'Built-in views cannot have a custom name.'],
  ['a built-in one without a row', 'drafts', { is_pinned: 'true' }, 404, 'Navigation view does not exist.'],
  ['a name of another view', audit, { name: 'Alert Words' }, 400, 'Navigation view already exists.'],
  ['the name that it has', audit, { name: 'License audit' }, 400, 'Navigation view already exists.'],
  [
    'a taken name, before what is missing',
    'narrow/nosuch',
    { name: 'Alert Words' },
    400,
    'Navigation view already exists.',
  ],
  ['what is missing', 'narrow/nosuch', { name: 'Other' }, 404, 'Navigation view does not exist.'],
  [
    'the view of somebody else',
    'narrow/channel/2-firmware',
    { is_pinned: 'true' },
    404,
    'Navigation view does not exist.',
  ],
  ['a blank name', audit, { name: '' }, 400, 'name cannot be blank'],
  ['a pin that is no boolean', audit, { is_pinned: '1' }, 400, 'is_pinned is not a boolean'],
])('%s is refused', async (_name, fragment, form, status, msg) => {
  const { chat } = await started();

  expect(await chat('PATCH', `/navigation_views/${fragment}`, { form })).toMatchObject(refused(status, msg));
});

test('snippets are listed and deleted by their owner alone, once', async () => {
  const { chat, sandbox } = await started();
  const absent = refused(404, 'Saved snippet does not exist.');

  expect((await chat('GET', '/saved_snippets', { as: 'tomas' })).body).toEqual({
    ...success.body,
    saved_snippets: [
      { id: 3, title: 'Radio', content: 'Which radio channel, and how many sensors?', date_created: 1768809600 },
    ],
  });
  expect(await chat('DELETE', '/saved_snippets/3')).toMatchObject(absent);
  expect(await chat('DELETE', '/saved_snippets/3', { as: 'tomas' })).toMatchObject(success);
  expect(await chat('DELETE', '/saved_snippets/3', { as: 'tomas' })).toMatchObject(absent);
  expect(sandbox.state.snippets().map(({ id }) => id)).toEqual([1, 2, 4]);
});

test('a saved snippet has the text stripped, the time of now, and a number that no other has had', async () => {
  const { chat, clock } = await started();
  const form = { title: ' Hours ', content: ' 9 to 5\n' };

  const created = await chat('POST', '/saved_snippets', { as: 'priya', form });
  expect(created.body).toEqual({ ...success.body, saved_snippet_id: 5 });
  expect((await chat('GET', '/saved_snippets', { as: 'priya' })).body).toEqual({
    ...success.body,
    saved_snippets: [{ id: 5, title: 'Hours', content: '9 to 5', date_created: Math.floor(clock.now() / 1000) }],
  });
  await chat('DELETE', '/saved_snippets/5', { as: 'priya' });
  expect((await chat('POST', '/saved_snippets', { form })).body).toMatchObject({ saved_snippet_id: 6 });
});

test.each([
  [{ title: ' ', content: 'x' }, 'title cannot be blank'],
  [{ title: 'x'.repeat(61), content: 'x' }, 'title is too long (limit: 60 characters)'],
  [{ title: 'x', content: 'x'.repeat(10_001) }, 'content is too long (limit: 10000 characters)'],
  [{ title: '😀'.repeat(60), content: 'x'.repeat(10_000) }, ''],
])('a saved snippet %j: %s', async (form, msg) => {
  const { chat } = await started();

  expect((await chat('POST', '/saved_snippets', { form })).body).toMatchObject({ msg });
});
