import type { Dispatcher } from 'undici';
import type { Milliseconds } from '../../core/duration.ts';
import type { Secret } from '../../core/secret.ts';
import type { Alarm, Clock, Environment } from '../../core/system.ts';
import type { Answer } from './answer.ts';
import type { Gate, Repeat } from './retry.ts';

/** A URL path below the API's base, made by `path` of request.ts. `shown` hides secrets from traces and errors. */
export interface Path {
  readonly sent: string;
  readonly shown: string;
}

/** Names and texts of a query or form, in the order in which they are sent. */
export type Parameters = readonly (readonly [name: string, text: string | Secret])[];

export interface Call {
  readonly method: Dispatcher.HttpMethod;
  readonly path: Path;
  readonly query?: Parameters;
  readonly json?: unknown;
  readonly form?: Parameters;
  /** A body that is sent unchanged, in place of `json` and `form`; its file may be `-`, standard input. */
  readonly input?: Readonly<{ bytes: Uint8Array; file: string; contentType: string; shown: string }> | undefined;
  readonly repeat: Repeat;
  readonly timeout?: Milliseconds;
  /**
   * What a request in flight outlasts, since the next run depends on its answer: any interruption, or Ctrl-C until the
   * second one (event `again` of the signal). `earlier Ctrl-C`: the request is also sent after the first Ctrl-C.
   */
  readonly outlasts?: 'interruption' | 'Ctrl-C' | 'earlier Ctrl-C' | undefined;
  /** Called right before each attempt; where it fails the call ends with its failure, and that attempt is not sent. */
  readonly before?: (() => Promise<void>) | undefined;
  /** The call only reads, whatever its method, so a read-only profile and a dry run send it. */
  readonly isRead?: true;
  readonly download?: Download;
}

/** Takes the body of a 200, which is then not held in memory; called again at each attempt. */
export interface Download {
  /** The most bytes of the decompressed body; a longer one is Failure rejected, and not requested again. */
  readonly maxBytes: number;
  take(headers: Answer['headers'], body: AsyncIterable<Uint8Array>): Promise<void>;
}

export type Send = (call: Call) => Promise<Answer>;

/** A request that a dry run would have sent. */
export interface PlannedCall {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly content_type?: string;
    readonly headers?: string;
    readonly body?: string;
  };
  /** The URL as messages show it, without a license code. */
  readonly shown: string;
  readonly curl: string;
  /** Shell lines that read the key, where no variable holds it yet. */
  readonly setup: readonly string[];
  /** Variables that only the user can set. */
  readonly passwords: readonly string[];
}

export interface KeyVariable {
  readonly variable: string;
  /** The user of basic authentication; absent: the key is a token. */
  readonly user?: string;
  /** The variable of the header lines, where the account has some. */
  readonly headers?: string;
  /** The lines that set those variables that are not set. */
  readonly setup: readonly string[];
}

/** Ends a write of a dry run before it is sent. */
export class Planned extends Error {}

/** Makes a request that a dry run notes instead of sending it. */
export async function notePlanned(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (cause) {
    if (!(cause instanceof Planned)) throw cause;
  }
}

interface AttemptEvent {
  readonly method: string;
  readonly url: string;
  readonly attempt: number;
}

/** What happens on the wire, for `--verbose`, `--trace`, `--log` and a person who waits. */
export type WireEvent =
  | (AttemptEvent & {
      readonly kind: 'request';
      /** Without secrets; made when they are shown. */
      readonly headers: () => Record<string, string>;
      readonly body: string | undefined;
    })
  | (AttemptEvent & {
      readonly kind: 'answer';
      readonly answer: Answer;
      readonly isRead: boolean;
      readonly sealed: boolean;
      readonly took: Milliseconds;
    })
  | (AttemptEvent & { readonly kind: 'failure'; readonly message: string })
  | (Omit<AttemptEvent, 'attempt'> & { readonly kind: 'wait'; readonly span: Milliseconds; readonly why: string })
  /** A call has waited for ten seconds. */
  | { readonly kind: 'slow'; readonly host: string };

export interface Connection {
  /** Origin and path of the API, without a slash at its end. */
  readonly base: string;
  readonly authorization: Secret | undefined;
  readonly key: KeyVariable | undefined;
  readonly userAgent: string;
  /** Answers hold license codes: a trace shows only how long they are. */
  readonly sealed: boolean;
  readonly readOnly: boolean;
  /** What the account adds to every request, for an access proxy. */
  readonly headers: Readonly<Record<string, Secret>>;
  readonly clock: Clock;
  readonly alarm: Alarm;
  readonly signal: AbortSignal;
  readonly gate: Gate;
  readonly retries: number;
  readonly timeout: Milliseconds | undefined;
  readonly deadline: Milliseconds | undefined;
  /** Most bytes of a body that is held in memory, decompressed. */
  readonly bodyLimit: number;
  readonly surroundings: {
    readonly env: Environment;
    /** PEM file of authorities to trust besides the usual ones. */
    readonly caFile: string | undefined;
  };
  /** Replaces the real dispatcher in tests. */
  readonly dispatcher: Dispatcher | undefined;
  readonly plan: ((call: PlannedCall) => void) | undefined;
  readonly observe: (event: WireEvent) => void;
  /** Called when a request had no answer and may still be processed, unless its caller settles that. */
  readonly unanswered?: (() => void) | undefined;
}
