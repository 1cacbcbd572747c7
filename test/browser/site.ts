import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBrowser, type Browser } from '../helpers/chromium.ts';
import { addMessage } from '../../src/sandbox/chat/post.ts';
import { hurriedTime } from '../helpers/clock.ts';
import { isWhole, testOfAll } from '../helpers/extent.ts';
import { needs } from '../helpers/needs.ts';
import { runAgainst } from '../helpers/run.ts';
import { startSandbox, type Sandbox } from '../helpers/sandbox.ts';

// Whole, 300,000 messages are pulled, exported and indexed, and hundreds of pages opened.
const limit = isWhole ? { timeout: 1_200_000 } : {};

describe('an export of all channels, given away', { ...needs('chromium'), ...limit }, () => {
  const home = mkdtempSync(join(tmpdir(), 'chatelaine-site-'));
  /** Where the folder is opened, after the archive that it was made from is gone. */
  const site = join(home, 'stick');
  let channels = 0;
  let browser: Browser;

  const prepare = async (): Promise<void> => {
    mkdirSync(join(home, 'tmp'));
    const sandbox = await startSandbox({ clock: hurriedTime() });
    const run = (line: string) => runAgainst(sandbox, line, { home });
    const general: number = sandbox.state.post({
      channel: 'general',
      topic: 'plans',
      content: 'the plan: [plan.pdf](/user_uploads/2/ab/x1/plan.pdf)',
    });
    sandbox.state.post({
      channel: 'releases',
      topic: 'plans',
      content: `as said [there](#narrow/channel/1-general/topic/plans/near/${general})`,
    });
    if (isWhole) organize(sandbox, { channels: 40, messages: 300_000, files: 500 });
    const all = join(home, 'all');
    await run(`archive pull ${all} --all-channels --files`);
    channels = readdirSync(all).length;
    const { exitCode } = await run(`archive export ${all} -o html --to ${join(home, 'site')}/`);
    expect(exitCode).toBe(0);
    await sandbox.close();
    renameSync(join(home, 'site'), site);
    rmSync(all, { recursive: true });
  };

  beforeAll(prepare, limit.timeout);

  beforeEach(async () => {
    browser = await openBrowser();
    await browser.call('Network.emulateNetworkConditions', {
      offline: true,
      latency: 0,
      downloadThroughput: 0,
      uploadThroughput: 0,
    });
  });

  afterEach(() => browser.close());
  afterAll(() => rmSync(home, { recursive: true }));

  const open = (file: string): Promise<void> => browser.open(pathToFileURL(join(site, file)).href);
  const value = async <T>(expression: string): Promise<T> => (await browser.evaluate(expression)) as T;
  const hrefs = 'Array.from(document.links, ({ href }) => href)';

  testOfAll(
    'from its index every page is reached, and every link inside the folder leads to what is there',
    async () => {
      await open('index.html');
      const seen = new Set([pathToFileURL(join(site, 'index.html')).href]);
      const waiting = [...seen];
      for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
        await browser.open(url);
        for (const link of await value<string[]>(hrefs)) {
          if (!link.startsWith('file:')) continue;
          const file = link.replace(/#.*/, '');
          expect(existsSync(fileURLToPath(file)), link).toBe(true);
          if (!file.endsWith('.html') || seen.has(file)) continue;
          seen.add(file);
          waiting.push(file);
        }
      }
      const pages = readdirSync(site).filter((name) => name.endsWith('.html'));
      expect([...seen].map((url) => url.replace(/.*\//, '')).sort()).toEqual(pages.sort());
      // Whole, each of the 40 channels has four pages of at most 2,000 messages.
      expect(pages).toHaveLength(channels + 1 + (isWhole ? 3 * 40 : 0));
    },
  );

  test('a link between channels leads to the message in its page, and the attached file is in the folder', async () => {
    const page = readdirSync(site).find(
      (name) => name.endsWith('.html') && readFileSync(join(site, name), 'utf8').includes('as said <a'),
    );
    await open(page ?? '');
    const link = 'Array.from(document.links).find(({ textContent }) => textContent === "there").href';
    await browser.open(await value<string>(link));
    expect(await value('document.querySelector("article:target").textContent')).toContain('the plan: plan.pdf');
    const file = await value<string>('document.querySelector("article:target .content a").href');
    expect(file.startsWith(pathToFileURL(join(site, 'files')).href)).toBe(true);
    expect(existsSync(fileURLToPath(file))).toBe(true);
  });

  test('its pages ask for nothing but the files of the folder, and break no policy', async () => {
    const pages = readdirSync(site).filter((name) => name.endsWith('.html'));
    for (const name of pages) await open(name);
    const asked = browser.events.filter(({ method }) => method === 'Network.requestWillBeSent');
    const urls = asked.map(({ params }) => (params['request'] as { url: string }).url);
    expect(urls.length).toBeGreaterThanOrEqual(pages.length);
    expect(urls.filter((url) => !url.startsWith(pathToFileURL(site).href))).toEqual([]);
    expect(browser.events.filter(({ method }) => method === 'Log.entryAdded')).toEqual([]);
  });
});

/** Adds channels with messages, some of which link to files. Each channel has a word of its own. */
function organize({ state }: Sandbox, size: { channels: number; messages: number; files: number }): void {
  const general = state.channels().find(({ name }) => name === 'general');
  if (!general) throw new Error('the sample data have no #general');
  const messages = size.messages / size.channels;
  const withFile = size.messages / size.files;
  state.change((tables) => {
    for (let channel = 0; channel < size.channels; channel += 1) {
      const word = `harbour${String.fromCharCode(97 + (channel % 26), 97 + Math.floor(channel / 26))}`;
      const place = { stream_id: 100 + channel, sender_id: 8 };
      tables.channels.put(place.stream_id, {
        ...general,
        stream_id: place.stream_id,
        name: word,
        recipient_id: 1000 + channel,
      });
      for (let at = 0; at < messages; at += 1) {
        const file = at % withFile === 0 ? ` [log](/user_uploads/2/${channel}/${at}/log.txt)` : '';
        const content = `${word} ${at}: the crane of berth ${at % 37} was checked by day ${at % 365}.${file}`;
        addMessage(tables, { ...place, subject: `berth ${at % 15}`, content }, Date.UTC(2023, 0, 1) + at * 3_600_000);
      }
    }
  });
}
