import { Readable, Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Host } from '../../src/cli/host.ts';
import { main } from '../../src/cli/main.ts';
import { Failure } from '../../src/core/failure.ts';
import { chanceOf, type Chance } from './chance.ts';
import { createDisk, diskError, type Disk, type Loss } from './disk.ts';
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
  readonly stop?: { readonly at: number; readonly span: number };
  /** How the first calls of the disk from there on end (`times`: 1); EROFS: the whole disk, for 10 s. */
  readonly disk?: CallNumber & { readonly code: string; readonly times?: number };
  /** Ctrl-C, by the second number of it. */
  readonly interrupt?: CallNumber;
}

/** One history: its time, its chance, and its computers. Only one is played at a time. */
export class World {
  readonly time: Time;
  readonly chance: Chance;
  readonly #trace: ((line: string) => void) | undefined;

  constructor(seed: number, trace: ((line: string) => void) | undefined) {
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
  readonly #fate: Fate;
  readonly #interrupt = new AbortController();
  #isInterrupted = false;
  #diskFailures = 0;
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
    this.#fate = fate;
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
  call<T>(name: string, of: string, make: () => T): Promise<T> {
    const isFailing = this.#begin(name, of);
    return new Promise((resolve, reject) => {
      if (!this.isAlive) return;
      this.later(this.computer.world.chance.next() ** 4 * 4, () => {
        try {
          if (isFailing) throw diskError(this.#fate.disk?.code ?? '', name, of);
          resolve(make());
        } catch (cause) {
          this.tell(() => `  ${name} ${of}: ${cause instanceof Error ? cause.message : String(cause)}`);
          reject(cause instanceof Error ? cause : new Error(String(cause)));
        }
      });
    });
  }

  /** A call that the process cannot wait for. */
  callAtOnce<T>(name: string, of: string, make: () => T): T {
    const isFailing = this.#begin(name, of);
    if (!this.isAlive) throw new Error('a dead process reaches nothing');
    if (isFailing) throw diskError(this.#fate.disk?.code ?? '', name, of);
    return make();
  }

  /** Counts the call, and lets the fate of the process come; whether the call fails. */
  #begin(name: string, of: string): boolean {
    if (!this.isAlive) return false;
    this.calls += 1;
    this.tell(() => `${this.calls}: ${name} ${of}`);
    if (/^(GET|POST|PUT|PATCH|DELETE)$/.test(name)) this.requests.push(name);
    if (!this.#firsts.has(name)) this.#firsts.set(name, this.calls);
    const { kill, stop, disk, interrupt } = this.#fate;
    if (kill && this.calls === this.#numberOf(kill)) this.#kill(kill);
    if (stop?.at === this.calls) this.#stop(stop.span);
    if (interrupt && this.calls >= this.#numberOf(interrupt) && !this.#isInterrupted) this.interruptNow();
    const isOfDisk = !/^(GET|POST|PUT|PATCH|DELETE|SQL|turn|stdout)/.test(name);
    const isOver = this.#diskFailures >= (disk?.times ?? 1);
    if (!disk || this.calls < this.#numberOf(disk) || isOver || !isOfDisk) return false;
    this.#diskFailures += 1;
    this.tell(() => `THE DISK FAILS: ${disk.code}`);
    if (disk.code !== 'EROFS') return true;
    // As after an error that the kernel answers by mounting it anew.
    this.computer.disk.isReadOnly = true;
    this.computer.world.time.after(10_000, () => (this.computer.disk.isReadOnly = false));
    return false;
  }

  #numberOf({ at, since }: CallNumber): number {
    return at + (since === undefined ? 0 : (this.#firsts.get(since) ?? Infinity));
  }

  interruptNow(): void {
    this.#isInterrupted = true;
    this.tell(() => 'CTRL-C');
    this.later(0, () => this.#interrupt.abort(new Failure('cancelled', 'interrupted')));
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
          void this.call('stdout', '', () => (this.stdout += chunk.toString())).then(() => done());
        },
      }),
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
