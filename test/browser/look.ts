import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { page } from '../../src/output/messages/page.ts';
import { openBrowser, type Browser } from '../helpers/chromium.ts';
import { sampleOf } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { png } from '../helpers/png.ts';

const start = Date.UTC(2026, 0, 13, 9, 45) / 1000;
const people = ['', 'Ines Okafor', 'Tomás Ferreira', 'Mara Lindqvist'];
let id = 0;
const says = (sender_id: number, minutes: number, content: string, more = {}) => ({
  ...{ id: (id += 1), sender_id, sender_full_name: people[sender_id], timestamp: start + minutes * 60, content },
  ...{ content_type: 'text/html', stream_id: 5, display_recipient: 'kitchen', subject: 'lunch', ...more },
});
const katex = (source: string, math: string): string =>
  `<span class="katex"><span class="katex-mathml"><math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><semantics>${math}<annotation encoding="application/x-tex">${source}</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">never shown</span></span>`;
const square =
  '<mrow><mi>E</mi><mo>=</mo><mfrac><mrow><mi>m</mi><msup><mi>v</mi><mn>2</mn></msup></mrow><mn>2</mn></mfrac></mrow>';
const picture = (path: string): string =>
  `<p><a href="/user_uploads/${path}">menu.png</a></p><div class="message_inline_image"><a href="/user_uploads/${path}" title="menu.png"><img src="/user_uploads/thumbnail/${path}/840x560.webp"></a></div>`;

const messages = [
  says(1, 0, '<p>Soup place or the falafel truck?</p>'),
  says(1, 1, '<p>Please vote, the table is for <time datetime="2026-01-13T11:30:00Z">2026-01-13T11:30:00Z</time>.</p>'),
  says(1, 2, '/poll Where?', { submessages: [{ sender_id: 1, content: '{"widget_type":"poll"}' }] }),
  says(2, 4, picture('2/ab/x1/menu.png')),
  says(2, 5, `<p>This one is not kept:</p>${picture('2/cd/y2/lost.png')}`, { last_edit_timestamp: start }),
  says(3, 30, `<p>The energy of a falafel: ${katex('E=\\frac{mv^2}{2}', square)}</p>`),
  says(
    3,
    50,
    '<blockquote><p>quoted</p></blockquote><pre><code>const lunch = await falafel({ wide: "a line of code that is far too wide for a phone" });</code></pre>',
  ),
  says(1, 51, '<p>See you at noon.</p>', {
    reactions: [{ reaction_type: 'unicode_emoji', emoji_code: '1f44d', emoji_name: 'thumbs_up' }],
  }),
  says(1, 52, '<p>Bring <a href="#narrow/near/1">cash</a>.</p>', { subject: 'errands' }),
];

const red = [200, 30, 40] as const;
/** What the picture of a page shows at a point, seen by the browser itself. */
type Pixel = readonly [number, number, number];

describe('how the page of an archive looks in Chromium', needs('chromium'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-look-'));
  let browser: Browser;

  beforeAll(() => {
    mkdirSync(join(folder, 'files'));
    writeFileSync(join(folder, 'files', 'menu.png'), png(640, 400, red));
    const form = page({
      ...{
        title: 'Messages of Harbour Motion',
        notes: [`${messages.length} messages from chat.test, as ines@chat.test sees them.`],
      },
      ...{ warnings: [] },
      links: {
        site: 'https://chat.test',
        resolve: (link) => (URL.canParse(link, 'https://chat.test') ? new URL(link, 'https://chat.test').href : ''),
        inside: (link) => (link.endsWith('/near/1') ? '#m1' : undefined),
        fileAt: (path) => (path.endsWith('menu.png') ? 'files/menu.png' : undefined),
      },
      urlOf: ({ id: own }) => `https://chat.test/#narrow/near/${String(own)}`,
    });
    writeFileSync(join(folder, 'page.html'), messages.map((message) => form.row(message)).join('') + form.end());
  });

  beforeEach(async () => {
    browser = await openBrowser();
  });

  afterEach(() => browser.close());

  afterAll(() => {
    if (process.env['CHATELAINE_SCREENSHOTS']) process.stderr.write(`screenshots are in ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  });

  const text = async (selector: string): Promise<unknown> =>
    browser.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
  const isShown = async (selector: string): Promise<unknown> =>
    browser.evaluate(`document.querySelector(${JSON.stringify(selector)}).checkVisibility()`);

  /** Opens the page as a reader has it. */
  async function open({ media = '', theme = 'light', width = 1000 }): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: theme }];
    await browser.call('Emulation.setEmulatedMedia', { media, features });
    await browser.call('Emulation.setDeviceMetricsOverride', {
      width,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    });
    await browser.call('Emulation.setScrollbarsHidden', { hidden: true });
    await browser.open(pathToFileURL(join(folder, 'page.html')).href);
    const loaded = 'document.images.length === 1 && document.images[0].complete && document.images[0].naturalWidth';
    await browser.evaluate('document.images[0]?.scrollIntoView()');
    await expect.poll(() => browser.evaluate(loaded)).toBe(640);
    await browser.evaluate('window.scrollTo(0, 0)');
  }

  /**
   * Takes a picture of the whole page that is open. The result tells the pixel of the picture in an element, at a part
   * of its width and half of its height.
   */
  async function pictured(name: string): Promise<(selector: string, part?: number) => Promise<Pixel>> {
    const { data } = await browser.call('Page.captureScreenshot', { captureBeyondViewport: true });
    writeFileSync(join(folder, `${name}.png`), Buffer.from(String(data), 'base64'));
    await browser.evaluate(`(async () => {
      const bytes = Uint8Array.from(atob('${String(data)}'), (sign) => sign.charCodeAt(0));
      window.picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    })()`);
    return async (selector, part = 0.5) =>
      (await browser.evaluate(`(() => {
        const box = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
        const canvas = new OffscreenCanvas(1, 1).getContext('2d');
        const [left, top] = [box.left + box.width * ${part}, box.top + box.height / 2];
        canvas.drawImage(window.picture, -Math.round(left), -Math.round(top));
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
      })()`)) as Pixel;
  }

  const white: Pixel = [255, 255, 255];
  const readers = [
    ['light', {}, white],
    ['dark', { theme: 'dark' }, [22, 24, 28]],
    ['phone', { width: 360 }, white],
    ['print', { media: 'print', theme: 'dark', width: 700 }, white],
  ] as const;
  test.each(sampleOf(1, readers))(
    '%s: the kept picture has its colours, and nothing is wider than the page',
    async (name, reader, back) => {
      await open(reader);
      const at = await pictured(name);

      expect(await at('body', 0)).toEqual(back);
      expect(await at('#m4 img')).toEqual(red);
      expect(await browser.evaluate('document.querySelector("#m2 .by time").getClientRects().length === 1')).toBe(true);
      expect(await text('#m2 .content time')).toBe('2026-01-13T11:30:00Z');
      expect(await browser.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
    },
  );

  test('a formula is MathML, a kept picture opens its file', async () => {
    await open({});
    expect(await browser.evaluate('document.querySelector("math").getBoundingClientRect().height > 30')).toBe(true);
    expect(await browser.evaluate('document.querySelector("math mfrac").namespaceURI')).toBe(
      'http://www.w3.org/1998/Math/MathML',
    );
    expect(await isShown('math annotation')).toBe(false);
    // One that is not kept is a link to the server.
    const hrefs = (selector: string): string =>
      `document.querySelector('${selector}').closest('a').getAttribute('href')`;
    expect(await browser.evaluate(hrefs('#m4 img'))).toBe('files/menu.png');
    expect(await browser.evaluate(hrefs('#m5 .preview span'))).toBe('https://chat.test/user_uploads/2/cd/y2/lost.png');
  });
});
