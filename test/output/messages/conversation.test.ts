import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { conversation } from '../../../src/output/messages/conversation.ts';
import { displayWidth } from '../../../src/output/width.ts';
import { inZone } from '../../helpers/zone.ts';
import { expectGolden } from '../../helpers/golden.ts';
import { look } from '../looks.ts';

type Message = Record<string, unknown>;

/** Messages rendered by a real server of level 372. */
function recorded(name: string): Message[] {
  const file = readFileSync(`test/fixtures/real-372/messages-200-${name}.json`, 'utf8');
  return (JSON.parse(file) as { response: { body: { messages: Message[] } } }).response.body.messages;
}

const names = ['every-shape', 'every-shape-raw', 'all-kinds', 'all-kinds-raw'];
const site = 'https://chat.example.org/#narrow';

function shown(messages: readonly Message[], width: number): string {
  inZone('Europe/Berlin');
  const form = conversation(look('table', { terminal: true, width }));
  return messages.map((message) => form.row({ ...message, url: site })).join('') + form.end();
}

test('every shape of message reads as a conversation of 80 columns', async () => {
  await expectGolden(shown(recorded('every-shape'), 80), 'test/golden/conversation/every-shape.txt');
});

describe.each(names)('the recorded messages %s', (name) => {
  test.each([34, 60, 80, 120])('fit into %i columns', (width) => {
    const wide = shown(recorded(name), width)
      .split('\n')
      .filter((line) => displayWidth(line) > width);
    expect(wide).toEqual([]);
  });
});

const [base = {}] = recorded('all-kinds');
const lines = (message: Message): string[] => shown([{ ...base, reactions: [], ...message }], 80).split('\n');

test('a heading comes where the topic or the day changes, and only there', () => {
  const at = (timestamp: number, subject = 'lunch'): Message => ({ ...base, reactions: [], timestamp, subject });
  // 23:30 and 00:30 in Berlin.
  const text = shown([at(1767220200), at(1767220260), at(1767223800), at(1767223800, 'tea')], 80);
  expect(text.split('\n').filter((line) => line.startsWith('#'))).toEqual([
    '#bulk > lunch — Wednesday 31 December 2025',
    '#bulk > lunch — Thursday 1 January 2026',
    '#bulk > tea — Thursday 1 January 2026',
  ]);
});

test('what a server sends moves no cursor and fakes no escape sequence', () => {
  const hostile = '<p>a&#27;[31mb\u202ec&#x202e;2J\ufdd0</p>';
  const text = lines({ content: hostile, sender_full_name: 'Eve\u001b[2J\nadmin', subject: '\u001b]0;x' }).join('\n');
  expect(text).toContain('a\\x1b[31mb\\u202ec\\u202e2J');
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  expect(text).toContain('Eve\\x1b[2J\\nadmin');
});

test.each([
  ['edited', { last_edit_timestamp: 5, edit_history: [{ user_id: 1, timestamp: 5, prev_content: 'x' }] }, '(edited)'],
  ['moved', { last_moved_timestamp: 5 }, '(moved)'],
  ['edited, history not shown', { last_edit_timestamp: 5 }, '(edited)'],
  [
    'both',
    { last_edit_timestamp: 5, last_moved_timestamp: 6, edit_history: [{ prev_content: 'x' }] },
    '(edited)  (moved)',
  ],
])('a message that was %s is marked', (_what, fields, mark) => {
  expect(lines(fields)[2]?.replace(/^\S+ {2}King Hamlet {2}/, '')).toBe(mark);
});

test('old reactions with a nested user count like new ones', () => {
  const old = { emoji_name: 'tada', emoji_code: '1f389', reaction_type: 'unicode_emoji', user: { id: 3 } };
  const own = { emoji_name: 'party', emoji_code: '7', reaction_type: 'realm_emoji', user_id: 4 };
  expect(lines({ reactions: [old, old, own] }).at(-2)).toBe('  🎉 2  :party: 1');
});

test.each([
  ['nothing but an id', { id: 7 }],
  [
    'fields of strange types',
    { content: 7, timestamp: 'soon', reactions: {}, display_recipient: [null, 3], subject: [] },
  ],
  ['a date beyond all calendars', { timestamp: 1e18, content: 'x' }],
  ['a thousand levels of quotes', { content: '<blockquote>'.repeat(1000) + 'deep' }],
  ['a code point that is none', { content: '<span class="emoji emoji-110000">:x:</span>' }],
])('%s is still a line', (_what, message) => {
  expect(shown([message], 80).split('\n').length).toBeGreaterThan(2);
});

test.each([
  [150_000, false],
  [150_001, true],
])('of a text of %i characters something is left out, which is said: %s', (length, isSaid) => {
  const text = lines({ content: 'x'.repeat(length), content_type: 'text/x-markdown' }).join('');
  expect(text.endsWith('[cut: 1 more characters are not shown]')).toBe(isSaid);
});

test('colour is used for emphasis alone, and the text is the same', () => {
  const form = (color: boolean): string =>
    recorded('all-kinds')
      .map((message) => conversation(look('table', { terminal: true, width: 80, color })).row(message))
      .join('');
  expect(form(true).replace(/\u001b\[\d+m/g, '')).toBe(form(false));
  expect(form(true)).toContain('\u001b[1m');
});

test('an image between words is apart from them, and alone it begins its line', () => {
  const image = '<img src="https://a.test/p.png">';
  const shownLines = lines({ content: `<p>x${image}y</p><p>${image}</p>` });
  expect(shownLines.filter((line) => line.includes('[image'))).toEqual([
    '  x [image: https://a.test/p.png] y',
    '  [image: https://a.test/p.png]',
  ]);
});
