import type { Deciding } from '../../api/http/call.ts';
import type { License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Queue } from '../../store/queue.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import type { OpenAnswer } from '../../store/request-history.ts';
import type { Licenses } from './license-user.ts';

export interface Rules {
  /** How long after an unanswered POST the server may still carry it out, and hide from its list what it created. */
  readonly settle: Milliseconds;
  readonly retries: number;
  readonly wants: 'one license' | 'another license';
  /** Whether a license of a near name lets a new one be created (`--allow-similar`). */
  readonly similar: 'refuse' | 'allow';
  /** Whether a list without a total counts, and a name that the filter may misread (`--trust-list`). */
  readonly uncounted: 'refuse' | 'trust';
  /** Whether a license is created again that the history has (`--recreate`). */
  readonly recreate: 'refuse' | 'allow';
  /** Users whose POST is sent, once, although an earlier one was answered (`--send-again`). */
  readonly sendAgain: ReadonlySet<string>;
  /** How a step differs from a plan that is carried out as it was read. */
  readonly differs?: ((asked: LicenseFields, step: Acting) => string | undefined) | undefined;
}

/** What is to happen for a user next. */
export type Step =
  /** `ask`: a person hears what the lookup shows before another license is created. */
  | { readonly do: 'claim' | 'wait for others' | 'ask' }
  /** `now`: this user alone; else in one list with all who wait. `deciding`: an older answer settles nothing. */
  | { readonly do: 'look up'; readonly due: 'now' | 'with others' | Milliseconds; readonly deciding?: Deciding }
  /** `before`: the licenses that are there; undefined: that is not known. */
  | { readonly do: 'create'; readonly before: ReadonlySet<string> | undefined }
  | { readonly do: 'resize'; readonly license: License; readonly licenses: Licenses }
  | End;

export type LookUpStep = Extract<Step, { readonly do: 'look up' }>;

/** One object: a plan has it for each row. */
export const lookUpNow: LookUpStep = { do: 'look up', due: 'now' };

export type End = Met | Unmet;

/** `licenses`: all that a list shows; without them no list could be read (`unread`), and what was answered counts. */
interface Met {
  readonly do: 'end';
  readonly outcome: 'created' | 'resized' | 'unchanged';
  readonly license: License;
  readonly licenses?: Licenses | undefined;
  readonly unread?: Failure | undefined;
}

export interface Unmet {
  readonly do: 'end';
  readonly outcome: 'failed' | 'unknown';
  readonly why: Why;
  readonly license?: License | undefined;
}

/** A step that makes a license as it was asked for, or finds it so. */
export type Acting = Extract<Step, { readonly do: 'create' | 'resize' }> | Met;

/** A license of a user that the history has, though no lookup shows it. */
export interface KnownCreation extends Pick<HistoryEntry, 'time' | 'run' | 'license_code_end'> {
  readonly isReset: boolean;
}

/** Why a user has no license, or may have none. */
export type Why =
  /** `unread`: no lookup was answered; `stopped`: the run ended first. */
  | { readonly is: 'incomplete' | 'unread' | 'refused'; readonly failure: Failure }
  | { readonly is: 'stopped'; readonly failure?: Failure | undefined }
  | { readonly is: 'similar'; readonly near: License }
  /** An earlier run was answered, and no list shows the license; a similar name, perhaps. */
  | { readonly is: 'open'; readonly answer: OpenAnswer; readonly near: License | undefined }
  /** This computer, or one that shares the ledger, created it; `isReset`: other known users are not shown either. */
  | { readonly is: 'created before'; readonly known: KnownCreation }
  | { readonly is: 'may be cut'; readonly count: number }
  | { readonly is: 'misread'; readonly sign: string }
  | { readonly is: 'differs'; readonly text: string }
  | { readonly is: 'others'; readonly added: readonly License[] }
  | { readonly is: 'used up'; readonly posts: number }
  | { readonly is: 'not shown' | 'nothing before' | 'filter ignored' };

/** No request is pending. */
export const idle: Queue = { pending: 0, until: 0, isSlow: false };
