/** One user who is to have a license, what is known of it, and what can follow: values, each event makes a new one. */
import type { AnsweredCreation, Creation } from '../../api/licensing/license-writes.ts';
import type { License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import { noWrites, unsettled, type KnownWrites, type OpenWrite } from '../../store/record/writes.ts';
import type { LookupResult } from './application-lookups.ts';
import type { Licenses } from './license-user.ts';
import type { AnsweredKey } from './lookups.ts';

export interface Rules {
  /** How long after an unanswered write the server may still process it, and hide from its list what it created. */
  readonly settle: Milliseconds;
  readonly retries: number;
  readonly wants: 'one license' | 'another license';
  /** Whether a license of a near name lets a new one be created (`--allow-similar`). */
  readonly similar: 'refuse' | 'allow';
  /** Users whose POST is sent, once, although an earlier one was answered (`--send-again`). */
  readonly sendAgain: ReadonlySet<string>;
  /** Whether a person is asked before another license is created. */
  readonly asks?: boolean | undefined;
  /** How a step differs from a plan that is carried out as it was read, or that a person agreed to. */
  readonly differs?: ((asked: LicenseFields, step: Acting) => string | undefined) | undefined;
}

export interface Case {
  readonly asked: LicenseFields;
  /** The user's writes in the record; undefined until the user is locked. */
  readonly recorded: KnownWrites | undefined;
  /** The last lookup; none after a POST. */
  readonly seen: SeenUser | undefined;
  /** The license that the history has of a user of whom a lookup shows none. */
  readonly known: HistoryEntry | undefined;
  /** How many licenses were known when another one was agreed to (`license create`). */
  readonly agreedOn: number | undefined;
  /** The last POST of this run. */
  readonly sent: SentCreation | undefined;
  /** The licenses that were there before the first POST of this run; undefined: that is not known. */
  readonly before: ReadonlySet<string> | undefined;
  /** Writes in a row without an answer, those of earlier runs included. */
  readonly unanswered: number;
  /** The response to a GET of the answered key. */
  readonly key: AnsweredKey | undefined;
}

export interface SentCreation {
  /** In the record of writes. */
  readonly id: string;
  /** When it ended, on the clock `elapsed`. */
  readonly at: Milliseconds;
  readonly creation: Creation;
}

export interface SeenUser {
  /** A `hint` was read before the lock: it finds what is right, and decides nothing else. */
  readonly by: 'hint' | 'lookup';
  /** Whether it was sent so late that what it does not show was not processed, or is not shown at all. */
  readonly isSettled: boolean;
  readonly result: LookupResult | { readonly shows: 'no answer'; readonly failure: Failure };
}

export function caseOf(asked: LicenseFields, seen?: SeenUser): Case {
  const unsent = { sent: undefined, before: undefined, key: undefined, recorded: undefined, known: undefined };
  return { ...unsent, asked, seen, agreedOn: undefined, unanswered: 0 };
}

/** The user is locked: what was seen before is a hint. */
export function locked(one: Case, recorded: KnownWrites): Case {
  const unanswered = unsettled(recorded.pending).map(({ asked }) => asked.unanswered + 1);
  const seen = one.seen && ({ ...one.seen, by: 'hint', isSettled: false } as const);
  return { ...one, recorded, seen, unanswered: Math.max(0, ...unanswered) };
}

/** A POST has ended; what was known before it counts no more, but for the end of the key of an open answer. */
export function posted(one: Case, sent: SentCreation, before: Case['before']): Case {
  const unanswered = one.unanswered + (answerOf({ sent }) ? 0 : 1);
  // One object: a large run has it for each row.
  const recorded = one.recorded?.open ? { ...one.recorded, pending: [] } : noWrites;
  return { ...one, recorded, seen: undefined, sent, before, unanswered };
}

/** The server's answer to the last POST of this run. */
export function answerOf({ sent }: Pick<Case, 'sent'>): AnsweredCreation | undefined {
  return sent?.creation.state === 'answered' ? sent.creation : undefined;
}

/** The license of an answer that names what was asked for. */
export function answeredLicense(one: Case): License | undefined {
  const answer = answerOf(one);
  return answer?.license_is === 'as asked' ? answer.license : undefined;
}

/** The license of that answer, by its key where the list shows it. */
export function madeBy({ key_end }: OpenWrite, licenses: readonly License[]): License | undefined {
  return licenses.find(({ key }) => key_end !== undefined && key?.endsWith(key_end)) ?? licenses[0];
}

/** How many licenses of the exact name a lookup shows. */
export function countIn(result: SeenUser['result'] | undefined): number {
  return result?.shows === 'licenses' ? result.licenses.length : 0;
}

/** What is to happen for a user next. */
export type Step =
  | { readonly do: 'lock' }
  /** A person hears what the lookup shows before another license is created. */
  | { readonly do: 'ask' }
  | LookUpStep
  /** A GET of the answered key, which no lookup shows. */
  | { readonly do: 'view key'; readonly code: string }
  /** `before`: the licenses that are there; undefined: that is not known. */
  | { readonly do: 'create'; readonly before: ReadonlySet<string> | undefined }
  | { readonly do: 'resize'; readonly license: License; readonly licenses: Licenses }
  | End;

/**
 * `when due`: until an earlier request is shown, or it is known that it was not processed. `with others`: what was
 * answered, in one list with all that wait.
 */
export interface LookUpStep {
  readonly do: 'look up';
  readonly when: 'now' | 'when due' | 'with others';
}

/** One object: a plan has it for each row. */
export const lookUpNow: LookUpStep = { do: 'look up', when: 'now' };

export type End = Met | Unmet;

/** `licenses`: all that a list shows; without them no list could be read (`unread`), and what was answered counts. */
interface Met {
  readonly do: 'end';
  readonly outcome: 'created' | 'resized' | 'unchanged';
  readonly license: License;
  readonly licenses?: Licenses | undefined;
  readonly unread?: Failure | undefined;
  /** The name under which the server keeps the license. */
  readonly storedAs?: string | undefined;
}

export interface Unmet {
  readonly do: 'end';
  readonly outcome: 'failed' | 'unknown';
  readonly why: Why;
  readonly license?: License | undefined;
}

/** A step that makes a license as it was asked for, or finds it so. */
export type Acting = Extract<Step, { readonly do: 'create' | 'resize' }> | Met;

/** Why a user has no license, or may have none. */
export type Why =
  /** `unread`: no lookup was answered; `stopped`: the run ended first. */
  | { readonly is: 'incomplete' | 'unread' | 'refused'; readonly failure: Failure }
  | { readonly is: 'stopped'; readonly failure?: Failure | undefined }
  | { readonly is: 'similar'; readonly near: License }
  /** An earlier run was answered, and no list shows the license; a similar name, perhaps. */
  | { readonly is: 'open'; readonly answer: OpenWrite; readonly near: License | undefined }
  /** A run that shares the history created it. */
  | { readonly is: 'created before'; readonly known: HistoryEntry }
  | { readonly is: 'differs'; readonly text: string }
  | { readonly is: 'others'; readonly added: readonly License[] }
  | { readonly is: 'used up'; readonly sent: number }
  /** `key`: what a GET of the answered key says. */
  | { readonly is: 'not shown'; readonly key?: AnsweredKey | undefined }
  | { readonly is: 'nothing before' };
