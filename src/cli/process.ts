import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { Duplex } from 'node:stream';
import { isatty, ReadStream } from 'node:tty';
import { Failure, unless } from '../core/failure.ts';
import { localZone } from '../core/moment.ts';
import type { System } from '../core/system.ts';
import { closeSync, constants, openSync, readFileSync, readSync } from '../core/outside.ts';
import { realAlarm, realClock } from './clock.ts';
import type { Host, Output } from './host.ts';
import { maybeTerminal } from './launch/early.ts';
import { main } from './main.ts';

/** Runs the program in this process, for the launcher. `keepCode` writes the code cache after all work. */
export async function start(version: string, { keepCode }: { keepCode: () => void }): Promise<void> {
  // Node takes TZ=/etc/localtime for UTC, but reads that file where TZ is not set.
  if (process.env['TZ']?.replace(/^:/, '') === localZone) delete process.env['TZ'];
  const interrupt = interruption();
  let stdin: Host['stdin'] | undefined;
  let stderr: Output | undefined;
  process.exitCode = await main(process.argv.slice(2), {
    system: thisSystem(),
    clock: realClock,
    alarm: realAlarm,
    // Making a stream costs time at start-up: each is made when it is first used.
    get stdin() {
      return (stdin ??= openStream(() => process.stdin));
    },
    terminal: processTerminal,
    stdout: ignoreErrors(() => process.stdout),
    get stderr() {
      return (stderr ??= ignoreErrors(() => process.stderr));
    },
    interrupt,
    version,
  });
  if (stderr) await flush(stderr, interrupt);
  if (!interrupt.aborted) keepCode();
  endProcess(interrupt);
}

/** The getters load node:os only where a file of the user is needed. */
function thisSystem(): System {
  return {
    env: process.env,
    platform: process.platform,
    // A user of a container whose id has no line in /etc/passwd has no name, and no home unless HOME says one.
    get home() {
      return unless(Error, homedir) ?? '';
    },
    get user() {
      return unless(Error, () => userInfo().username);
    },
    get temporary() {
      return tmpdir();
    },
    get local() {
      if (process.platform !== 'win32') return '/var/tmp';
      // In a remote session the temporary folder is deleted at the end of the session.
      return process.env['LOCALAPPDATA'] || tmpdir();
    },
    get hostname() {
      return hostname();
    },
    uid: process.getuid?.(),
    pid: process.pid,
    kill: (pid, signal) => void process.kill(pid, signal),
    atExit: (work) => void process.once('exit', work),
  };
}

/** Ignores errors of a stream, which the sink's write reports: without a listener they would end the process. */
function ignoreErrors(open: () => NodeJS.WriteStream): Output {
  return openStream(open).on('error', () => undefined);
}

/** Node on Windows throws where a handle cannot be used; here reads and writes fail then, as on other systems. */
function openStream<Stream extends NodeJS.ReadStream | NodeJS.WriteStream>(open: () => Stream): Stream | Duplex {
  try {
    return open();
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause;
    return new Duplex({
      read() {
        this.destroy(cause);
      },
      write: (_chunk, _encoding, done) => done(cause),
    });
  }
}

/** Resolves when a stream has written what it was given, or a moment after a signal. */
function flush(stream: Output, interrupt: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const giveUp = (): void => void realAlarm(moment, resolve);
    if (interrupt.aborted) giveUp();
    else interrupt.addEventListener('abort', giveUp, { once: true });
    stream.write('', () => resolve());
  });
}

const moment = 100;

/**
 * Ends the process once all output is written: by itself where nothing is open, else after a moment; after a signal at
 * once. A name look-up occupies a thread that even process.exit waits for: the signal's default action ends that too.
 */
function endProcess({ aborted, reason }: AbortSignal): void {
  if (!aborted) return void setTimeout(() => process.exit(), moment).unref();
  // Windows has no such action: a process that signals itself there exits with 1.
  const signal = (reason instanceof Failure && signalOf[reason.kind]) || 'SIGINT';
  process.removeAllListeners(signal);
  if (process.platform !== 'win32' && process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap'))
    process.kill(process.pid, signal);
  process.exit();
}

const signalOf: Readonly<Record<string, NodeJS.Signals>> = { terminated: 'SIGTERM', hangup: 'SIGHUP' };

/**
 * A second signal of the same kind kills the process, and so does any signal after Ctrl-C, unless a call that outlasts
 * Ctrl-C handles the event `again` and ends.
 */
function interruption(): AbortSignal {
  const controller = new AbortController();
  const { signal: interrupt } = controller;
  const isCancelled = (): boolean => interrupt.reason instanceof Failure && interrupt.reason.kind === 'cancelled';
  for (const [signal, failure] of Object.entries(signals())) {
    let isFirst = true;
    const hear = (): void => {
      const isAgain = isCancelled() || !isFirst;
      isFirst = false;
      if (!isAgain) {
        controller.abort(failure);
        return;
      }
      process.off(signal, hear);
      if (interrupt.dispatchEvent(new Event('again', { cancelable: true }))) process.kill(process.pid, signal);
    };
    process.on(signal, failure ? hear : () => undefined);
  }
  // The event loop is empty while the command still waits: without this, the process would end with 0.
  process.on('beforeExit', () => {
    if (process.exitCode === undefined) controller.abort(new Error('nothing is left to wait for'));
    process.exitCode ??= 1;
  });
  return interrupt;
}

/** Failures by the signal that ends a run. Without a terminal SIGHUP is ignored, as nohup wants: Node undoes that. */
function signals(): Readonly<Record<string, Failure | undefined>> {
  return {
    SIGINT: new Failure('cancelled', 'interrupted'),
    SIGTERM: new Failure('terminated', 'ended by SIGTERM'),
    ...(process.platform === 'win32' ? { SIGBREAK: new Failure('terminated', 'ended by Ctrl-Break') } : {}),
    SIGHUP: [0, 2].some((stream) => maybeTerminal(stream) && isatty(stream))
      ? new Failure('hangup', 'the terminal was closed')
      : undefined,
  };
}

/** The terminal that this process was started from, whatever its streams are. */
const processTerminal: Host['terminal'] = {
  get group() {
    return groups()?.own ?? process.ppid;
  },
  isForeground() {
    const processGroups = groups();
    return processGroups ? processGroups.own === processGroups.foreground : isatty(0) || isatty(1);
  },
  open(continued) {
    // A console of Windows serves all streams; elsewhere standard input may be another terminal, or at its end.
    if (process.platform === 'win32')
      return isatty(0) ? process.stdin : new ReadStream(openSync('\\\\.\\CONIN$', 'r+'));
    const terminal = new ReadStream(openSync('/dev/tty', 'r+'));
    discardTyped(terminal);
    process.on('SIGCONT', continued);
    return terminal.once('close', () => process.off('SIGCONT', continued));
  },
};

/** Discards what was typed before a question. In raw mode a terminal also gives a line that has no end yet. */
function discardTyped(terminal: ReadStream): void {
  const waiting = openSync('/dev/tty', constants.O_RDONLY | constants.O_NONBLOCK);
  terminal.setRawMode(true);
  try {
    while (readSync(waiting, Buffer.alloc(4096)) > 0);
  } catch {
    // Nothing more waits.
  } finally {
    terminal.setRawMode(false);
    closeSync(waiting);
  }
}

/** The group of this process, and that in the foreground of its terminal; undefined where there is no /proc. */
function groups(): { readonly own: number; readonly foreground: number } | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // Fields behind the name, which may contain anything: state, parent, group, session, terminal, foreground group.
    const [, , own, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { own: Number(own), foreground: Number(foreground) };
  } catch {
    return undefined;
  }
}
