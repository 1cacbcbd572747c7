import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import MarkdownIt from 'markdown-it';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { markdown } from '../../src/output/messages/markdown.ts';
import { page } from '../../src/output/messages/page.ts';
import { openBrowser, type Browser } from '../helpers/chromium.ts';
import { sampleOf } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';

const image = '<img src="http://127.0.0.1:9/x.png" onerror="window.hit = 1">';
/** What people may type; each would load or run something in a reader that renders HTML. */
const typed = [
  image,
  '<script>window.hit = 1</script>',
  '<iframe src="http://127.0.0.1:9/"></iframe><link rel="stylesheet" href="http://127.0.0.1:9/z.css">',
  '<style>@import "http://127.0.0.1:9/";</style><object data="http://127.0.0.1:9/"></object>',
  '<!-- --><video src="http://127.0.0.1:9/" autoplay></video>',
  '![picture](http://127.0.0.1:9/y.png) ![one][two]\n\n[two]: http://127.0.0.1:9/two.png',
  '[![inside](http://127.0.0.1:9/z.png)](http://127.0.0.1:9/)',
  `\\${image} \\\\${image} \\!![x](http://127.0.0.1:9/b.png)`,
  `unpaired \` backtick\n\` ${image} \``,
  `\\\`\` ${image} \``,
  `\`\` two \` ${image} \``,
  `a | b\n-|-\n\`${image} | \` c`,
  `\`a|b\` \`${image} \`\n-|-\nx|y`,
  `- item\n  \`\`\`\ntext ${image}\n  \`\`\``,
  `> \`\`\`\n${image}`,
  `\`\`\`\u00a0\ncode\n\`\`\`\u00a0\n\`\`\`\n${image}`,
  `\`\`\`js \`x\`\n${image}`,
  `\`\`\`\`\n\`\`\`\n\`\`\`\`\n${image}`,
  `~~~\n\`\`\`\n~~~\r${image}`,
  `\`\`\`\nunclosed`,
  image,
  `*\`*${image}\`*`,
  `    indented ${image}`,
  `[x](<1\`> "\` ${image} \`")`,
  `http://127.0.0.1/\`${image}\``,
  `- ~~~\n\`\`\`\n~~~\n${image}\n\`\`\``,
];
const message = (content: string, id: number, more = {}) => ({
  ...{
    id: id + 1,
    sender_id: 9,
    sender_full_name: image,
    subject: `${image} ![t](http://127.0.0.1:9/t.png)`,
    timestamp: 1_768_297_500,
  },
  ...{ display_recipient: image, stream_id: 5, content, content_type: 'text/x-markdown', ...more },
});
const head = {
  ...{ title: image, notes: [`selected by topic ${image}`], warnings: [image], urlOf: () => undefined },
  links: { site: '', resolve: String, inside: () => undefined, fileAt: () => undefined },
};
const exported = (texts: readonly string[]): string => {
  const form = markdown(head);
  return texts.map((text, index) => form.row(message(text, index))).join('') + form.end();
};
const read = (text: string): string => new MarkdownIt({ html: true, linkify: true }).render(text);

describe('what people typed as HTML, in a reader that renders HTML', needs('chromium'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-markdown-'));
  let browser: Browser;
  const opened = async (name: string, html: string): Promise<string[]> => {
    const before = browser.events.length;
    writeFileSync(join(folder, name), `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">${html}`);
    await browser.open(pathToFileURL(join(folder, name)).href);
    const asked = browser.events.slice(before).filter(({ method }) => method === 'Network.requestWillBeSent');
    const urls = asked.map(({ params }) => (params['request'] as { url: string }).url);
    return urls.filter((url) => !/^(file|data):/.test(url));
  };

  beforeEach(async () => {
    browser = await openBrowser();
  });
  afterEach(() => browser.close());
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('is asked for where nothing prevents it', async () => {
    expect((await opened('raw.html', read(typed.join('\n\n')))).length).toBeGreaterThan(5);
  });

  test('loads and runs nothing in an export to Markdown, and is its text', async () => {
    expect(await opened('export.html', read(exported(typed)))).toEqual([]);
    expect(await browser.evaluate('String(window.hit)')).toBe('undefined');
    expect(
      await browser.evaluate('document.querySelectorAll("img, script, iframe, style, object, video").length'),
    ).toBe(0);
    const text = String(await browser.evaluate('document.body.innerText'));
    expect(text.split(image).length).toBeGreaterThan(typed.length);
  });

  test('each alone loads nothing either', async () => {
    for (const text of sampleOf(4, typed)) expect(await opened('one.html', read(exported([text]))), text).toEqual([]);
  });

  test('loads nothing in a page, as source and where the server renders it unescaped', async () => {
    for (const more of [{}, { content_type: 'text/html' }]) {
      const form = page(head);
      const rows = typed.map((text, index) => form.row(message(text, index, more)));
      expect(await opened('page.html', rows.join('') + form.end())).toEqual([]);
      expect(await browser.evaluate('String(window.hit)')).toBe('undefined');
    }
  });
});
