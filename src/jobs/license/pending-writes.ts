/**
 * The writes of one run at one server that have no answer. The run looks for each of them until it is known whether it
 * was processed (docs/exactly-once.md, A place for each write).
 */
import type { Milliseconds } from '../../core/duration.ts';
import { orWarn, type Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/system.ts';
import type { LicenseWrites } from '../../store/record/joined-writes.ts';
import type { ServerLoad, WriteEnd } from '../../store/record/writes.ts';
import type { WorkMessages } from '../work/work-messages.ts';

/** The result of a lookup of a write without an answer. */
export type WriteSight =
  | { readonly is: 'shown' }
  | { readonly is: 'not shown'; readonly sentAt: Milliseconds }
  | { readonly is: 'no answer'; readonly failure: Failure };

export interface PlacesWorld extends Pick<Clock, 'elapsed' | 'random'>, Pick<WorkMessages, 'say' | 'warn'> {
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly concurrency: number;
  readonly settle: Milliseconds;
  readonly retries: number;
  /** Whether the complete list is the lookup: it is read only twice for a write, since it is long. */
  readonly isByList: () => boolean;
}

/** A write of this run that ended without an answer, to be settled. */
export interface Unanswered {
  readonly id: string;
  readonly sent: Milliseconds;
  readonly ended: Milliseconds;
  /** The largest load of the server (`ServerLoad`) at the end of this write and since. */
  n: number;
  /** The longest `--settle` of the writes that were counted. */
  settle: Milliseconds;
  /** When, after this write had ended, a write that this run sent later was first answered or shown. */
  laterPassed?: Milliseconds | undefined;
}

interface Pending extends Unanswered {
  readonly look: () => Promise<WriteSight>;
  lookups: number;
  next: Milliseconds;
  notBefore: Milliseconds;
  readonly decide: (how: 'shown' | 'not processed') => void;
  readonly fail: (cause: unknown) => void;
}

/** How long the run goes on beside a write that ran out of time; then it waits until all of these are settled. */
const quietAfter: Milliseconds = 60_000;
const sayEach: Milliseconds = 10_000;
const shortestPause: Milliseconds = 100;
/** The longest sleep between lookups: a write that ends meanwhile is soon looked for. */
const longestSleep: Milliseconds = 250;

export class PendingWrites {
  /** `last`: when a write of this run last ended or was shown; `underWay`: how many are under way. */
  readonly run = { last: -Infinity, underWay: 0 };
  readonly #store: LicenseWrites;
  readonly #world: PlacesWorld;
  readonly #all = new Set<Pending>();
  #silences = 0;
  #isPolling = false;
  #said: Milliseconds = 0;
  #resume: (() => void)[] = [];

  constructor(store: LicenseWrites, world: PlacesWorld) {
    this.#store = store;
    this.#world = world;
  }

  /** Counts requests in a row that had no answer. */
  heard(what: 'answer' | 'silence'): void {
    this.#silences = what === 'answer' ? 0 : this.#silences + 1;
    if (what === 'answer') this.#store.answered();
  }

  /** Whether so many requests in a row had no answer that the run ends. */
  get isSilent(): boolean {
    return this.#silences > this.#world.retries;
  }

  /** Records the end of a write together with the next line, or soon; nobody waits for the disk. */
  end(id: string, what: WriteEnd): void {
    const recording = orWarn(
      this.#store.end(id, what),
      this.#world.warn,
      'later runs do not know how the request ended',
    );
    // Any other error is thrown again at the next line, or when the store is closed.
    recording.catch(() => undefined);
  }

  /** Waits while the run has to be quiet to settle writes that ran out of time. */
  async ready(): Promise<void> {
    const first = Math.min(...[...this.#all].filter(isLate).map(({ ended }) => ended));
    if (this.#world.elapsed() - first < quietAfter || first === Infinity) return;
    await new Promise<void>((resolve) => this.#resume.push(resolve));
  }

  /**
   * Looks for a write until it is shown, or known not to have been processed; then the caller records its end.
   * @throws Failure of lookups without an answer
   */
  async settle(lost: Unanswered, look: () => Promise<WriteSight>): Promise<'shown' | 'not processed'> {
    return new Promise((decide, fail) => {
      const { settle, isByList } = this.#world;
      const next = lost.ended + (isByList() ? settle : pauseAfter(0, settle));
      const waiting = { look, lookups: 0, next, notBefore: 0, decide, fail };
      this.#all.add({ ...lost, ...waiting });
      if (!this.#isPolling) void this.#poll();
    });
  }

  /** Notes that a write, which was sent at `sent`, was answered or shown. */
  passed(sent: Milliseconds): void {
    for (const one of this.#all) if (sent > one.sent) one.laterPassed ??= this.#world.elapsed();
  }

  /** Keeps the largest load: the store forgets silent requests at the next answer, but the server may work on them. */
  count(load: ServerLoad): void {
    for (const one of this.#all) {
      one.n = Math.max(one.n, load.n);
      one.settle = Math.max(one.settle, load.settle);
    }
  }

  async #poll(): Promise<void> {
    const { elapsed, sleep, concurrency } = this.#world;
    this.#isPolling = true;
    try {
      while (this.#all.size > 0) {
        const wait = Math.max(0, Math.min(...[...this.#all].map((one) => this.#lookupOf(one))) - elapsed());
        await sleep(concurrency > 1 ? Math.min(wait, longestSleep) : wait);
        this.#say();
        if ([...this.#all].some((one) => this.#lookupOf(one) <= elapsed())) await this.#lookAll();
        if (![...this.#all].some(isLate)) this.#goOn();
      }
    } catch (cause) {
      for (const { fail } of this.#all) fail(cause);
      this.#all.clear();
      this.#goOn();
    } finally {
      this.#isPolling = false;
    }
  }

  #goOn(): void {
    for (const resume of this.#resume.splice(0)) resume();
  }

  /** Writes that ran out of time are settled together: the largest load of one holds for all. */
  #dueOf(one: Pending): Milliseconds {
    const counted = isLate(one) ? [...this.#all].filter(isLate) : [one];
    const n = Math.max(...counted.map((each) => each.n));
    return dueAt({ ...one, n, settle: Math.max(...counted.map((each) => each.settle)) }, this.run);
  }

  #lookupOf(one: Pending): Milliseconds {
    return Math.max(one.notBefore, Math.min(one.next, this.#dueOf(one)));
  }

  /** Looks for all writes whose time has come, at once, because they may share one list. */
  async #lookAll(): Promise<void> {
    this.count(await this.#store.load());
    const now = this.#world.elapsed();
    const wanted = [...this.#all].filter((one) => this.#lookupOf(one) <= now);
    const looks = wanted.map(async (one) => ({ one, due: this.#dueOf(one), sight: await one.look() }));
    const seen = await Promise.all(looks);
    for (const { one, sight } of seen) {
      if (sight.is === 'no answer' && (sight.failure.kind !== 'unavailable' || this.isSilent)) throw sight.failure;
      if (sight.is === 'shown') this.#decideShown(one);
      else this.#postpone(one);
    }
    // A write that began during these lookups has moved the due time of all that ran out of time (`dueAt`).
    const lost = seen.filter(
      ({ one, due, sight }) => sight.is === 'not shown' && sight.sentAt >= Math.max(due, this.#dueOf(one)),
    );
    for (const { one } of lost) {
      this.#all.delete(one);
      one.decide('not processed');
    }
  }

  #decideShown(one: Pending): void {
    this.#all.delete(one);
    this.run.last = this.#world.elapsed();
    this.passed(one.sent);
    one.decide('shown');
  }

  #postpone(one: Pending): void {
    const { isByList, random, settle, elapsed } = this.#world;
    one.lookups += 1;
    one.next = isByList() ? Infinity : elapsed() + pauseAfter(one.lookups, settle) * (0.5 + random());
    one.notBefore = elapsed() + shortestPause;
  }

  #say(): void {
    const { elapsed, say } = this.#world;
    const first = Math.min(...[...this.#all].map(({ ended }) => ended));
    if (elapsed() - Math.max(this.#said, first) < sayEach) return;
    this.#said = elapsed();
    const count = this.#all.size === 1 ? 'a request' : `${this.#all.size} requests`;
    say(`waiting for ${count} without a response, which the server may still process`);
  }
}

/** A connection that breaks sooner than this breaks because of the network, and not because the server is slow. */
const earlyBreak: Milliseconds = 250;

/** Whether the request ran out of time: then nothing shows how far the server has come. */
export function isLate({ sent, ended }: Pick<Unanswered, 'sent' | 'ended'>): boolean {
  return ended - sent >= earlyBreak;
}

/** From when on a lookup that does not show the write proves that it was not processed; Infinity while none does. */
export function dueAt(request: Unanswered, own: Pick<PendingWrites['run'], 'last' | 'underWay'>): Milliseconds {
  const { ended, n, settle, laterPassed = Infinity } = request;
  if (isLate(request)) return own.underWay > 0 ? Infinity : own.last + n * settle;
  return n <= 1 ? ended + settle : Math.min(ended + n * settle, laterPassed + settle);
}

/** How long to wait between two lookups: short at first, since an early lookup is likely to show the write. */
export function pauseAfter(lookups: number, settle: Milliseconds): Milliseconds {
  return Math.min(shortestPause * 2 ** lookups, lookups < 10 ? settle / 4 : settle);
}
