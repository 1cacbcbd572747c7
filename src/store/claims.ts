import type { Milliseconds } from '../core/duration.ts';
import type { Failure } from '../core/failure.ts';
import { isObject } from '../core/json.ts';

/**
 * Which users of one application a process is creating licenses for, and when a license was last asked for (docs/exactly-once.md,
 * Claims). A claim is taken before the server's list is read, so that nobody plans on a list that another process is changing.
 */
export interface Claims {
  /**
   * Claims the users; waits while a living process holds one of them. Its moments are on the clock `elapsed` of this process. A process
   * that died holding a user counts as asking now.
   * @throws Failure unavailable when the wait is over, config when no folder can be written or the file is damaged
   */
  take(users: readonly string[]): Promise<PastPosts>;
  /**
   * Records that a POST for the user is about to be sent; called before each. Claims of one machine need no such record, since they see
   * that a process has died.
   * @param soon claimed users for whom one is about to be sent too, so that one statement records them all
   * @throws Failure where the claim is lost: then nothing may be sent
   */
  posting(user: string, soon?: () => readonly string[]): Promise<void>;
  /**
   * Records POSTs that were answered, as soon as that is known; their users stay claimed. What is recorded stays, whatever becomes of
   * this process, until a release says that a list has shown the license.
   */
  answered(answers: ReadonlyMap<string, OpenAnswer>): Promise<void>;
  /**
   * Gives users back, each with the time at which its last POST ended, if there was one. A user that is never given back counts as
   * abandoned once this process has ended.
   */
  release(users: readonly ReleasedUser[]): Promise<void>;
}

/** What earlier processes did for claimed users. */
export interface PastPosts {
  /** When a license was last asked for; a user for whom that is long ago is absent. */
  readonly posted: ReadonlyMap<string, Milliseconds>;
  /** How many POSTs in a row had no answer; absent: none. The ledger does not count them. */
  readonly unanswered?: ReadonlyMap<string, number>;
  /** Answered POSTs whose license no list has shown. */
  readonly answers: ReadonlyMap<string, OpenAnswer>;
}

/**
 * A POST that the server answered with a success, while no list has shown the license under the name that was sent: it is never sent
 * again unless somebody says so (docs/exactly-once.md, Answered is not confirmed). Kept without a limit of time.
 */
export interface OpenAnswer {
  /** The HTTP status of the answer. */
  readonly status: number;
  /** When it came, by the clock of the machine that sent the POST; it is shown to people and decides nothing. */
  readonly time: Milliseconds;
  /** The last four characters of the answered key; undefined where the answer had none. */
  readonly key_end?: string | undefined;
}

export function isOpenAnswer(value: unknown): value is OpenAnswer {
  if (!isObject(value)) return false;
  const { status, time, key_end } = value;
  return Number.isFinite(status) && Number.isFinite(time) && (key_end === undefined || typeof key_end === 'string');
}

export interface ReleasedUser {
  readonly remote_user: string;
  /** When the last POST for this user ended, whatever its outcome; by the clock of the machine, which the file of claims keeps. */
  readonly posted?: Milliseconds | undefined;
  /** How many POSTs had no answer, those of earlier runs included; counts only beside `posted`. */
  readonly unanswered?: number | undefined;
  /** True: a list has shown the license, so what is recorded of an answer is removed. */
  readonly isShown?: boolean | undefined;
}

export interface ClaimOptions {
  /** How long a POST is remembered; at least a day. */
  readonly settle: Milliseconds;
  readonly signal: AbortSignal;
  /** Receives one line when there is something to wait for. */
  readonly note: (text: string) => void;
}

/** Users for whom somebody else may still send a POST. */
export interface BusyUsers {
  readonly count: number;
  /** One of those who hold them, in words. */
  readonly holder: string | undefined;
}

/** Claims of this machine; a job can take those that are free, and look at the others later. */
export interface LocalClaims extends Claims {
  /** How many of the users somebody else holds without an answer that is recorded. Claims nothing. */
  busy(users: readonly string[]): Promise<BusyUsers>;
  /**
   * Claims those of the users that no other process of this machine holds, without waiting. Its moments are on the clock `elapsed`.
   * @throws Failure config, unavailable
   */
  takeFree(users: readonly string[]): Promise<FreeUsers>;
}

/** Claims that several machines share; a job can take those that are free, and look at the others later. */
export interface SharedClaims extends Claims {
  /**
   * Claims those of the users that nobody else holds, without waiting. Its moments are of the clock of the ledger.
   * @throws Failure unavailable
   */
  takeFree(users: readonly string[]): Promise<TakenUsers>;
  /** As `LocalClaims.busy`; `now` is a moment before that look, by the clock of `takeFree`. */
  busy(users: readonly string[]): Promise<BusyUsers & { readonly now: Milliseconds }>;
  /** Why the claims are lost, so that nothing more may be created; undefined while they are not. */
  lost(): Failure | undefined;
}

export interface FreeUsers extends PastPosts {
  /** For claimed users, when their last POST ended; it is later than now where a POST of an ended session may still run. */
  readonly posted: ReadonlyMap<string, Milliseconds>;
  /** The users that somebody else holds. */
  readonly held: readonly string[];
  /** One of those who hold them, in words. */
  readonly holder: string | undefined;
}

export interface TakenUsers extends FreeUsers {
  /** The moment after which nobody else has claimed these users, by the clock that `posted` is of. */
  readonly now: Milliseconds;
}

/** Whether several machines share these claims. */
export function areShared(claims: Claims): claims is SharedClaims {
  return 'lost' in claims;
}

const day: Milliseconds = 86_400_000;

/** How long a POST is remembered. */
export function rememberedFor(settle: Milliseconds): Milliseconds {
  return Math.max(settle, day);
}
