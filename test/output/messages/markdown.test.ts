import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, test } from 'vitest';
import { markdown } from '../../../src/output/messages/markdown.ts';
import { isWhole } from '../../helpers/extent.ts';

const head = {
  ...{ title: 'Messages', notes: ['selected'], warnings: [] },
  links: { site: '', resolve: String, inside: () => undefined, fileAt: () => undefined },
};
const message = (content: string, more = {}) => ({
  ...{ id: 1, sender_id: 9, sender_full_name: 'Mara Lindqvist', subject: 'lunch', display_recipient: 'general' },
  ...{ timestamp: 1_768_297_500, stream_id: 5, content, content_type: 'text/x-markdown', ...more },
});
const exported = (content: string, more = {}): string => {
  const form = markdown(head);
  return form.row(message(content, more)) + form.row(message('the next [x] ![x] [^1]')) + form.end();
};
const bodyOf = (content: string): string => /09:45\n\n(>[^]*?)\n\n(?!>)/.exec(exported(content))?.[1] ?? '';

type Reader = InstanceType<typeof MarkdownIt>;

/** Readers differ in what they take for code: some know no fences in a quote, some pair other backticks. */
const readers = (): readonly [string, Reader, boolean][] => {
  const reader = () => {
    const made = new MarkdownIt({ html: true, linkify: true });
    made.validateLink = () => true;
    return made;
  };
  return [
    ['all', reader(), true],
    ['no fences', reader().disable('fence'), false],
    ['no code between backticks', reader().disable('backticks'), true],
    ['neither', reader().disable(['fence', 'backticks']), false],
    ['no lists', reader().disable(['list', 'table', 'linkify']), true],
  ];
};

/** What of a document is live, or passes for the words of another. */
function liveIn(document: string, reader: Reader, knowsFences: boolean): string[] {
  const environment = { references: {} };
  const live: string[] = [];
  let depth = 0;
  for (const token of reader.parse(document, environment)) {
    depth += token.type === 'blockquote_open' ? 1 : token.type === 'blockquote_close' ? -1 : 0;
    // Without fences the text of a code block is text; it stays inside the quote.
    if (token.type === 'heading_open' && depth > 0 && knowsFences) live.push(token.tag);
    if (token.type === 'inline' && depth === 0 && token.content.includes('typed')) live.push(token.content);
    for (const { type, content, attrs } of [token, ...(token.children ?? [])]) {
      if (/^html_|image/.test(type)) live.push(`${type} ${content}`);
      for (const [name, value] of attrs ?? [])
        if (/^(?!https?:|mailto:|[\w./#%-]+$)/.test(String(value))) live.push(`${name} ${value}`);
    }
  }
  return [...live, ...Object.keys(environment.references)];
}

const image = '<img src=x onerror=y>';
const hostile = [
  `http://x/\`${image}\``,
  `[a]: /u '\`\`\`\n${image}\n\`\`\`'`,
  `\`\`\`\`\n<b>\n\`\`\`\`\`\n${image}`,
  `~~~ \`x\n${image}`,
  `~~~ \`\`\`\n${image}\n~~~\n${image}`,
  `- ~~~\n\`\`\`\n~~~\n${image}\n\`\`\``,
  `> ~~~\n\`\`\`\n${image}\n\`\`\``,
  `- item\n\`\`\`js\n\n${image}\n\`\`\``,
  '[x]: http://typed/\n[^1]: typed',
  '- [x]: http://typed/\n\n> [x]:\nhttp://typed/',
  '# typed\n> ## typed\n- # typed\n1. # typed',
  'typed\n===\n\ntyped\n-\n> typed\n> ---\n- typed\n  ---',
  'a\u2028# typed\u2029[x]: http://typed/\v\f\u0085# typed',
  `\n\n**Ines Okafor** 16:30\n\ntyped`,
  '[typed](javascript:alert(1)) [typed](<javascript:x>) [typed](java&#115;cript:x) [typed]( data:text/html,x)',
  `\\${image} \\\\${image} \\![x](http://typed/) \\\\![x](http://typed/)`,
  `unclosed \` and ${image}\n\`\`\``,
  '<!-- typed\n--> <?php typed ?> <!DOCTYPE typed> </blockquote> <![CDATA[ typed ]]>',
  '1. \n```\n[typed](javascript:x)\n```',
];

describe.each(readers())('for a reader with %s', (_, reader, knowsFences) => {
  test.each(hostile)('nothing that was typed is live, or poses as more than a body: %j', (content) => {
    expect(liveIn(exported(content), reader, knowsFences)).toEqual([]);
    const more = { sender_full_name: content, subject: content, display_recipient: content };
    const untyped = exported('a', more).replaceAll('typed', '');
    expect(liveIn(untyped, reader, knowsFences)).toEqual([]);
  });

  test('nor is any mixture of signs', () => {
    const signs = fc.constantFrom(
      ...[
        '`',
        '``',
        '```',
        '~~~',
        '\n',
        '\n\n',
        '    ',
        '> ',
        '- ',
        '1. ',
        '# ',
        '===\n',
        '---\n',
        '|',
        '\\',
        '!',
        ']:',
      ],
      ...[
        '[x]',
        '[x]: u\n',
        '![p](u)',
        '(u)',
        image,
        '<!-- ',
        '</blockquote>',
        'http://x/',
        '"',
        "'",
        '[',
        ']',
        '(',
        ')',
      ],
      ...['[j](javascript:x)', '[j](java\nscript:x)', '```html\n', '\n```\n', '\n~~~\n', 'typed', '\u2028', '\r', '*'],
    );
    fc.assert(
      fc.property(fc.array(signs, { minLength: 2, maxLength: 14 }), (parts) => {
        expect(liveIn(exported(parts.join('')), reader, knowsFences)).toEqual([]);
      }),
      { seed: 1, numRuns: isWhole ? 2000 : 200 },
    );
  });
});

test.each([
  ['```html\nkept *so*\n```', '```html\nkept *so*\n```'],
  ['```js\na\n\n<b>\n```', '```js\n\n    a\n    \n    <b>\n```'],
  ['~~~~ js extra\n```\n~~~~', '````js\n```\n````'],
  ['```\nopen', '```\nopen\n```'],
  ['one\n\n> two `three` **four** [five](https://x/)', 'one\n\n> two `three` **four** [five](https://x/)'],
  ['a < b, <3 and x <- y', 'a < b, <3 and x <- y'],
  ['<b>bold</b> and `odd', '&lt;b>bold&lt;/b> and \\`odd'],
  ['`Vec<T>` and `x*y`', '\\`Vec&lt;T\\>\\` and `x*y`'],
  ['# not a heading', '\\# not a heading'],
])('a body is a quote, with code in fences of our own: %j', (content, shown) => {
  const quote = shown.split('\n').map((line) => `> ${line}`.replace(/^> $/, '>'));
  expect(bodyOf(content).replace(/^>\n|\n>$/g, '')).toBe(quote.join('\n'));
});

test.each([
  ['of one length', '`'.repeat(3_000_000)],
  ['apart', '` '.repeat(1_500_000)],
  ['of all lengths', Array.from({ length: 2400 }, (_, length) => '`'.repeat(length)).join(' ')],
  ['dashes', `${'-'.repeat(3_000_000)}x`],
  ['braces', '{on '.repeat(750_000)],
])('a long body is cut where a page cuts it: backticks %s', (_, content) => {
  const begun = performance.now();
  expect(exported(content)).toContain('> \\[cut: ');
  expect(performance.now() - begun).toBeLessThan(5000);
});
