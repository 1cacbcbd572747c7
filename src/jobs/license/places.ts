/**
 * The writes of one run at one server (docs/exactly-once.md, A place for each write). A write without an answer keeps
 * its place among those of the run until it is known what became of it.
 */
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, orWarn } from '../../core/failure.ts';
import type { LicenseWrites, ServerLoad } from '../../store/record/joined-writes.ts';
import type { AskedWrite, UserName, WriteEnd } from '../../store/record/writes.ts';
import { limiter } from '../work/pool.ts';
import { PendingWrites, type PlacesWorld, type RunWrites, type Unanswered, type WriteSight } from './pending-writes.ts';

/** How a request ended, as its sender judges the response; it throws where certainly nothing was changed. */
export type Sent<T> = { readonly value: T } & (
  { readonly end: Extract<WriteEnd, { readonly is: 'answered' | 'shown' }> } | { readonly end: 'no answer' }
);

const unrecorded = 'later runs do not know how the request ended';
/** So many answers in a row give back a place after a lookup without an answer. */
const answersForPlace = 10;

export class Places {
  readonly store: LicenseWrites;
  readonly #world: PlacesWorld;
  readonly #limit: ReturnType<typeof limiter>;
  readonly #pending: PendingWrites;
  readonly #run: RunWrites = { last: -Infinity, underWay: 0, begun: 0 };
  #width: number;
  #answersInRow = 0;
  #silencesInRow = 0;
  #broken: unknown;

  constructor(store: LicenseWrites, world: PlacesWorld) {
    this.store = store;
    this.#world = world;
    this.#width = world.concurrency;
    this.#limit = limiter(() => this.#width);
    this.#pending = new PendingWrites(world, this.#run, {
      load: () => this.#load(),
      end: (id, what) => this.end(id, what),
      isSilent: () => this.#silencesInRow > world.retries,
    });
    store.watchSilences(() => this.#slowDown());
  }

  elapsed(): Milliseconds {
    return this.#world.elapsed();
  }

  /** A request that only reads, with as many beside it as the server answers. @throws as `work` */
  async read<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await this.#limit(work);
      this.#answered();
      return result;
    } catch (cause) {
      if (cause instanceof Failure && cause.kind === 'unavailable') this.#silencesInRow += 1;
      else if (cause instanceof Failure) this.#answered();
      throw cause;
    }
  }

  /** Records how a write ended. */
  async end(id: string, what: WriteEnd): Promise<void> {
    await orWarn(this.store.end(id, what), this.#world.warn, unrecorded);
  }

  /** Whether that is why nothing more can be recorded, and sent. */
  isBrokenBy(cause: unknown): boolean {
    return this.#broken === cause;
  }

  /** Waits where the run has to be quiet, so that it is known what became of writes that ran out of time. */
  ready(): Promise<void> {
    return this.#pending.ready();
  }

  /**
   * Looks for a write until it is known what became of it; one that was not processed is to be ended by the caller.
   * @throws Failure of lookups without an answer
   */
  settle(
    lost: Unanswered,
    look: () => Promise<WriteSight>,
    shown: WriteEnd = { is: 'shown' },
  ): Promise<'shown' | 'not carried out'> {
    return this.#pending.settle(lost, look, shown);
  }

  /**
   * Sends a write, recorded before each attempt; `lost`: it had no answer, and is to be settled.
   * @throws Failure of a request that changed nothing, or was not sent
   */
  async send<T>(
    users: readonly UserName[],
    asked: AskedWrite,
    request: (before: () => Promise<void>) => Promise<Sent<T>>,
  ): Promise<{ readonly id: string; readonly value: T; readonly lost: Unanswered | undefined }> {
    const { elapsed } = this.#world;
    const id = this.store.newId();
    let sent: Milliseconds | undefined;
    const before = async (): Promise<void> => {
      try {
        await this.store.begin({ id, users, asked });
      } catch (cause) {
        this.#broken ??= cause;
        throw cause;
      }
      sent = elapsed();
    };
    const ended = async (end: WriteEnd): Promise<void> => {
      if (sent !== undefined) await this.end(id, end);
    };
    this.#run.underWay += 1;
    this.#run.begun += 1;
    try {
      const { value, end } = await this.#limit(() =>
        request(before).catch(async (cause: unknown) => {
          await ended({ is: 'refused' });
          throw cause;
        }),
      );
      this.#run.last = elapsed();
      if (end !== 'no answer') {
        this.#answered();
        this.#pending.passed(sent ?? elapsed());
        await ended(end);
        return { id, value, lost: undefined };
      }
      const load = await this.#load();
      await ended({ is: 'no answer', n: load.n });
      return { id, value, lost: { id, sent: sent ?? elapsed(), ended: this.#run.last, load } };
    } finally {
      this.#run.underWay -= 1;
      this.#run.last = elapsed();
    }
  }

  /** Where other runs cannot be seen any more, what this run knows. */
  async #load(): Promise<ServerLoad> {
    try {
      return await this.store.load();
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      return { n: this.#run.underWay + this.#pending.size, settle: this.#world.settle, latest: [] };
    }
  }

  #answered(): void {
    this.store.answered();
    this.#silencesInRow = 0;
    this.#answersInRow += 1;
    if (this.#width >= this.#world.concurrency || this.#answersInRow < answersForPlace) return;
    this.#answersInRow = 0;
    this.#width += 1;
  }

  #slowDown(): void {
    this.#width = 1;
    this.#answersInRow = 0;
  }
}
