import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { JSDOM } from 'jsdom';
import { describe, expect, test } from 'vitest';
import { page } from '../../../src/output/messages/page.ts';
import type { PageHead } from '../../../src/output/messages/page-shell.ts';
import { expectGolden } from '../../helpers/golden.ts';

type Message = Record<string, unknown>;

const head: PageHead = {
  title: 'Channel <bulk>',
  notes: ['2 messages of https://chat.example.org'],
  warnings: ['The history is limited.'],
  links: {
    site: 'https://chat.example.org',
    resolve: (link) =>
      URL.canParse(link, 'https://chat.example.org') ? new URL(link, 'https://chat.example.org').href : link,
    inside: (link) => (link.endsWith('/near/27876') ? '#m27876' : undefined),
    fileAt: () => undefined,
  },
  urlOf: ({ id }) => `https://chat.example.org/#narrow/near/${String(id)}`,
};

function recorded(name: string): Message[] {
  const file = readFileSync(`test/fixtures/real-372/messages-200-${name}.json`, 'utf8');
  return (JSON.parse(file) as { response: { body: { messages: Message[] } } }).response.body.messages;
}

function written(messages: readonly Message[]): string {
  const form = page(head);
  return messages.map((message) => form.row(message)).join('') + form.end();
}

/** The page in a browser that runs scripts and loads nothing. */
function opened(messages: readonly Message[]): JSDOM {
  return new JSDOM(written(messages), { runScripts: 'dangerously', pretendToBeVisual: true });
}

const base: Message = { ...recorded('all-kinds')[0], reactions: [] };

test('the recorded messages are whole, in their order, under a heading for each topic and day', () => {
  const messages = [...recorded('all-kinds'), ...recorded('every-shape')];
  const { document } = opened(messages).window;
  expect([...document.querySelectorAll('article')].map(({ id }) => id)).toEqual(
    messages.map(({ id }) => `m${String(id)}`),
  );
  const first = document.querySelector('main > h2')?.textContent;
  expect(first).toMatch(/^#bulk > rich \d{4}-\d\d-\d\d$/);
  expect(document.querySelector('.warning')?.textContent).toBe('The history is limited.');
  expect(document.querySelector('h1')?.textContent).toBe('Channel <bulk>');
});

test('the page of every shape of message is as it was reviewed', async () => {
  await expectGolden(written(recorded('every-shape')), 'test/golden/page/every-shape.html');
});

test('the policy allows one style sheet, by its hash, and nothing else', () => {
  const { document } = opened([base]).window;
  const policy = document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.getAttribute('content') ?? '';
  const hash = (text = ''): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `style-src ${hash(document.querySelector('style')?.textContent)}`,
    "img-src 'self' file:",
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  expect(document.querySelectorAll('script')).toHaveLength(0);
});

describe('nothing in a message runs or loads', () => {
  const attacks = [
    '<script>window.hit = 1</script>',
    '<img src=x onerror="window.hit = 1">',
    '<p onclick="window.hit = 1">x</p>',
    '<a href="javascript:window.hit = 1">x</a>',
    '<a href="//evil.example">x</a>',
    '<a href="JaVa&#10;Script:window.hit = 1">x</a>',
    '<a href=" &#1;javascript:window.hit = 1">x</a>',
    '<a href="data:text/html,<script>window.hit = 1</script>">x</a>',
    '<svg onload="window.hit = 1"><script>window.hit = 1</script></svg>',
    '<style>@import "http://evil.example";</style>',
    '<p style="background: url(http://evil.example)">x</p>',
    '<iframe src="http://evil.example"></iframe>',
    '<object data="http://evil.example"></object>',
    '<link rel="stylesheet" href="http://evil.example">',
    '<meta http-equiv="refresh" content="0; url=http://evil.example">',
    '<base href="http://evil.example">',
    '<form action="http://evil.example"><input name="a"><button>x</button></form>',
    '<noscript><p title="</noscript><img src=x onerror=window.hit=1>">',
    '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hit=1&gt;">',
    '<video src="http://evil.example" autoplay></video>',
    '</div></article></main><script>window.hit = 1</script>',
    '<template><script>window.hit = 1</script></template>',
  ];
  const fields = ['content', 'sender_full_name', 'subject', 'display_recipient'];

  const window = opened(
    attacks.flatMap((attack, number) =>
      fields.map((field, place) => ({ ...base, id: number * fields.length + place, [field]: attack })),
    ),
  ).window;
  const { document } = window;

  test('no attack in a text, a name or a topic leaves its message', () => {
    expect(document.querySelectorAll('main > article')).toHaveLength(attacks.length * fields.length);
    expect(document.querySelectorAll('script')).toHaveLength(0);
    const loading = 'img, iframe, object, svg, link, base, form, video, template, article style, article script';
    expect(document.querySelectorAll(loading)).toHaveLength(0);
  });

  test('no attribute runs or styles, and links lead to pages, mail or this page', () => {
    const attributes = [...document.querySelectorAll('body *')].flatMap((element) => element.getAttributeNames());
    expect(attributes.filter((name) => name.startsWith('on') || name === 'style' || name === 'src')).toEqual([]);
    const targets = [...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href') ?? '');
    expect(targets.filter((href) => !/^(https?:\/\/|mailto:|#)/.test(href))).toEqual([]);
  });

  test('nothing has run', () => {
    expect((window as unknown as { hit?: number }).hit).toBeUndefined();
  });
});

test('links lead into the page where it holds the message, else to the server; files say that they are not here', () => {
  const { document } = opened(recorded('every-shape').concat(recorded('all-kinds'))).window;
  const of = (id: number): Element[] => [...document.querySelectorAll(`#m${id} .content a`)];
  expect(of(256010).map((link) => link.getAttribute('href'))).toEqual(['#m27876']);
  expect(of(256009)[0]?.getAttribute('href')).toBe('https://chat.example.org/#narrow/channel/31-bulk');
  expect(of(27905)[0]?.className).toBe('upload');
});

describe('attached files', () => {
  const kept: PageHead = {
    ...head,
    links: { ...head.links, fileAt: (path) => (path.includes('lost') ? undefined : `files/${path.split('/').at(-1)}`) },
  };
  const contentsOf = (...contents: string[]): string[] => {
    const form = page(kept);
    const rows = contents.map((content, index) => form.row({ ...base, id: index + 1, content }));
    const { document } = new JSDOM(rows.join('') + form.end()).window;
    return contents.map((_, index) => document.querySelector(`#m${index + 1} .content`)?.innerHTML.trim() ?? '');
  };
  const inline = (path: string, name: string): string =>
    `<p><img alt="${name}" class="inline-image" data-original-src="/user_uploads/${path}" src="/user_uploads/thumbnail/${path}/840x560.webp"></p>`;

  test('a picture is its own original, whatever another message linked to', () => {
    expect(
      contentsOf(
        '<p><a href="/user_uploads/2/x/ada.png">ada.png</a></p>',
        inline('2/x/ben.png', 'ben.png'),
        inline('2/x/lost.png', 'lost.png'),
        '<p><img src="https://other.example/x.png" alt="x"></p>',
        '<p><img src="/external_content/ab12/6874" data-original-url="https://pictures.test/y.png" alt="y"></p>',
      ),
    ).toEqual([
      '<p><a href="files/ada.png">ada.png</a></p>',
      '<p><img src="files/ben.png" alt="ben.png" loading="lazy"></p>',
      '<p><a href="https://chat.example.org/user_uploads/2/x/lost.png" rel="noopener noreferrer" class="upload">lost.png</a></p>',
      '<p><span title="https://other.example/x.png">[image: x]</span></p>',
      '<p><span title="https://pictures.test/y.png">[image: y]</span></p>',
    ]);
  });

  test('a preview is the original that the link around it leads to, and no link that is closed', () => {
    const preview = (path: string): string =>
      `<div class="message_inline_image"><a href="/user_uploads/${path}" title="t"><img src="/user_uploads/thumbnail/${path}/840x560.webp"></a></div>`;
    const [own, lost, after] = contentsOf(
      preview('2/x/ada.png'),
      preview('2/x/lost.png'),
      '<p><a href="/user_uploads/2/x/ada.png">a</a><img alt="b" src="/user_uploads/thumbnail/2/x/b.png/840x560.webp"></p>',
    );
    expect(own).toBe(
      '<div class="preview"><a href="files/ada.png" title="t"><img src="files/ada.png" alt="ada.png" loading="lazy"></a></div>',
    );
    expect(lost).toContain('[image: lost.png]');
    expect(after).toContain('<a href="files/ada.png">a</a><span');
  });

  test('audio is a link with its title, a preview of a video says so, Markdown that was left as typed leads to its file', () => {
    expect(
      contentsOf(
        '<p><audio controls preload="metadata" src="/user_uploads/2/x/v.mp3" title="voice.mp3"></audio></p>',
        '<div class="message_inline_image message_inline_video"><a href="/user_uploads/2/x/v.mp4" title="v"><video preload="metadata" src="/user_uploads/2/x/v.mp4"></video></a></div>',
        '<p>![v.svg](/user_uploads/2/x/v.svg) and &lt;b&gt; <a href="https://other.example/">/user_uploads/2/x/v.svg</a></p>',
        '<p title="![x](/user_uploads/2/x/v.svg)">x</p>',
      ),
    ).toEqual([
      '<p><a href="files/v.mp3">voice.mp3</a></p>',
      '<div class="preview"><a href="files/v.mp4" title="v"><span title="https://chat.example.org/user_uploads/2/x/v.mp4">[video: v.mp4]</span></a></div>',
      '<p>![v.svg](<a href="files/v.svg" download="v.svg.txt">/user_uploads/2/x/v.svg</a>) and &lt;b&gt; <a href="https://other.example/" rel="noopener noreferrer">/user_uploads/2/x/v.svg</a></p>',
      '<p>x</p>',
    ]);
  });

  test('a custom emoji is its name', () => {
    expect(
      contentsOf(
        '<p><img alt=":zulip:" class="emoji" src="/static/zulip.png" title="zulip"></p>',
        '<div class="message_inline_image"><a href="https://video.example/p"><img src="https://cdn.example/p.jpg"></a></div>',
      ),
    ).toEqual([
      '<p><span class="emoji">:zulip:</span></p>',
      '<div class="preview"><a href="https://video.example/p" rel="noopener noreferrer"><span title="https://cdn.example/p.jpg">[image]</span></a></div>',
    ]);
  });

  test('every picture fits the width of a phone', () => {
    expect(written([base])).toMatch(/\.content img \{ max-width: 100%;/);
  });
});

test('a spoiler is closed, mathematics is MathML with its source, an action begins with the sender', () => {
  const katex =
    '<p><span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">x2</span></span></p>';
  const spoiler =
    '<div class="spoiler-block"><div class="spoiler-header">\n</div><div class="spoiler-content">x</div></div>';
  const more = [katex, spoiler].map((content, index) => ({ ...base, id: index + 1, content }));
  const all = recorded('all-kinds').map((message) => ({ ...message, sender_full_name: 'Ca$$h $&' }));
  const { document } = opened([...all, ...more]).window;
  expect(document.querySelector('#m27880 details')?.hasAttribute('open')).toBe(false);
  // The style sheet names an empty one.
  expect(document.querySelector('#m2 summary')?.innerHTML).toBe('');
  expect(document.querySelector('#m1 .content')?.innerHTML).toBe(
    '<p><span><span><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span></span></p>',
  );
  expect(document.querySelector('#m27901 .content')?.textContent).toBe('* Ca$$h $& waves');
});
