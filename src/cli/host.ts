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
  /** The terminal where a person answers, even if standard input is a pipe. */
  readonly terminal: {
    /** The process group, in which one process asks at a time: a pipeline, or the processes of xargs. */
    readonly group: number;
    /** True if input at the terminal is meant for this process. */
    isForeground(): boolean;
    /** The caller destroys it. `continued` is called when the process goes on after a stop, as by Ctrl-Z. */
    open(continued: () => void): Input;
  };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C and SIGTERM, with a Failure as reason. */
  readonly interrupt: AbortSignal;
  readonly version: string;
  /** Set by tests, in place of real connections. */
  readonly dispatcher?: Dispatcher;
  /** Set by tests: the most bytes of a response. */
  readonly bodyLimit?: number;
}
