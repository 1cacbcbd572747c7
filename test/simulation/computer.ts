import { Readable, Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Host } from '../../src/cli/host.ts';
import { main } from '../../src/cli/main.ts';
import { Failure } from '../../src/core/failure.ts';
import { chanceOf, type Chance } from './chance.ts';
import { createDisk, diskError, numberInodesAgain, type Disk, type Loss } from './disk.ts';
import { createTime, type Time } from './time.ts';

/** A call to the outside of a process, counted from 1; with `since` from its first request of that method on, 0. */
interface CallNumber {
  readonly at: number;
  readonly since?: string;
}

/** What befalls a process before a call, which is not made any more. */
export interface Fate {
  /** `zombie`: killed, and nobody has asked for its exit code. `power`: its whole computer loses power. */
  readonly kill?: CallNumber & {
    readonly how: 'kill' | 'zombie' | 'power';
    readonly loss?: 'all' | 'none' | 'drawn';
  };
  /** Held before that call for so many milliseconds, while its timers go on. */
  readonly stop?: CallNumber & { readonly span: number };
  readonly disk?: DiskFault | readonly DiskFault[];
  /** A signal, Ctrl-C unless it is named, `late` by so many milliseconds; `again`: later the same one, which kills. */
  readonly interrupt?: CallNumber & {
    readonly by?: keyof typeof signals;
    readonly late?: number;
    readonly again?: number;
  };
  /** From the nth write on nobody reads the output (EPIPE), or its disk is full. */
  readonly stdout?: { readonly nth: number; readonly code: 'EPIPE' | 'ENOSPC' };
  /** The clock of the computer is set by so many milliseconds. */
  readonly clock?: { readonly at: number; readonly by: number };
}

/** How the first calls of the disk from there on end (`times`: 1); EROFS: the whole disk, for 10 s. */
interface DiskFault extends CallNumber {
  readonly code: string;
  readonly times?: number;
  /** The error comes `after` the call was carried out; or of a `sync`, which drops what it had. */
  readonly of?: 'after' | 'sync';
  /** Of the files alone whose paths contain this. */
  readonly path?: string;
}

const signals = {
  SIGINT: new Failure('cancelled', 'interrupted'),
  SIGTERM: new Failure('terminated', 'ended by SIGTERM'),
  SIGHUP: new Failure('hangup', 'the terminal was closed'),
};

/** The faults of its disk, in any number. */
export function disksOf({ disk = [] }: Fate): readonly DiskFault[] {
  return Array.isArray(disk) ? (disk as readonly DiskFault[]) : [disk as DiskFault];
}

/** Whether it may be killed: it ends without a word. */
export function isKillable({ kill, interrupt }: Fate = {}): boolean {
  return kill !== undefined || interrupt?.again !== undefined;
}

/** One history: its time, its chance, and its computers. Only one is played at a time. */
export class World {
  readonly time: Time;
  readonly chance: Chance;
  readonly #trace: ((line: string) => void) | undefined;

  constructor(seed: number, trace: ((line: string) => void) | undefined) {
    numberInodesAgain();
    this.time = createTime(Date.UTC(2026, 2, 1, 12));
    this.chance = chanceOf(seed);
    this.#trace = trace;
  }

  /** A line of the story; `text` is only made where somebody reads it. */
  tell(who: string, text: () => string): void {
    if (!this.#trace) return;
    const seconds = (this.time.now() - Date.UTC(2026, 2, 1, 12)) / 1000;
    this.#trace(`${seconds.toFixed(4).padStart(11)}  ${who.padEnd(9)}  ${text()}`);
  }
}

export class Computer {
  readonly world: World;
  readonly name: string;
  readonly disk: Disk = createDisk();
  /** The file server under /share, which several computers can have; power cuts of computers leave it alone. */
  readonly share: Disk | undefined;
  readonly processes: Process[] = [];
  /** How far its clock is ahead of the true time. */
  clockAhead = 0;
  boot = 0;
  /** When its power was cut last, or long before the beginning. */
  bootedAt: number;

  constructor(world: World, name: string, share?: Disk) {
    this.world = world;
    this.name = name;
    this.share = share;
    this.bootedAt = world.time.now() - 1_000_000;
    for (const path of ['/tmp', '/var', '/var/tmp', '/home', '/home/ada']) this.disk.mkdir(path, 0o755);
    this.disk.cutPower('none');
  }

  /** The disk behind a path, and its path there. */
  diskAt(path: string): readonly [Disk, string] {
    return this.share && path.startsWith('/share')
      ? [this.share, path.slice('/share'.length) || '/']
      : [this.disk, path];
  }

  /** Everything ends, and is on again at once: who waits a moment before the next run waits for the boot. */
  cutPower(loss: Loss): void {
    this.world.tell(this.name, () => `POWER CUT, unsynced: ${typeof loss === 'string' ? loss : 'drawn'} lost`);
    for (const process of this.processes) process.die('gone');
    this.disk.cutPower(loss);
    this.boot += 1;
    this.bootedAt = this.world.time.now();
  }

  /** Ids come again: after a boot, and the id of an ended process at the next but one. */
  freePid(): number {
    for (let pid = 100; ; pid += 1)
      if (!this.processes.some((process) => process.pid === pid && process.isListed)) return pid;
  }

  ticks(): number {
    return Math.round((this.world.time.now() - this.bootedAt) / 10);
  }

  /** What /proc says there. @throws ENOENT */
  proc(path: string, self: Process): string {
    if (path === '/proc/sys/kernel/random/boot_id') return `${this.name}-${this.boot}\n`;
    if (path === '/proc/self/ns/pid') return 'pid:[4026531836]';
    const [, name] = /^\/proc\/(\w+)\/stat$/.exec(path) ?? [];
    const process = name === 'self' ? self : this.processes.findLast((one) => String(one.pid) === name && one.isListed);
    if (!process) throw diskError('ENOENT', 'open', path);
    const fields = Array.from({ length: 18 }, () => '0');
    return `${process.pid} (chatelaine) ${process.state === 'zombie' ? 'Z' : 'R'} ${fields.join(' ')} ${process.startTicks} 0\n`;
  }
}

type ProcessState = 'running' | 'stopped' | 'zombie' | 'gone' | 'ended';

export interface Run {
  readonly line: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly fate: Fate;
  readonly dispatcher: Dispatcher;
}

/** One call of `main`, and what it asks of the outside. */
export class Process {
  readonly computer: Computer;
  /** The command line. */
  readonly line: string;
  readonly pid: number;
  readonly startTicks: number;
  readonly started: number;
  ended: number | undefined;
  state: ProcessState = 'running';
  exit: number | undefined;
  stdout = '';
  stderr = '';
  /** Calls to the outside so far. */
  calls = 0;
  /** The methods of its requests. */
  readonly requests: string[] = [];
  /** Milliseconds for which it asked to sleep. */
  slept = 0;
  /** When the first signal came. */
  interrupted: number | undefined;
  readonly fate: Fate;
  readonly #interrupt = new AbortController();
  #isInterrupted = false;
  readonly #failures = new Map<DiskFault, number>();
  #writes = 0;
  /** The number of its first call of each name. */
  readonly #firsts = new Map<string, number>();
  #held: (() => void)[] = [];
  readonly #atExit: (() => void)[] = [];

  constructor(computer: Computer, { line, env, fate, dispatcher }: Run) {
    this.computer = computer;
    this.line = line.join(' ');
    this.pid = computer.freePid();
    this.startTicks = computer.ticks();
    this.started = computer.world.time.now();
    this.fate = fate;
    computer.processes.push(this);
    this.tell(() => `$ chatelaine ${this.line}`);
    this.later(0, () => {
      void main(line, this.#host(env, dispatcher)).then(
        (exit) => this.#end(exit),
        (cause: unknown) => {
          this.stderr += String(cause);
          this.#end(1);
        },
      );
    });
  }

  /** Whether the system has an entry for its id. */
  get isListed(): boolean {
    return this.state === 'running' || this.state === 'stopped' || this.state === 'zombie';
  }

  /** Whether it may still do something. */
  get isAlive(): boolean {
    return this.state === 'running' || this.state === 'stopped';
  }

  tell(text: () => string): void {
    this.computer.world.tell(`${this.computer.name}/${this.pid}`, text);
  }

  die(state: 'zombie' | 'gone'): void {
    if (!this.isListed) return;
    if (this.isAlive) this.ended = this.computer.world.time.now();
    this.state = state;
  }

  /** A step of this process, later; none where it is dead by then. */
  later(span: number, step: () => void): () => void {
    return this.computer.world.time.after(span, () => this.#enter(step));
  }

  /** A call to the outside, made when its turn comes. It never ends where the process is dead by then. */
  call<T>(name: string, of: string, make: () => T, drop?: () => void): Promise<T> {
    const fault = this.#begin(name, of);
    return new Promise((resolve, reject) => {
      if (!this.isAlive) return;
      this.later(this.computer.world.chance.next() ** 4 * 4, () => {
        try {
          resolve(befallen(fault, { name, of, drop }, make));
        } catch (cause) {
          this.tell(() => `  ${name} ${of}: ${cause instanceof Error ? cause.message : String(cause)}`);
          reject(cause instanceof Error ? cause : new Error(String(cause)));
        }
      });
    });
  }

  /** A call that the process cannot wait for. */
  callAtOnce<T>(name: string, of: string, make: () => T, drop?: () => void): T {
    const fault = this.#begin(name, of);
    if (!this.isAlive) throw new Error('a dead process reaches nothing');
    return befallen(fault, { name, of, drop }, make);
  }

  /** Counts the call, and lets the fate of the process come; the fault with which the call ends. */
  #begin(name: string, of: string): DiskFault | undefined {
    if (!this.isAlive) return undefined;
    this.calls += 1;
    this.tell(() => `${this.calls}: ${name} ${of}`);
    if (/^(GET|POST|PUT|PATCH|DELETE)$/.test(name)) this.requests.push(name);
    const { kill, stop, interrupt, clock } = this.fate;
    if (!this.#firsts.has(name)) this.#firsts.set(name, this.calls);
    if (kill && this.calls === this.#numberOf(kill)) this.#kill(kill);
    if (stop && this.calls === this.#numberOf(stop)) this.#stop(stop.span);
    if (clock?.at === this.calls) this.#setClock(clock.by);
    if (interrupt && this.calls >= this.#numberOf(interrupt)) this.#interruptOnce(interrupt);
    if (/^(GET|POST|PUT|PATCH|DELETE|SQL|turn|stdout)/.test(name)) return undefined;
    const fault = disksOf(this.fate).find((one) => {
      if ((this.#failures.get(one) ?? 0) >= (one.times ?? 1) || !of.includes(one.path ?? '')) return false;
      return this.calls >= this.#numberOf(one) && (one.of !== 'sync' || /^f(data)?sync$/.test(name));
    });
    if (!fault) return undefined;
    this.#failures.set(fault, (this.#failures.get(fault) ?? 0) + 1);
    this.tell(() => `THE DISK FAILS: ${fault.code} ${fault.of ?? ''}`);
    if (fault.code !== 'EROFS') return fault;
    // As after an error that the kernel answers by mounting it anew.
    this.computer.disk.isReadOnly = true;
    this.computer.world.time.after(10_000, () => (this.computer.disk.isReadOnly = false));
    return undefined;
  }

  #numberOf({ at, since }: CallNumber): number {
    return at + (since === undefined ? 0 : (this.#firsts.get(since) ?? Infinity));
  }

  #interruptOnce(interrupt: NonNullable<Fate['interrupt']>): void {
    if (this.#isInterrupted) return;
    this.#isInterrupted = true;
    if (interrupt.late === undefined) this.interruptNow(interrupt);
    else this.later(interrupt.late, () => this.interruptNow(interrupt));
  }

  interruptNow({ by = 'SIGINT', again }: Omit<NonNullable<Fate['interrupt']>, 'at'> = {}): void {
    this.interrupted = this.computer.world.time.now();
    this.tell(() => by);
    this.later(0, () => this.#interrupt.abort(signals[by]));
    if (again === undefined) return;
    this.later(again, () => {
      this.tell(() => `${by} AGAIN`);
      this.die('gone');
    });
  }

  #setClock(by: number): void {
    this.tell(() => `THE CLOCK IS SET BY ${by} ms`);
    this.computer.clockAhead += by;
  }

  /** A write to the output; the error of those that its fate lets fail. */
  async #print(text: string): Promise<void> {
    this.#writes += 1;
    const { stdout } = this.fate;
    const isLost = stdout && this.#writes >= stdout.nth;
    await this.call('stdout', '', () => {
      if (isLost) throw diskError(stdout.code, 'write');
      this.stdout += text;
    });
  }

  #kill({ how, loss = 'all' }: NonNullable<Fate['kill']>): void {
    const { computer } = this;
    if (how === 'power') {
      computer.cutPower(loss === 'drawn' ? computer.world.chance : loss);
      return;
    }
    this.tell(() => (how === 'zombie' ? 'KILLED, a zombie' : 'KILLED'));
    this.die(how === 'zombie' ? 'zombie' : 'gone');
  }

  #stop(span: number): void {
    this.tell(() => `STOPPED for ${span} ms`);
    this.state = 'stopped';
    this.computer.world.time.after(span, () => {
      if (this.state !== 'stopped') return;
      this.tell(() => 'CONTINUED');
      this.state = 'running';
      const held = this.#held;
      this.#held = [];
      for (const step of held) this.later(0, step);
    });
  }

  #enter(step: () => void): void {
    if (this.state === 'stopped') this.#held.push(step);
    if (this.state === 'running') act(this, step);
  }

  #end(exit: number): void {
    if (!this.isAlive) return;
    for (const work of this.#atExit) work();
    this.exit = exit;
    this.ended = this.computer.world.time.now();
    this.state = 'ended';
    this.tell(() => `exit ${exit}${this.stderr === '' ? '' : `: ${this.stderr.trim()}`}`);
  }

  #host(env: Run['env'], dispatcher: Dispatcher): Host {
    const { computer } = this;
    const { world } = computer;
    const now = (): number => world.time.now() + computer.clockAhead;
    return {
      system: {
        env,
        platform: 'linux',
        home: '/home/ada',
        temporary: '/tmp',
        local: '/var/tmp',
        hostname: computer.name,
        uid: 1000,
        pid: this.pid,
        kill: (pid) => {
          if (computer.processes.some((one) => one.pid === pid && one.isListed)) return;
          throw diskError('ESRCH', 'kill');
        },
        atExit: (work) => this.#atExit.push(work),
      },
      clock: {
        now,
        elapsed: () => world.time.now() - this.started,
        random: () => world.chance.next(),
        sleep: (span, signal) =>
          new Promise((resolve, reject) => {
            this.slept += span;
            const stop = (): void => {
              cancel();
              reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
            };
            const cancel = this.later(span, () => {
              signal?.removeEventListener('abort', stop);
              resolve();
            });
            signal?.addEventListener('abort', stop, { once: true });
            if (signal?.aborted) stop();
          }),
      },
      alarm: (span, ring) => this.later(span, ring),
      stdin: Readable.from([]),
      terminal: { group: this.pid, isForeground: () => false, open: () => Readable.from([]) },
      stdout: new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          this.#print(chunk.toString()).then(() => done(), done);
        },
      }).on('error', () => undefined),
      stderr: new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          if (this.isAlive) this.stderr += chunk.toString();
          done();
        },
      }),
      interrupt: this.#interrupt.signal,
      version: '9.9.9',
      dispatcher,
    };
  }
}

/** Makes the call, unless a fault of the disk comes before it. */
function befallen<T>(
  fault: DiskFault | undefined,
  { name, of, drop }: { readonly name: string; readonly of: string; readonly drop: (() => void) | undefined },
  make: () => T,
): T {
  if (fault?.of === 'sync') drop?.();
  if (fault && fault.of !== 'after') throw diskError(fault.code, name, of);
  const made = make();
  if (fault) throw diskError(fault.code, name, of);
  return made;
}

let acting: Process | undefined;

function act(process: Process, step: () => void): void {
  acting = process;
  step();
}

/** The process whose step is running. Nothing else runs until that step and all that it set off have ended. */
export function actingProcess(): Process {
  if (!acting) throw new Error('called outside of a simulated process');
  return acting;
}
