import { expect, test } from 'vitest';
import { htmlReader } from '../../../src/output/messages/html-text.ts';

const read = htmlReader({ time: (moment) => moment, resolve: (link) => link });

test('each row of a table is a line', () => {
  const html =
    '<table><thead><tr><th>Host</th><th>State</th></tr></thead><tbody><tr><td>db-1</td><td>up</td></tr></tbody></table>';
  expect(read(html)).toBe('Host | State\ndb-1 | up');
});

test('a blank line follows a list and comes before a heading; one list inside another has none', () => {
  const inner = '<ul><li>one<ul><li>two</li></ul></li><li>three</li></ul>';
  expect(read(`<p>before</p>${inner}<p>after</p><h3>Title</h3><p>text</p>`)).toBe(
    'before\n\n• one\n  • two\n• three\n\nafter\n\nTitle\n\ntext',
  );
  expect(read('<h3>Title</h3><ol><li>one</li></ol>after<h3>Next</h3>')).toBe('Title\n 1. one\n\nafter\n\nNext');
  expect(read('<ul><li>one</li></ul>')).toBe('• one');
});

test('a quote has no empty line at its begin or end', () => {
  expect(read('<p>a</p><blockquote><br><p>x</p><p><br></p></blockquote><p>b</p>')).toBe('a\n\n> x\n\nb');
});

test.each([
  ['3,000 tables in one another', '<td>seen<table><tr>'.repeat(3000)],
  ['colspan=20000', '<td colspan=20000>seen</td>'],
  ['5,000 cells in a row', '<td>seen</td>'.repeat(5000)],
  ['5,000 rows', '<td>seen</td></tr><tr>'.repeat(5000)],
  [
    'a long cell over many rows',
    `<td>${'seen '.repeat(20_000)}</td></tr><tr>${'<td></td><td>x</td></tr><tr>'.repeat(1000)}`,
  ],
])('a table with %s is read at once', (_what, cells) => {
  const text = read(`<table><tr>${cells}</tr></table>`);
  expect(text).toContain('seen');
  expect(text.length).toBeLessThan(10_000_000);
});

test.each([
  [
    '<p><audio controls src="/user_uploads/2/x/v.mp3" title="voice.mp3"></audio></p>',
    '[audio: /user_uploads/2/x/v.mp3]',
  ],
  ['<p><audio controls></audio></p>', '[audio]'],
  [
    '<p><img alt="a" class="inline-image" data-original-src="/user_uploads/2/x/a.png" src="/user_uploads/thumbnail/2/x/a.png/840x560.webp"></p>',
    '[image: /user_uploads/2/x/a.png]',
  ],
  [
    '<div class="message_inline_image message_inline_video"><a href="/user_uploads/2/x/v.mp4"><video src="/user_uploads/2/x/v.mp4"></video></a></div>',
    '[image: /user_uploads/2/x/v.mp4]',
  ],
  [
    '<p><img src="/external_content/ab12/6874" data-original-url="https://pictures.test/a.png"></p>',
    '[image: https://pictures.test/a.png]',
  ],
])('a file that stands in a message is named: %s', (html, text) => {
  expect(read(html)).toBe(text);
});

test.each([
  ['<constructor>a</constructor> <CONSTRUCTOR class="emoji">b', 'a b'],
  ['<p constructor="a" __proto__="b">x</p>', 'x'],
  ['<ol type="i" start="5000000"><li>a</li></ol>', ' 5000000. a'],
  ['<ol type="A" start="-5"><li>a</li></ol>', ' -5. a'],
  ['<ol start="constructor"><li>a</li></ol>', ' 1. a'],
  ['a<pre><code>x  y\n z\n</code></pre>b', 'a\n    x  y\n     z\nb'],
  ['<span class="katex"><math><mi>x</mi><annotation>x^2 </annotation></math>x</span>', '$x^2$'],
  ['<span class="katex">x</span>', '$x$'],
  ['a<script>b</script><style>c</style><iframe>d</iframe><noscript>e</noscript><svg><text>f</text></svg>', 'a'],
])('a message ends no command: %s', (html, text) => {
  expect(read(html)).toBe(text);
});
