import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openBrowser, type Browser } from '../helpers/chromium.ts';
import { hurriedTime } from '../helpers/clock.ts';
import { needs } from '../helpers/needs.ts';
import { runAgainst } from '../helpers/run.ts';
import { startSandbox } from '../helpers/sandbox.ts';

describe('an export of all channels, given away', needs('chromium'), () => {
  const home = mkdtempSync(join(tmpdir(), 'chatelaine-site-'));
  /** Where the folder is opened, after the archive that it was made from is gone. */
  const site = join(home, 'stick');
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
    const all = join(home, 'all');
    await run(`archive pull ${all} --all-channels --files`);
    const { exitCode } = await run(`archive export ${all} -o html --to ${join(home, 'site')}/`);
    expect(exitCode).toBe(0);
    await sandbox.close();
    renameSync(join(home, 'site'), site);
    rmSync(all, { recursive: true });
  };

  beforeAll(prepare);

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
