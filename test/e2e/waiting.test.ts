import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';
import { openOrigin } from '../helpers/origin.ts';
import { needs } from '../helpers/needs.ts';
import { start, temporaryHome, until, type Started } from './program.ts';
import { openTerminal } from './pty.ts';

/** A command that waits, and how a test knows that it does. */
interface Waiting {
  readonly run: Started;
  readonly isWaiting: () => boolean;
}

/** Accepts connections and says nothing. */
async function muteServer(): Promise<{ readonly port: number; connections(): number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.size };
}

const keyed = (base: string): Record<string, string> => ({
  CHATELAINE_BASE_URL: base,
  CHATELAINE_API_KEY: 'key-of-the-test-123',
  CHATELAINE_APP_CODE: '7',
});
const nowhere = keyed('http://127.0.0.1:1');
/** States of the threads of a process, and its CPU time; where there is no /proc, undefined. */
function activity(pid: number | undefined): { readonly sleeps: boolean; readonly ticks: string } | undefined {
  const folder = `/proc/${pid}`;
  if (!existsSync(`${folder}/stat`)) return undefined;
  const fieldsIn = (file: string): string[] => readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  const [, ...fields] = fieldsIn(`${folder}/stat`);
  const threads = readdirSync(`${folder}/task`);
  const sleeps = threads.every((thread) => fieldsIn(`${folder}/task/${thread}/stat`)[0] === 'S');
  return { sleeps, ticks: fields.slice(10, 12).join() };
}

/**
 * A wait that nobody can see from outside: all threads sleep and use no CPU time for a while, however slow their start
 * was.
 */
function sleeping(pid: number | undefined): () => boolean {
  let last: string | undefined;
  let since = performance.now();
  return () => {
    const now = activity(pid);
    if (now?.ticks !== last || now?.sleeps === false) since = performance.now();
    last = now?.ticks;
    return performance.now() - since > (now ? 200 : 1000);
  };
}

const waitingUnseen = (run: Started): Waiting => ({ run, isWaiting: sleeping(run.child.pid) });

/** Bytes that a process has read so far, of files and pipes; where the system does not count them, undefined. */
function bytesRead({ child }: Started): number | undefined {
  const file = `/proc/${child.pid}/io`;
  return existsSync(file) ? Number(/^rchar: (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1]) : undefined;
}

function fifo(): { readonly home: string; readonly file: string } {
  const home = temporaryHome();
  execFileSync('mkfifo', ['-m', '600', join(home, 'fifo')]);
  return { home, file: join(home, 'fifo') };
}

const states: Readonly<Record<string, () => Promise<Waiting> | Waiting>> = {
  'a roster on standard input': () => waitingUnseen(start('license apply - -o json', { env: nowhere, stdin: null })),
  'a key file that is a FIFO': () => {
    const { home, file } = fifo();
    const env = { CHATELAINE_BASE_URL: 'http://127.0.0.1:1', CHATELAINE_API_KEY_FILE: file, CHATELAINE_APP_CODE: '7' };
    return waitingUnseen(start('license list -o json', { env, home }));
  },
  'a server that says nothing of TLS': async () => {
    const { port, connections } = await muteServer();
    return {
      run: start('license list -o json --timeout 1h', { env: keyed(`https://127.0.0.1:${port}`) }),
      isWaiting: () => connections() > 0,
    };
  },
  'a proxy that says nothing': async () => {
    const { port, connections } = await muteServer();
    const env = { ...keyed('https://licenses.example.com'), HTTPS_PROXY: `http://127.0.0.1:${port}` };
    return { run: start('license list -o json --timeout 1h', { env }), isWaiting: () => connections() > 0 };
  },
  'a retry': async () => {
    const { port, seen } = await openOrigin(() => ({ status: 429, headers: { 'retry-after': '3600' }, body: '{}' }));
    return {
      run: start('license list -o json --deadline 2h', { env: keyed(`http://127.0.0.1:${port}`) }),
      isWaiting: () => seen.length > 0,
    };
  },
  'a reader that has stopped to read': async () => {
    const rows = Array.from({ length: 5000 }, (_unused, index) => ({ license_code: `C${index}`, remote_user: 'a' }));
    const { port, seen } = await openOrigin(() => ({ body: JSON.stringify(rows) }));
    const run = start('license list -o json', { env: keyed(`http://127.0.0.1:${port}`) });
    run.child.stdout?.pause();
    const { isWaiting } = waitingUnseen(run);
    return { run, isWaiting: () => isWaiting() && seen.length > 0 };
  },
  'the lock of the configuration': () => {
    const home = temporaryHome();
    const folder = join(home, '.config/chatelaine');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Whoever waits reads the lock again and again. A lock of 5 MB makes that visible: nothing else that the program
    // reads is so long.
    const owner = { pid: process.pid, token: 'held', host: 'e'.repeat(1_000_000), boot: 'other', space: 'other' };
    writeFileSync(join(folder, 'config.lock'), JSON.stringify(owner), { mode: 0o600 });
    const line = 'auth login licensing --base-url http://127.0.0.1:1 --app-code 7 --no-check --api-key-stdin';
    const { run, isWaiting } = waitingUnseen(start(line, { home, stdin: 'key-of-the-test-123\n' }));
    return { run, isWaiting: () => (bytesRead(run) ?? (isWaiting() ? Infinity : 0)) > 4_000_000 };
  },
};

describe.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends the wait for', needs('signals'), (signal, exit) => {
  // None of these waits ends by itself within the time of a test. The other signal differs in its number alone.
  const all = Object.entries(states);
  test.each(signal === 'SIGINT' || isWhole ? all : all.filter(([name]) => name === 'a retry'))(
    '%s',
    async (_name, begin) => {
      const { run, isWaiting } = await begin();
      await until(isWaiting);
      expect(run.child.exitCode).toBeNull();
      run.child.kill(signal);
      await new Promise((resolve) => run.child.once('exit', resolve));
      expect(run.child.exitCode).toBe(exit);
    },
  );
});

describe('the deadline ends the wait for', () => {
  test('standard input, and the process ends with it', async () => {
    const { code, stderr } = await start('license apply - --deadline 300ms', { env: nowhere, stdin: null }).ended;
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: expect.stringContaining('the deadline of 300ms was reached') as string,
    });
  });

  test('a proxy that says nothing, and the process ends with it', async () => {
    const { port } = await muteServer();
    const env = { ...keyed('https://licenses.example.com'), HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const { code, stderr } = await start('license list --deadline 500ms', { env }).ended;
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: expect.stringContaining('the deadline of 500ms was reached') as string,
    });
  });
});

describe('on a terminal', () => {
  test(
    'a command that reads standard input says so; Ctrl-C ends it with 130, Ctrl-D the input',
    needs('terminals'),
    async () => {
      const terminal = openTerminal('chatelaine license apply -', { env: nowhere });
      await terminal.shows(/Reading standard input; end with Ctrl-D/);
      terminal.type('\u0003');
      expect((await terminal.ended).exitCode).toBe(130);

      const other = openTerminal('chatelaine license view -', { env: nowhere });
      await other.shows(/Reading standard input; end with Ctrl-D/);
      other.type('\u0004');
      const { exitCode, output } = await other.ended;
      expect({ exitCode, output }).toEqual({
        exitCode: 2,
        output: expect.stringContaining('standard input is empty') as string,
      });
    },
  );

  test(
    'Ctrl-C ends a command behind a pipe with 130, though the end of its input comes with it',
    needs('terminals'),
    async () => {
      const reader = '(echo "pid $BASHPID"; exec "$NODE" "$PROGRAM" license apply -)';
      const terminal = openTerminal(`trap : INT; sleep 50 | ${reader}; echo "exit \${PIPESTATUS[1]}"`, {
        env: nowhere,
      });
      await terminal.shows(/pid \d+\r/);
      await until(sleeping(Number(/pid (\d+)/.exec(terminal.output())?.[1])));
      terminal.type('\u0003');
      expect((await terminal.ended).output).toContain('exit 130');
    },
  );

  test('a hidden question ends on Ctrl-C with 130', needs('terminals'), async () => {
    const terminal = openTerminal('chatelaine auth login licensing --base-url http://127.0.0.1:1 --app-code 7');
    await terminal.shows(/API key/);
    terminal.type('\u0003');
    expect((await terminal.ended).exitCode).toBe(130);
  });
});

test('a span of 25 days is 25 days: a time limit and a deadline do not end at once', async () => {
  const { port } = await openOrigin();
  const env = keyed(`http://127.0.0.1:${port}`);
  const { code, stdout } = await start('license list -o json --timeout 25d --deadline 25d', { env }).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: '[]\n' });
});

test('a wait that nothing can end any more is a bug, and no success', async () => {
  const env = { ...nowhere, NODE_OPTIONS: '--import=data:text/javascript,process.stdin.unref()' };
  const { code, stderr } = await start('license view -', { env, stdin: null }).ended;
  expect([code, stderr]).toEqual([1, expect.stringContaining('nothing is left to wait for')]);
});
