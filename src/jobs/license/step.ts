import type { License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import type { OpenWrite } from '../../store/record/writes.ts';
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

/** What is to happen for a user next. */
export type Step =
  /** `ask`: a person hears what the lookup shows before another license is created. */
  | { readonly do: 'lock' }
  | { readonly do: 'ask' }
  | LookUpStep
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

/** A license of a user that the history has. */
export interface KnownCreation extends Pick<HistoryEntry, 'time' | 'run' | 'license_code_end'> {
  /** Whether other users of the history are not shown either. */
  readonly isReset: boolean;
}

/** Why a user has no license, or may have none. */
export type Why =
  /** `unread`: no lookup was answered; `stopped`: the run ended first. */
  | { readonly is: 'incomplete' | 'unread' | 'refused'; readonly failure: Failure }
  | { readonly is: 'stopped'; readonly failure?: Failure | undefined }
  | { readonly is: 'similar'; readonly near: License }
  /** An earlier run was answered, and no list shows the license; a similar name, perhaps. */
  | { readonly is: 'open'; readonly answer: OpenWrite; readonly near: License | undefined }
  /** A run that shares the history created it. */
  | { readonly is: 'created before'; readonly known: KnownCreation }
  | { readonly is: 'differs'; readonly text: string }
  | { readonly is: 'others'; readonly added: readonly License[] }
  | { readonly is: 'used up'; readonly sent: number }
  /** `key`: what a GET of the answered key says. */
  | { readonly is: 'not shown'; readonly key?: AnsweredKey | undefined }
  | { readonly is: 'nothing before' };
