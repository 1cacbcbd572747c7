/**
 * The writes of one run at one server that have no answer: each is looked for until it is known what became of it.
 */
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import type { ServerLoad } from '../../store/record/joined-writes.ts';
import type { WriteEnd } from '../../store/record/writes.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { dueAt, isLate, pauseAfter, type OwnWrites, type PendingRequest } from './pending.ts';

/** The result of a lookup of a write without an answer. */
export type WriteSight =
  | { readonly is: 'shown' }
  | { readonly is: 'not shown'; readonly sentAt: Milliseconds }
  | { readonly is: 'no answer'; readonly failure: Failure };

export interface PlacesWorld extends Pick<Clock, 'elapsed' | 'random'>, Pick<WorkMessages, 'note' | 'warn'> {
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly concurrency: number;
  readonly settle: Milliseconds;
  readonly retries: number;
  /** Whether the list of all licenses is the lookup: then it is read twice for a write, and not more often. */
  readonly isByList: () => boolean;
}

/** A write that ended without an answer, to be settled. */
export interface Unanswered {
  readonly id: string;
  readonly sent: Milliseconds;
  readonly ended: Milliseconds;
  readonly load: ServerLoad;
}

/** A write of this run without an answer. */
interface Pending extends PendingRequest {
  readonly id: string;
  n: number;
  settle: Milliseconds;
  laterPassed: Milliseconds | undefined;
  readonly latest: ServerLoad['latest'];
  readonly look: () => Promise<WriteSight>;
  lookups: number;
  next: Milliseconds;
  notBefore: Milliseconds;
  /** What is recorded once it is shown. */
  readonly shown: WriteEnd;
  readonly decide: (how: 'shown' | 'not carried out') => void;
  readonly fail: (cause: unknown) => void;
}

/** The other writes of the run. */
export interface RunWrites extends OwnWrites {
  last: Milliseconds;
  underWay: number;
  /** Writes that have begun, so that a lookup knows whether one began beside it. */
  begun: number;
}

interface PendingPorts {
  readonly load: () => Promise<ServerLoad>;
  readonly end: (id: string, what: WriteEnd) => Promise<void>;
  /** Whether so many lookups in a row had no answer that the run ends. */
  readonly isSilent: () => boolean;
}

/** So long the run goes on beside writes that ran out of time; then it waits until they are settled. */
const quietAfter: Milliseconds = 60_000;
const sayEach: Milliseconds = 10_000;
const shortestPause: Milliseconds = 100;
/** A write that ends while others are looked for waits no longer for its first lookup. */
const longestSleep: Milliseconds = 250;

export class PendingWrites {
  readonly #world: PlacesWorld;
  readonly #run: RunWrites;
  readonly #ports: PendingPorts;
  readonly #all = new Set<Pending>();
  #isPolling = false;
  #said: Milliseconds = 0;
  #resume: (() => void)[] = [];

  constructor(world: PlacesWorld, run: RunWrites, ports: PendingPorts) {
    this.#world = world;
    this.#run = run;
    this.#ports = ports;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Waits where the run has to be quiet, so that it is known what became of writes that ran out of time. */
  async ready(): Promise<void> {
    const first = Math.min(...[...this.#all].filter(isLate).map(({ ended }) => ended));
    if (this.#world.elapsed() - first < quietAfter || first === Infinity) return;
    await new Promise<void>((resolve) => this.#resume.push(resolve));
  }

  /**
   * Looks for a write until it is known what became of it; one that was not processed is to be ended by the caller.
   * @throws Failure of lookups without an answer
   */
  async settle(
    lost: Unanswered,
    look: () => Promise<WriteSight>,
    shown: WriteEnd,
  ): Promise<'shown' | 'not carried out'> {
    const { id, sent, ended, load } = lost;
    return new Promise((decide, fail) => {
      const { settle } = this.#world;
      const next = ended + (this.#world.isByList() ? settle : pauseAfter(0, settle));
      const { n, latest } = load;
      const moments = { id, sent, ended, n, settle: load.settle, laterPassed: undefined, latest };
      this.#all.add({ ...moments, look, shown, lookups: 0, next, notBefore: 0, decide, fail });
      if (!this.#isPolling) void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    try {
      while (this.#all.size > 0) {
        const wait = Math.max(0, this.#nextLookup() - this.#world.elapsed());
        await this.#world.sleep(this.#world.concurrency > 1 ? Math.min(wait, longestSleep) : wait);
        this.#say();
        await this.#lookAll();
        if (![...this.#all].some(isLate)) for (const resume of this.#resume.splice(0)) resume();
      }
    } catch (cause) {
      for (const { fail } of this.#all) fail(cause);
      this.#all.clear();
      for (const resume of this.#resume.splice(0)) resume();
    } finally {
      this.#isPolling = false;
    }
  }

  #dueOf(pending: Pending): Milliseconds {
    const due = dueAt(this.#asLate(pending), this.#run);
    return due === 'not yet' ? Infinity : due;
  }

  /** Those that ran out of time are settled together: the most that was counted of each is counted of all. */
  #asLate(pending: Pending): PendingRequest {
    if (!isLate(pending)) return pending;
    const late = [...this.#all].filter(isLate);
    return {
      ...pending,
      n: Math.max(...late.map(({ n }) => n)),
      settle: Math.max(...late.map(({ settle }) => settle)),
    };
  }

  #lookupOf(pending: Pending): Milliseconds {
    return Math.max(pending.notBefore, Math.min(pending.next, this.#dueOf(pending)));
  }

  #nextLookup(): Milliseconds {
    return Math.min(...[...this.#all].map((one) => this.#lookupOf(one)));
  }

  /** Looks for all whose time has come, at once: they may share one list. */
  async #lookAll(): Promise<void> {
    if (this.#nextLookup() > this.#world.elapsed()) return;
    const load = await this.#ports.load();
    const now = this.#world.elapsed();
    for (const one of this.#all) {
      one.n = Math.max(one.n, load.n);
      one.settle = Math.max(one.settle, load.settle);
      const isPassed = load.latest.some(({ passed }, place) => passed > (one.latest[place]?.begun ?? Infinity));
      if (isPassed) one.laterPassed ??= now;
    }
    const wanted = [...this.#all].filter((one) => this.#lookupOf(one) <= now);
    const [begun, isQuiet] = [this.#run.begun, this.#run.underWay === 0];
    const looks = wanted.map(async (one) => ({ one, due: this.#dueOf(one), sight: await one.look() }));
    const seen = await Promise.all(looks);
    const wasQuiet = isQuiet && begun === this.#run.begun;
    for (const { one, sight } of seen) {
      if (sight.is === 'no answer' && (sight.failure.kind !== 'unavailable' || this.#ports.isSilent()))
        throw sight.failure;
      if (sight.is === 'shown') await this.#decide(one, 'shown');
    }
    const lost = seen.filter(({ one, due, sight }) => {
      const isDue = sight.is === 'not shown' && sight.sentAt >= Math.max(due, this.#dueOf(one));
      return isDue && (wasQuiet || !isLate(one));
    });
    for (const { one, sight } of seen) if (sight.is !== 'shown') this.#postpone(one);
    for (const { one } of lost) await this.#decide(one, 'not carried out');
  }

  async #decide(pending: Pending, is: 'shown' | 'not carried out'): Promise<void> {
    this.#all.delete(pending);
    if (is === 'shown') {
      await this.#ports.end(pending.id, pending.shown);
      this.#run.last = this.#world.elapsed();
      this.passed(pending.sent);
    }
    pending.decide(is);
  }

  #postpone(pending: Pending): void {
    const { isByList, random, settle, elapsed } = this.#world;
    pending.lookups += 1;
    const pause = pauseAfter(pending.lookups, settle) * (0.5 + random());
    pending.next = isByList() ? Infinity : elapsed() + pause;
    pending.notBefore = elapsed() + shortestPause;
  }

  /** A write that was sent then was answered or shown. */
  passed(sent: Milliseconds): void {
    for (const one of this.#all) if (sent > one.sent) one.laterPassed ??= this.#world.elapsed();
  }

  #say(): void {
    const { elapsed, note } = this.#world;
    const first = Math.min(...[...this.#all].map(({ ended }) => ended));
    const isDue = elapsed() - Math.max(this.#said, first) >= sayEach;
    if (!isDue) return;
    this.#said = elapsed();
    const count = this.#all.size === 1 ? 'a request' : `${this.#all.size} requests`;
    note(`waiting for ${count} without a response, which the server may still process`);
  }
}
