import type { AnsweredCreation, Creation } from '../../api/licensing/license-writes.ts';
import type { License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { noWrites, type KnownWrites } from '../../store/record/writes.ts';
import type { LookupResult } from './application-lookups.ts';
import type { AnsweredKey } from './lookups.ts';
import type { KnownCreation } from './step.ts';

/** One user who is to have a license, and all that is known. A value: each event makes a new one. */
export interface Case {
  readonly asked: LicenseFields;
  /** The user's writes in the record; undefined until the user is locked. */
  readonly recorded: KnownWrites | undefined;
  /** The last lookup; none after a POST. */
  readonly seen: SeenUser | undefined;
  /** What the history has. Undefined: nothing, or not asked yet. */
  readonly known: KnownCreation | undefined;
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
  /** A request after which nothing is left to decide. */
  readonly last: LastRequest | undefined;
}

export interface SentCreation {
  /** In the record of writes. */
  readonly id: string;
  /** When it ended, on the clock `elapsed`. */
  readonly at: Milliseconds;
  /** `interrupted`: it may have been sent. */
  readonly creation: Creation | 'interrupted';
}

export interface SeenUser {
  /** A `hint` was read before the lock: it finds what is right, and decides nothing else. */
  readonly by: 'hint' | 'lookup';
  /** Whether it was sent so late that what it does not show was not processed, or is not shown at all. */
  readonly isSettled: boolean;
  readonly result: LookupResult | { readonly shows: 'no answer'; readonly failure: Failure };
}

type LastRequest =
  | { readonly event: 'resized'; readonly license: License; readonly listed: License }
  /** `unknown`: it may have been processed all the same. */
  | { readonly event: 'refused' | 'unknown'; readonly failure: Failure; readonly listed?: License | undefined };

export type CaseEvent =
  | { readonly event: 'locked'; readonly recorded: KnownWrites }
  | { readonly event: 'agreed' }
  | { readonly event: 'recalled'; readonly known: KnownCreation }
  | { readonly event: 'looked up'; readonly seen: SeenUser }
  | { readonly event: 'posted'; readonly sent: SentCreation; readonly before: Case['before'] }
  | { readonly event: 'key viewed'; readonly key: AnsweredKey }
  /** A PATCH without an answer was not processed. */
  | { readonly event: 'resize lost' }
  | LastRequest;

export function caseOf(asked: LicenseFields, seen?: SeenUser): Case {
  const unsent = { sent: undefined, before: undefined, key: undefined, last: undefined };
  return { ...unsent, asked, seen, recorded: undefined, known: undefined, agreedOn: undefined, unanswered: 0 };
}

export function after(one: Case, event: CaseEvent): Case {
  switch (event.event) {
    case 'locked': {
      const unanswered = event.recorded.pending.map(({ asked }) => asked.unanswered + 1);
      const seen = one.seen && ({ ...one.seen, by: 'hint', isSettled: false } as const);
      return { ...one, seen, recorded: event.recorded, unanswered: Math.max(0, ...unanswered) };
    }
    case 'agreed':
      return { ...one, agreedOn: countIn(one.seen?.result) };
    case 'recalled':
      return { ...one, known: event.known };
    case 'looked up':
      return { ...one, seen: event.seen };
    case 'posted': {
      const { sent, before } = event;
      const unanswered = one.unanswered + (answerOf(event) ? 0 : 1);
      return { ...one, recorded: noWrites, seen: undefined, sent, before, unanswered };
    }
    case 'key viewed':
      return { ...one, key: event.key };
    case 'resize lost':
      return { ...one, unanswered: one.unanswered + 1 };
    default:
      return { ...one, last: event };
  }
}

/** The server's answer to the last POST of this run. */
export function answerOf({ sent }: Pick<Case, 'sent'>): AnsweredCreation | undefined {
  if (!sent || sent.creation === 'interrupted' || sent.creation.state !== 'answered') return undefined;
  return sent.creation;
}

/** The license of an answer that names what was asked for. */
export function answeredLicense(one: Case): License | undefined {
  const answer = answerOf(one);
  return answer?.license_is === 'as asked' ? answer.license : undefined;
}

/** How many licenses of the very name a lookup shows. */
export function countIn(result: SeenUser['result'] | undefined): number {
  return result?.shows === 'licenses' ? result.licenses.length : 0;
}
