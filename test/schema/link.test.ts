import { describe, expect, test } from 'vitest';
import { messageLink } from '../../src/schema/link.ts';
import { readLink } from '../../src/schema/link.ts';

const site = 'https://chat.example.com';
const channel = (operand: number | string) => ({ operator: 'channel', operand });
const topic = (operand: string) => ({ operator: 'topic', operand });
const dm = (...ids: readonly number[]) => ({ operator: 'dm', operand: ids.join(',') });

test.each<[string, object | undefined]>([
  ['#narrow/channel/31-bulk', { terms: [channel(31)] }],
  ['#narrow/channel/31-bulk/', { terms: [channel(31)] }],
  ['#narrow/channel/31', { terms: [channel(31)] }],
  ['narrow/stream/31-old/topic/every.20shape', { terms: [channel(31), topic('every shape')] }],
  ['narrow/stream/31-old/subject/x', { terms: [channel(31), topic('x')] }],
  ['#narrow/channel/bulk', { terms: [channel('bulk')] }],
  [
    '#narrow/channel/31-v1.2E0.20.28b.29.3F/topic/v1.2E0.20.28beta.29.3F/near/7',
    { terms: [channel(31), topic('v1.0 (beta)?')], near: '7' },
  ],
  ['#narrow/channel/31-bulk/topic/100.25/near/7', { terms: [channel(31), topic('100%')], near: '7' }],
  ['#narrow/channel/31-bulk/topic/31-x', { terms: [channel(31), topic('31-x')] }],
  ['#narrow/channel/31-bulk/topic//near/7', { terms: [channel(31), topic('')], near: '7' }],
  ['#narrow/channel/31-bulk/topic/', { terms: [channel(31), topic('')] }],
  ['#narrow/channel/31-bulk/topic/x/with/77', { terms: [channel(31), topic('x'), { operator: 'with', operand: 77 }] }],
  ['#narrow/dm/8,9-dm/near/7', { terms: [dm(8, 9)], near: '7' }],
  ['#narrow/dm/8,9,10-group', { terms: [dm(8, 9, 10)] }],
  ['#narrow/pm-with/9-Ines-Okafor', { terms: [dm(9)] }],
  ['#narrow/sender/9-ines', { terms: [{ operator: 'sender', operand: 9 }] }],
  ['#narrow/is/starred', { terms: [{ operator: 'is', operand: 'starred' }] }],
  [
    '#narrow/channel/31-bulk/-is/resolved',
    { terms: [channel(31), { operator: 'is', operand: 'resolved', negated: true }] },
  ],
  ['https://chat.example.com/#narrow/channel/31-bulk/near/7', { terms: [channel(31)], near: '7' }],
  ['https://CHAT.example.com:443/#narrow/channel/31-bulk', { terms: [channel(31)] }],
  ['  http://chat.example.com/#narrow/channel/31-bulk ', { terms: [channel(31)] }],
  ['<https://chat.example.com/#narrow/channel/31-bulk>', { terms: [channel(31)] }],
  ['<#narrow/channel/31-bulk>', { terms: [channel(31)] }],
  ['/#narrow/channel/31-bulk', { terms: [channel(31)] }],
  ['[#bulk > x (y)](https://chat.example.com/#narrow/channel/31-bulk/topic/x)', { terms: [channel(31), topic('x')] }],
  ['[bulk](<https://chat.example.com/#narrow/channel/31-bulk>)', { terms: [channel(31)] }],
  ['[bulk](#narrow/channel/31-bulk)', { terms: [channel(31)] }],
  ['https://chat.example.com/#narrow%2Fchannel%2F31-bulk%2Ftopic%2Fx.20y', { terms: [channel(31), topic('x y')] }],
  [
    'https://chat.example.com/#narrow/channel/31-bulk/topic%2fx%2Fnear/7',
    { terms: [channel(31), topic('x')], near: '7' },
  ],
  ['#narrow/channel/31-bulk/topic/a.2Fb', { terms: [channel(31), topic('a/b')] }],
  ['#general', { terms: [channel('general')] }],
  ['#2024', { terms: [channel('2024')] }],
  ['#**general**', { terms: [channel('general')] }],
  ['#**general>lunch > tea**', { terms: [channel('general'), topic('lunch > tea')] }],
  ['#**general>lunch@77**', { terms: [channel('general'), topic('lunch')] }],
  ['#narrow/constructor/x', { terms: [{ operator: 'constructor', operand: 'x' }] }],
  ['#', undefined],
  ['general', undefined],
  ['<general>', undefined],
  ['[general](x)', undefined],
  ['name:#odd', undefined],
  ['7', undefined],
])('a link, or a text that is none, as terms of a search: %s', (text, link) => {
  expect(readLink(text, site)).toEqual(link);
});

describe('is refused', () => {
  test.each([
    [
      'of another host',
      'https://other.example.org/#narrow/channel/31-bulk',
      'the link leads to other.example.org, but the account is on chat.example.com',
    ],
    [
      'of another port',
      'https://chat.example.com:8443/#narrow/channel/31',
      'the link leads to chat.example.com:8443, but the account is on chat.example.com',
    ],
    [
      'of this machine',
      'http://127.0.0.1:1/#narrow/channel/31',
      'the link leads to 127.0.0.1:1, but the account is on chat.example.com',
    ],
    ['of one letter', 'https://chat.example.com/#x', 'the link leads to no conversation'],
    ['of no conversation', 'https://chat.example.com/#inbox', 'the link leads to no conversation'],
    ['without a conversation', '#narrow/near/7', 'the link leads to no conversation'],
    ['without #', 'https://chat.example.com/login', 'the link has no # with a conversation or view'],
    [
      'cut in the middle of a letter',
      '#narrow/channel/31-bulk/topic/broken.2',
      'the link is incomplete or changed: part of it cannot be decoded',
    ],
  ])('one %s', (_what, text, message) => {
    expect(() => readLink(text, site)).toThrow(message);
  });
});

test('servers of this machine are one: the sandbox changes its port', () => {
  expect(readLink('http://127.0.0.1:40001/#narrow/channel/5-x', 'http://localhost:9991')).toEqual({
    terms: [channel(5)],
  });
});

test.each([
  { id: 7, stream_id: 31, display_recipient: 'v1.0 (beta)', subject: '50% off? ✔ #1 / 2 🍕' },
  { id: 7, stream_id: 31, display_recipient: 'general', subject: '' },
])('what messageLink writes for $subject is read back', (message) => {
  expect(readLink(messageLink(message, site) ?? '', site)).toEqual({
    terms: [channel(31), topic(message.subject)],
    near: '7',
  });
});
