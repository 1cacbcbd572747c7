import { expect, test } from 'vitest';
import { messageLink } from '../../src/schema/link.ts';

const site = 'https://chat.example.com';

// Links as the web app of Zulip writes them.
test.each([
  ['bulk', 'every shape', '#narrow/channel/31-bulk/topic/every.20shape/near/7'],
  ['open house', 'v1.0 (beta)?', '#narrow/channel/31-open-house/topic/v1.2E0.20.28beta.29.3F/near/7'],
  ['größe', '100%', '#narrow/channel/31-gr.C3.B6.C3.9Fe/topic/100.25/near/7'],
  ['bulk', '', '#narrow/channel/31-bulk/topic//near/7'],
  ['bulk', 'half \ud83d', '#narrow/channel/31-bulk/topic/half.20.EF.BF.BD/near/7'],
])('of a message in %j, topic %j', (display_recipient, subject, hash) => {
  const message = { id: 7, type: 'stream', stream_id: 31, display_recipient, subject };
  expect(messageLink(message, site)).toBe(`${site}/${hash}`);
  expect(messageLink(message, `${site}/`)).toBe(`${site}/${hash}`);
});

test.each([
  [[9, 8], '#narrow/dm/8,9-dm/near/7'],
  [[8], '#narrow/dm/8-dm/near/7'],
  [[10, 9, 8], '#narrow/dm/8,9,10-group/near/7'],
])('of a direct message of %j', (ids, hash) => {
  const display_recipient = ids.map((id) => ({ id, full_name: 'Somebody' }));
  expect(messageLink({ id: 7, display_recipient, subject: '' }, site)).toBe(`${site}/${hash}`);
});

test.each([
  { id: 7 },
  { id: 7, display_recipient: 'bulk', subject: 'x' },
  { id: 7, display_recipient: [] },
  { id: 7, display_recipient: ['somebody'] },
])('is not guessed for %j', (message) => {
  expect(messageLink(message, site)).toBeUndefined();
});
