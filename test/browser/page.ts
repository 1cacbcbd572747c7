import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { page } from '../../src/output/messages/page.ts';
import { openBrowser, type Browser } from '../helpers/chromium.ts';
import { needs } from '../helpers/needs.ts';

type Message = Record<string, unknown>;

function recorded(name: string): Message[] {
  const file = readFileSync(`test/fixtures/real-372/messages-200-${name}.json`, 'utf8');
  return (JSON.parse(file) as { response: { body: { messages: Message[] } } }).response.body.messages;
}

const attacks = [
  '<script>window.hit = 1</script>',
  '<img src="http://evil.example/x.png" onerror="window.hit = 1">',
  '<p onclick="window.hit = 1" style="background: url(http://evil.example/y)">x</p>',
  '<a href="javascript:window.hit = 1" id="attack">x</a>',
  '<svg onload="window.hit = 1"><script>window.hit = 1</script></svg>',
  '<iframe src="http://evil.example"></iframe><link rel="stylesheet" href="http://evil.example/z.css">',
  '<meta http-equiv="refresh" content="0; url=http://evil.example"><base href="http://evil.example">',
];

/** The 64 recorded messages, and then the attacks. */
const messages = [...recorded('all-kinds'), ...recorded('every-shape')];
const hostile = attacks.map((content, index) => ({ ...messages[0], id: index + 1, content, subject: content }));

describe('the page of an archive in Chromium', needs('chromium'), () => {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-screenshots-'));
  const file = join(folder, 'page.html');
  const url = pathToFileURL(file).href;
  let browser: Browser;

  beforeAll(() => {
    const form = page({
      ...{ title: 'Messages', notes: ['64 messages and some attacks'], warnings: ['The history is limited.'] },
      links: {
        site: 'https://chat.test',
        resolve: (link) => (URL.canParse(link, url) ? new URL(link, 'https://chat.test').href : ''),
        inside: () => undefined,
        fileAt: () => undefined,
      },
      urlOf: () => undefined,
    });
    writeFileSync(file, [...messages, ...hostile].map((message) => form.row(message)).join('') + form.end());
  });

  beforeEach(async () => {
    browser = await openBrowser();
    await browser.open(url);
  });

  afterEach(() => browser.close());

  afterAll(() => {
    // Kept where somebody wants to look: CHATELAINE_SCREENSHOTS=1 npx vitest run test/browser.
    if (process.env['CHATELAINE_SCREENSHOTS']) process.stderr.write(`screenshots are in ${folder}\n`);
    else rmSync(folder, { recursive: true, force: true });
  });

  test('every message is there, nothing of a message has run, and no request left the page', async () => {
    expect(await browser.evaluate('document.querySelectorAll("article").length')).toBe(
      messages.length + hostile.length,
    );
    expect(await browser.evaluate('String(window.hit)')).toBe('undefined');
    expect(await browser.evaluate('location.href')).toBe(url);
    const asked = browser.events.filter(({ method }) => method === 'Network.requestWillBeSent');
    expect(asked.map(({ params }) => (params['request'] as { url: string }).url)).toEqual([url]);
    expect(browser.events.filter(({ method }) => method === 'Log.entryAdded')).toEqual([]);
  });

  test('where the sanitizer missed something, the policy of the page stops it', async () => {
    const violated = await browser.evaluate(`(async () => {
      const seen = [];
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => seen.push(effectiveDirective));
      const part = '<img src="http://127.0.0.1:9/x" onerror="window.hit = 1"><p style="color: red">x</p>';
      document.body.insertAdjacentHTML('beforeend', part);
      const script = document.createElement('script');
      script.textContent = 'window.hit = 1';
      document.body.append(script);
      for (let tries = 0; tries < 200 && new Set(seen).size < 4; tries += 1)
        await new Promise((done) => setTimeout(done, 50));
      return [...new Set(seen)].sort().concat(String(window.hit));
    })()`);
    expect(violated).toEqual(['img-src', 'script-src-attr', 'script-src-elem', 'style-src-attr', 'undefined']);
  });
});
