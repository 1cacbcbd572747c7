/** One user who is to have a license: what is known so far, and which steps can follow. Each event makes a new Case. */
import type { AnsweredCreation, Creation } from '../../api/licensing/license-writes.ts';
import { hasKeyEnd, type License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import { noWrites, unsettled, type KnownWrites, type OpenWrite } from '../../store/record/writes.ts';
import type { LookupResult } from './application-lookups.ts';
import type { Licenses } from './license-user.ts';
import type { ViewedKey } from './lookups.ts';

export interface Rules {
  /** How long after an unanswered write the server may still process it, or hide the license from its list. */
  readonly settle: Milliseconds;
  readonly retries: number;
  readonly wants: 'one license' | 'another license';
  /** Whether a license of a near name lets a new one be created (`--allow-similar`). */
  readonly similar: 'refuse' | 'allow';
  /** Users whose POST is sent, once, although an earlier one was answered (`--send-again`). */
  readonly sendAgain: ReadonlySet<string>;
  /** Whether a person is asked before another license is created. */
  readonly asks?: boolean | undefined;
  /** Says how a step differs from the plan that a person has read or agreed to; undefined where it does not. */
  readonly differs?: ((asked: LicenseFields, step: Acting) => string | undefined) | undefined;
}

export interface Case {
  readonly asked: LicenseFields;
  /** The user's writes in the record; undefined until the user is locked. */
  readonly recorded: KnownWrites | undefined;
  /** The last lookup; undefined after a POST, until the next one. */
  readonly seen: SeenUser | undefined;
  /** The creation that the history has for this user, if no lookup shows a license. */
  readonly known: HistoryEntry | undefined;
  /** How many licenses were known when another one was agreed to (`license create`). */
  readonly agreedOn: number | undefined;
  /** The last POST of this run. */
  readonly sent: SentCreation | undefined;
  /** Identities of the licenses that were there before the first POST of this run; undefined if that is not known. */
  readonly before: ReadonlySet<string> | undefined;
  /** Writes in a row without an answer, those of earlier runs included. */
  readonly unanswered: number;
  /** The response to a GET of the answered key. */
  readonly key: ViewedKey | undefined;
}

export interface SentCreation {
  /** Names the POST in the record of writes. */
  readonly id: string;
  /** When the POST ended, on the clock `elapsed`. */
  readonly at: Milliseconds;
  readonly creation: Creation;
}

export interface SeenUser {
  /** A `hint` was read before the lock: it can find a license that fits, but is no proof that there is none. */
  readonly by: 'hint' | 'lookup';
  /** Whether the lookup was sent so late that a request which it does not show was not processed, or stays hidden. */
  readonly isSettled: boolean;
  readonly result: LookupResult | { readonly shows: 'no answer'; readonly failure: Failure };
}

export function caseOf(asked: LicenseFields, seen?: SeenUser): Case {
  const unsent = { sent: undefined, before: undefined, key: undefined, recorded: undefined, known: undefined };
  return { ...unsent, asked, seen, agreedOn: undefined, unanswered: 0 };
}

/** The case once its user is locked: a lookup from before the lock is only a hint. */
export function locked(one: Case, recorded: KnownWrites): Case {
  const unanswered = unsettled(recorded.pending).map(({ asked }) => asked.unanswered + 1);
  const seen = one.seen && ({ ...one.seen, by: 'hint', isSettled: false } as const);
  return { ...one, recorded, seen, unanswered: Math.max(0, ...unanswered) };
}

/** The case once a POST has ended: earlier lookups and writes count no more, except an earlier answer that is open. */
export function posted(one: Case, sent: SentCreation, before: Case['before']): Case {
  const unanswered = one.unanswered + (answerOf({ sent }) ? 0 : 1);
  // `noWrites` is one shared object, since a large run has it for each row.
  const recorded = one.recorded?.open ? { ...one.recorded, pending: [] } : noWrites;
  return { ...one, recorded, seen: undefined, sent, before, unanswered };
}

/** The server's answer to the last POST of this run. */
export function answerOf({ sent }: Pick<Case, 'sent'>): AnsweredCreation | undefined {
  return sent?.creation.state === 'answered' ? sent.creation : undefined;
}

/** The license in the answer, if it has a key and is the one that was requested. */
export function answeredLicense(one: Case): License | undefined {
  const answer = answerOf(one);
  return answer?.license_is === 'as asked' ? answer.license : undefined;
}

/** The listed license that an open answer created: the one with the answered key, else the first. */
export function madeBy({ key_end }: OpenWrite, licenses: readonly License[]): License | undefined {
  return licenses.find((license) => hasKeyEnd(license, key_end)) ?? licenses[0];
}

/** How many licenses of the exact name a lookup shows. */
export function countIn(result: SeenUser['result'] | undefined): number {
  return result?.shows === 'licenses' ? result.licenses.length : 0;
}

/** The next thing to do for a user. */
export type Step =
  | { readonly do: 'lock' }
  /** A person hears what the lookup shows before another license is created. */
  | { readonly do: 'ask' }
  | LookUpStep
  /** A GET of the answered key, which no lookup shows. */
  | { readonly do: 'view key'; readonly code: string }
  /** `before`: identities of the licenses that are there now; undefined if that is not known. */
  | { readonly do: 'create'; readonly before: ReadonlySet<string> | undefined }
  | { readonly do: 'resize'; readonly license: License; readonly licenses: Licenses }
  | End;

/**
 * `when due`: until a lookup shows the earlier request, or proves that it was not processed. `with others`: in one list
 * for all users whose requests were answered.
 */
export interface LookUpStep {
  readonly do: 'look up';
  readonly when: 'now' | 'when due' | 'with others';
}

/** One shared object, since a plan has it in many rows. */
export const lookUpNow: LookUpStep = { do: 'look up', when: 'now' };

export type End = Met | Unmet;

/** `licenses`: all that a list shows; without a list (`unread` says why) the answered license counts. */
interface Met {
  readonly do: 'end';
  readonly outcome: 'created' | 'resized' | 'unchanged';
  readonly license: License;
  readonly licenses?: Licenses | undefined;
  readonly unread?: Failure | undefined;
  /** The name under which the server stores the license, if it is not the requested one. */
  readonly storedAs?: string | undefined;
}

export interface Unmet {
  readonly do: 'end';
  readonly outcome: 'failed' | 'unknown';
  readonly why: Why;
  readonly license?: License | undefined;
}

/** A step that creates or resizes a license, or finds it as requested. */
export type Acting = Extract<Step, { readonly do: 'create' | 'resize' }> | Met;

/** Why a user has no license, or may have none. */
export type Why =
  /** `unread`: no lookup was answered; `stopped`: the run ended first. */
  | { readonly is: 'incomplete' | 'unread' | 'refused'; readonly failure: Failure }
  | { readonly is: 'stopped'; readonly failure?: Failure | undefined }
  | { readonly is: 'similar'; readonly near: License }
  /** An earlier run was answered, but no list shows the license; `near`: a license of a similar name. */
  | { readonly is: 'open'; readonly answer: OpenWrite; readonly near: License | undefined }
  /** A run that shares the history created a license for this user. */
  | { readonly is: 'created before'; readonly known: HistoryEntry }
  | { readonly is: 'differs'; readonly text: string }
  | { readonly is: 'others'; readonly added: readonly License[] }
  | { readonly is: 'used up'; readonly sent: number }
  /** `key`: the response to a GET of the answered key. */
  | { readonly is: 'not shown'; readonly key?: ViewedKey | undefined }
  | { readonly is: 'nothing before' };
