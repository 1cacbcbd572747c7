import { expect, test } from 'vitest';
import { negatedTerm, narrowTerm } from '../../src/schema/narrow.ts';
import { narrowLink } from '../../src/schema/narrow-link.ts';

test.each([
  ['#narrow/channel/31-bulk', { channel: 31 }],
  ['#narrow/channel/31-bulk/', { channel: 31 }],
  ['#narrow/channel/31', { channel: 31 }],
  ['narrow/stream/31-old/topic/every.20shape', { channel: 31, topic: 'every shape' }],
  ['#narrow/channel/31-bulk/topic/v1.2E0.20.28beta.29.3F/near/7', { channel: 31, topic: 'v1.0 (beta)?' }],
  ['#narrow/channel/31-bulk/topic//near/7', { channel: 31, topic: '' }],
  ['#narrow/channel/31-bulk/topic/broken.2', undefined],
  ['#narrow/dm/8,9-dm/near/7', undefined],
  ['#narrow/channel/31-bulk-not/x31', { channel: 31 }],
  ['#narrow/channel/bulk', undefined],
  ['#general', undefined],
])('%s is %j', (text, link) => {
  expect(narrowLink(text)).toEqual(link);
});

test.each([
  ['#general', 'general'],
  ['#2024', '2024'],
  ['name:#odd', '#odd'],
  ['#', '#'],
  ['#narrow/channel/31-bulk', 31],
  ['7', 7],
])('the channel %s is %j', (text, operand) => {
  expect(narrowTerm('channel', text)).toEqual({ operator: 'channel', operand });
});

test('a sender keeps its sign', () => {
  expect(narrowTerm('sender', '#general')).toEqual({ operator: 'sender', operand: '#general' });
});

test('the link of a topic is not negated as its whole channel', () => {
  expect(() => negatedTerm('channel=#narrow/channel/31-bulk/topic/x')).toThrow('is of a topic');
});
