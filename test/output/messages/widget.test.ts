import { describe, expect, test } from 'vitest';
import { conversation } from '../../../src/output/messages/conversation.ts';
import { page } from '../../../src/output/messages/page.ts';
import { widgetOf } from '../../../src/output/messages/message-parts.ts';
import { look } from '../looks.ts';

const says = (sender_id: number, content: unknown) => ({ sender_id, content: JSON.stringify(content) });
const message = (...submessages: object[]) => ({ id: 1, sender_id: 9, sender_full_name: 'Ines', submessages });
const poll = says(9, { widget_type: 'poll', extra_data: { question: 'Lunch *where*?', options: ['soup', 'rice'] } });
const list = says(9, {
  ...{ widget_type: 'todo' },
  extra_data: { task_list_title: 'Move', tasks: [{ task: 'boxes', desc: 'ten of them' }, { task: 'van' }] },
});
const vote = (key: string, way = 1) => ({ type: 'vote', key, vote: way });

describe('a poll', () => {
  test('counts the votes of each person once, of options that were added too', () => {
    const events = [
      says(7, vote('canned,0')),
      says(7, vote('canned,0')),
      says(8, vote('canned,0')),
      says(8, { type: 'new_option', idx: 1, option: 'bread' }),
      says(7, vote('8,1')),
      says(8, vote('canned,1')),
      says(8, vote('canned,1', -1)),
      says(8, { type: 'new_option', idx: 2, option: 'soup' }),
      says(7, vote('nowhere')),
    ];
    expect(widgetOf(message(poll, ...events))).toEqual({
      kind: 'poll',
      shown: {
        title: 'Lunch *where*?',
        items: [
          { text: 'soup: 2 votes', votes: 2 },
          { text: 'rice: 0 votes', votes: 0 },
          { text: 'bread: 1 vote', votes: 1 },
        ],
      },
    });
  });

  test('has the question that its author gave it last', () => {
    const asking = (sender: number, question: string) => says(sender, { type: 'question', question });
    expect(widgetOf(message(poll, asking(9, 'Dinner?'), asking(7, 'Mine!')))?.shown?.title).toBe('Dinner?');
  });
});

test('a to-do list has what was added, and what is done', () => {
  const events = [
    says(7, { type: 'new_task', key: 1, task: 'keys', desc: '', completed: false }),
    says(8, { type: 'strike', key: '0,canned' }),
    says(8, { type: 'strike', key: '1,7' }),
    says(9, { type: 'strike', key: '1,7' }),
    says(9, { type: 'new_task_list_title', title: 'Moving' }),
  ];
  expect(widgetOf(message(list, ...events))?.shown).toEqual({
    title: 'Moving',
    items: [{ text: '[x] boxes: ten of them' }, { text: '[ ] van' }, { text: '[ ] keys' }],
  });
});

test.each([
  [undefined, message()],
  [{ kind: 'zform', shown: undefined }, message(says(9, { widget_type: 'zform', extra_data: {} }))],
  [{ kind: 'interactive', shown: undefined }, message({ content: '{' })],
  [{ kind: 'poll', shown: { title: 'Poll', items: [] } }, message(says(9, { widget_type: 'poll' }), { content: 1 })],
])('%j is what is known of %j', (widget, given) => {
  expect(widgetOf(given)).toEqual(widget);
});

test('each form for people shows it in place of the command that made it', () => {
  const given = { ...message(poll, says(7, vote('canned,0'))), content: '/poll Lunch', display_recipient: 'food' };
  const links = { site: '', resolve: String, inside: () => undefined, fileAt: () => undefined };
  const head = { title: 't', notes: [], warnings: [], links, urlOf: () => undefined };
  const text = conversation(look('table', { width: 80 })).row(given);
  expect(text).toContain('Ines  (poll)\n  Lunch *where*?\n  • soup: 1 vote\n  • rice: 0 votes\n');
  const bars = ['soup: 1 vote', 'rice: 0 votes'].map(
    (text, index) => `<li><meter max="1" value="${1 - index}"></meter>${text}</li>`,
  );
  const html = `<p><strong>Lunch *where*?</strong></p><ul class="items">${bars.join('')}</ul>`;
  expect(page(head).row(given)).toContain(html);
});

test('a hostile one takes no longer than a long message', () => {
  const events = Array.from({ length: 100_000 }, (_, idx) =>
    says(idx, { type: 'new_option', idx, option: `option ${idx} ${'x'.repeat(50)}` }),
  );
  expect(widgetOf(message(poll, ...events))?.shown?.items).toHaveLength(500);
});
