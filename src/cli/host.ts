import type { Readable, Writable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Alarm, Clock, System } from '../core/system.ts';

export type Input = Readable & { readonly isTTY?: boolean };
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Everything outside the program, so that a test can hold all of it. */
export interface Host {
  readonly system: System;
  readonly clock: Clock;
  readonly alarm: Alarm;
  readonly stdin: Input;
  /** Where a person answers, also where standard input is a pipe. */
  readonly terminal: {
    /** The processes among which one asks at a time: a pipeline, or what xargs starts. */
    readonly group: number;
    /** Whether what is typed there is meant for this process. */
    isForeground(): boolean;
    /** For one answer: whoever opens it destroys it. */
    open(): Input;
  };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C and SIGTERM, with a Failure as reason. */
  readonly interrupt: AbortSignal;
  readonly version: string;
  /** In place of real connections, in tests. */
  readonly dispatcher?: Dispatcher;
  /** Most bytes of an answer; the real one is generous. */
  readonly bodyLimit?: number;
}
