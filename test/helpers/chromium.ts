import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { whereIs } from './needs.ts';

const chromium = whereIs('chromium') ?? 'chromium';

type Fields = Readonly<Record<string, unknown>>;

interface Reply {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Fields;
  readonly sessionId?: string;
  readonly result?: Fields;
  readonly error?: { readonly message: string };
}

/** One page of a headless Chromium, driven by the DevTools protocol over a pipe. */
export interface Browser {
  call(method: string, params?: Fields): Promise<Fields>;
  /** The value of an expression, awaited. */
  evaluate(expression: string): Promise<unknown>;
  /** Loads a page, and resolves when it has loaded. */
  open(url: string): Promise<void>;
  /** Events of the protocol so far. */
  readonly events: readonly { readonly method: string; readonly params: Fields }[];
  close(): Promise<void>;
}

interface Chromium {
  send(method: string, params: Fields, sessionId?: unknown): Promise<Fields>;
  /** Tells each event of the protocol, with the session of its page. */
  readonly listeners: Set<(reply: Reply) => void>;
  close(): Promise<void>;
}

/** One for all pages that are open in this process: a start of Chromium takes a second of CPU time and more. */
let running: Promise<Chromium> | undefined;
let pages = 0;

/** A page that shares nothing with other pages, of a Chromium that ends with its last page. */
export async function openBrowser(): Promise<Browser> {
  pages += 1;
  running ??= startChromium();
  const { send, listeners, close } = await running;
  const events: { method: string; params: Fields }[] = [];
  let listener: (() => void) | undefined;
  const { browserContextId } = await send('Target.createBrowserContext', {});
  const { targetId } = await send('Target.createTarget', { url: 'about:blank', browserContextId });
  const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
  const hear = (event: Reply): void => {
    if (event.sessionId !== sessionId) return;
    events.push({ method: event.method ?? '', params: event.params ?? {} });
    listener?.();
  };
  listeners.add(hear);
  const call = (method: string, params: Fields = {}): Promise<Fields> => send(method, params, sessionId);
  for (const domain of ['Page', 'Network', 'Log', 'Runtime']) await call(`${domain}.enable`);
  const loads = (): number => events.filter(({ method }) => method === 'Page.loadEventFired').length;
  return {
    call,
    events,
    async evaluate(expression) {
      const { result } = await call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      return (result as { value?: unknown }).value;
    },
    async open(url) {
      const before = loads();
      const loaded = new Promise<void>((resolve) => {
        listener = () => {
          if (loads() > before) resolve();
        };
      });
      const { loaderId } = await call('Page.navigate', { url });
      // Another place of the page that is open: nothing is loaded.
      if (loaderId !== undefined) await loaded;
    },
    async close() {
      listeners.delete(hear);
      await send('Target.disposeBrowserContext', { browserContextId });
      pages -= 1;
      if (pages > 0) return;
      running = undefined;
      await close();
    },
  };
}

async function startChromium(): Promise<Chromium> {
  const profile = mkdtempSync(join(tmpdir(), 'chatelaine-chromium-'));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const child = spawn(chromium, [...flags, '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: profile },
  });
  const [, , , commands, answers] = child.stdio;
  if (!(commands instanceof Writable) || !(answers instanceof Readable)) throw new Error('Chromium has no pipes');
  const waiting = new Map<number, (reply: Reply) => void>();
  const listeners = new Set<(reply: Reply) => void>();
  let rest = '';
  answers.setEncoding('utf8').on('data', (chunk: string) => {
    const texts = (rest + chunk).split('\0');
    rest = texts.pop() ?? '';
    for (const text of texts) {
      const reply = JSON.parse(text) as Reply;
      if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
      else for (const hear of listeners) hear(reply);
    }
  });
  let last = 0;
  const send: Chromium['send'] = (method, params, sessionId) =>
    new Promise((resolve, reject) => {
      const id = (last += 1);
      waiting.set(id, ({ result, error }) => (result ? resolve(result) : reject(new Error(error?.message))));
      commands.write(`${JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) })}\0`);
    });
  return {
    send,
    listeners,
    async close() {
      const ended = once(child, 'exit');
      // Not by a signal: the processes of a browser that is killed outlive it, and write into the profile while it is
      // removed.
      send('Browser.close', {}).catch(() => undefined);
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
