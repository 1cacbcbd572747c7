/**
 * The writes of one run at one server (docs/exactly-once.md, A place for each write). A write without an answer keeps
 * its place among those of the run until it is known what became of it.
 */
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseWrites } from '../../store/record/joined-writes.ts';
import type { AskedWrite, LicenseUser, WriteEnd } from '../../store/record/writes.ts';
import { limiter } from '../../core/batch.ts';
import { PendingWrites, type PlacesWorld, type Unanswered, type WriteSight } from './pending-writes.ts';

/** How a request ended, as its sender judges the response; the sender throws where certainly nothing was changed. */
export type Sent<T> = { readonly value: T } & (
  | { readonly end: Extract<WriteEnd, { readonly is: 'answered' | 'shown' }> }
  /** `not sent`: the run had stopped when a place was free. */
  | { readonly end: 'no answer' | 'not sent' }
);

/** After a request without an answer, every ten answers in a row allow one more request at a time. */
const answersForPlace = 10;

/** Where lookups wait for their turn: one by the filter waits for a place (`read`), a list that many share does not. */
export type LookupPlaces = Pick<Places, 'read' | 'look'>;

export const anyPlace: LookupPlaces = { read: (work) => work(), look: (work) => work() };

export class Places {
  readonly store: LicenseWrites;
  readonly pending: PendingWrites;
  readonly world: PlacesWorld;
  /** The places of the run; a write without an answer keeps its place. */
  readonly #limit: ReturnType<typeof limiter>;
  /** The requests that may be under way at once: one after a silence, then more as the server answers. */
  readonly #request: ReturnType<typeof limiter>;
  #width: number;
  /** How many writes without an answer keep their places. */
  #unsettled = 0;
  #answersInRow = 0;

  constructor(store: LicenseWrites, world: PlacesWorld) {
    this.store = store;
    this.world = world;
    this.#width = world.concurrency;
    this.#limit = limiter(() => world.concurrency - this.#unsettled);
    this.#request = limiter(() => this.#width);
    this.pending = new PendingWrites(store, world);
    store.watchSilences((load) => {
      this.#width = 1;
      this.#answersInRow = 0;
      this.pending.count(load);
    });
  }

  /** A request that only reads, in a place of its own. @throws as `work` */
  readonly read = <T>(work: () => Promise<T>): Promise<T> => this.#limit(() => this.look(work));

  /** A request that looks for a write without an answer, in the place of that write. @throws as `work` */
  readonly look = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const result = await this.#request(work);
      this.#answered();
      return result;
    } catch (cause) {
      this.#threw(cause);
      throw cause;
    }
  };

  /** Whether the failure ends the run: nothing can be recorded any more, or the server does not answer. */
  isEndedBy(cause: Failure): boolean {
    return this.store.failure === cause || (cause.kind === 'unavailable' && this.pending.isSilent);
  }

  /**
   * Sends a write, recorded before each attempt; `lost`: the write had no answer, and the caller settles it.
   * @throws Failure of a request that changed nothing
   */
  async send<T>(
    users: readonly LicenseUser[],
    asked: AskedWrite,
    request: (before: () => Promise<void>) => Promise<Sent<T>>,
  ): Promise<{ readonly id: string; readonly value: T; readonly lost: Unanswered | undefined }> {
    const { elapsed } = this.world;
    const { pending } = this;
    const { run } = pending;
    const id = this.store.newId();
    let sent: Milliseconds | undefined;
    const before = async (): Promise<void> => {
      await this.store.begin(id, users, asked);
      sent = elapsed();
    };
    const ended = (end: WriteEnd): void => {
      if (sent !== undefined) pending.end(id, end);
    };
    return this.#limit(async () => {
      run.underWay += 1;
      try {
        const { value, end } = await this.#request(() => request(before));
        if (end === 'not sent') return { id, value, lost: undefined };
        run.last = elapsed();
        if (end !== 'no answer') {
          this.#answered();
          pending.passed(sent ?? elapsed());
          ended(end);
          return { id, value, lost: undefined };
        }
        this.#unsettled += 1;
        const load = await this.store.load();
        ended({ is: 'no answer', n: load.n });
        return { id, value, lost: { id, sent: sent ?? elapsed(), ended: run.last, ...load } };
      } catch (cause) {
        this.#threw(cause);
        // An error that is no Failure does not tell whether the request was processed.
        if (cause instanceof Failure) ended({ is: 'refused' });
        throw cause;
      } finally {
        run.underWay -= 1;
        run.last = elapsed();
      }
    });
  }

  /** Settles a write as `PendingWrites.settle` does, then gives its place back. */
  async settle(lost: Unanswered, look: () => Promise<WriteSight>): Promise<'shown' | 'not processed'> {
    try {
      return await this.pending.settle(lost, look);
    } finally {
      this.leave();
    }
  }

  /** Gives back the place of a write without an answer, and starts a request that waits for one. */
  leave(): void {
    this.#unsettled -= 1;
    void this.#limit(() => undefined);
  }

  #threw(cause: unknown): void {
    if (!(cause instanceof Failure)) return;
    const isAnswered = cause.kind !== 'unavailable' || cause.details.http?.status === 429;
    if (isAnswered) this.#answered();
    else this.pending.heard('silence');
  }

  #answered(): void {
    this.pending.heard('answer');
    this.#answersInRow += 1;
    if (this.#width >= this.world.concurrency || this.#answersInRow < answersForPlace) return;
    this.#answersInRow = 0;
    this.#width += 1;
  }
}
