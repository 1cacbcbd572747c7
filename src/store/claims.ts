import type { Milliseconds } from '../core/duration.ts';
import type { Failure } from '../core/failure.ts';
import type { PostEnd, RequestHistories } from './request-history.ts';

/**
 * Who is creating licenses of one application, and when one was last asked for (docs/exactly-once.md, Claims).
 * A claim is taken before the list is read, so that nobody plans on a list that another process is changing.
 */
export interface Claims {
  /**
   * Waits while a living process holds one. Histories are on the clock `elapsed` of this process; one that died
   * holding a user counts as asking now.
   * @throws Failure unavailable when the wait is over, config when no folder can be written or a file is damaged
   */
  take(users: readonly string[]): Promise<RequestHistories>;
  /**
   * Called before each POST for the user. Claims of one machine need no record: they see that a process has died.
   * @param soon claimed users for whom one is about to be sent too, so that one statement records them all
   * @throws Failure where the claim is lost: then nothing may be sent
   */
  posting(user: string, soon?: () => readonly string[]): Promise<void>;
  /** Records at once how a POST ended; its user stays claimed. An answer stays open until a release confirms it. */
  ended(user: string, end: PostEnd): Promise<void>;
  /** Gives users back. A user that is never given back counts as abandoned once this process has ended. */
  release(users: readonly ReleasedUser[]): Promise<void>;
}

export interface ReleasedUser {
  readonly remote_user: string;
  /** A list has shown the license: no answer is open any more. */
  readonly isConfirmed?: boolean | undefined;
}

export interface ClaimOptions {
  /** How long a POST is remembered; at least a day. */
  readonly settle: Milliseconds;
  readonly signal: AbortSignal;
  /** Receives one line when there is something to wait for. */
  readonly note: (text: string) => void;
}

export interface BusyUsers {
  readonly count: number;
  readonly holder: string | undefined;
}

/** Claims of this machine; a job can take those that are free, and look at the others later. */
export interface LocalClaims extends Claims {
  /** How many of the users somebody else holds without an answer that is recorded. Claims nothing. */
  busy(users: readonly string[]): Promise<BusyUsers>;
  /** Claims those that no other process here holds; moments are on `elapsed`. @throws Failure config, unavailable */
  takeFree(users: readonly string[]): Promise<FreeUsers>;
}

/** Claims that several machines share; a job can take those that are free, and look at the others later. */
export interface SharedClaims extends Claims {
  /** Claims those that nobody else holds, without waiting; on the clock of the ledger. @throws Failure unavailable */
  takeFree(users: readonly string[]): Promise<TakenUsers>;
  /** As `LocalClaims.busy`; `now` is a moment before that look, by the clock of `takeFree`. */
  busy(users: readonly string[]): Promise<BusyUsers & { readonly now: Milliseconds }>;
  /** Why the claims are lost, so that nothing more may be created; undefined while they are not. */
  lost(): Failure | undefined;
}

export interface FreeUsers {
  /** Of the users that are claimed; `posted` is later than now where a POST of an ended session may still run. */
  readonly histories: RequestHistories;
  readonly held: readonly string[];
  readonly holder: string | undefined;
}

export interface TakenUsers extends FreeUsers {
  /** The moment after which nobody else has claimed these users, by the clock of their histories. */
  readonly now: Milliseconds;
}

export function areShared(claims: Claims): claims is SharedClaims {
  return 'lost' in claims;
}

const day: Milliseconds = 86_400_000;

export function rememberedFor(settle: Milliseconds): Milliseconds {
  return Math.max(settle, day);
}
