/** The parts of a run that giving licenses needs (`GivePorts`), and whether the run goes on (`RunState`). */
import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import type { License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure, type FailureKind } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Rules } from './case.ts';
import type { Creations, LicenseHistory } from './history.ts';
import type { Lookups } from './lookups.ts';
import type { Places } from './places.ts';

export interface GivePorts {
  readonly state: RunState;
  readonly rules: Rules;
  readonly concurrency: number;
  readonly licensing: (app_code: number) => LicensingApi;
  readonly lookups: Lookups;
  readonly placesOf: (app_code: number) => Places;
  readonly creations: Creations;
  readonly history: LicenseHistory;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  readonly now: () => Milliseconds;
  readonly elapsed: () => Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly say: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Tells why another license may not be wanted; rejects where a person does not want it. */
  readonly agree?: ((reason: string) => Promise<void>) | undefined;
  /** Warns, before the first POST for a user, that a license of this user was renamed or retired. */
  readonly warnOfFormer?: ((asked: LicenseFields) => Promise<void>) | undefined;
  /** Called when the server has answered a POST; no list has shown the license yet. */
  readonly answered?: ((creation: AnsweredCreation) => void) | undefined;
  /** Users for whom this run created a license, and who have several. */
  readonly several: Map<LicenseFields, readonly License[]>;
}

/** These kinds end a run with their own exit code, `config` only if nothing was changed before. */
export const fatalKinds: ReadonlySet<FailureKind> = new Set(['auth', 'config', 'internal', 'usage']);

/** Whether a run goes on. */
export class RunState {
  readonly #signal: AbortSignal;
  #stop: Failure | undefined;
  #isAbandoned = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Why it ended; undefined while it goes on. */
  get stopped(): Failure | undefined {
    const interruption =
      this.#signal.aborted && this.#signal.reason instanceof Failure ? this.#signal.reason : undefined;
    return this.#stop ?? interruption;
  }

  get isOver(): boolean {
    return this.#isAbandoned || this.stopped !== undefined;
  }

  /** The first failure ends the run; a refused key counts more than what else failed. */
  stop(failure: Failure): void {
    const isLess = this.#stop?.kind === 'config' || this.#stop?.kind === 'unavailable';
    if (!this.#stop || (failure.kind === 'auth' && isLess)) this.#stop = failure;
  }

  /** Nobody reads the results any more: rows in progress end, and no other is begun. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** Whether the failure of one row ends the run: a refused key, a full disk and an interruption do. */
  isEndedBy(cause: Failure): boolean {
    return fatalKinds.has(cause.kind) || cause.isInterruption || this.#signal.aborted;
  }
}
