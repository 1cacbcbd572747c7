import type { Clock } from '../../core/world.ts';
import type { Allowance } from '../allowance.ts';
import type { SandboxAnswer } from '../answer.ts';
import type { Organization, User } from '../records.ts';
import type { SandboxRequest } from '../request.ts';
import type { State } from '../state.ts';

/** What the chat service is given at its start. */
export interface ChatWorld {
  readonly state: State;
  readonly clock: Clock;
  readonly level: number;
  readonly allowance: Allowance;
  /** Calls of an account. */
  readonly perMinute: number;
  readonly deleteBatches: number;
}

/** One admitted request. */
export interface ChatCall extends ChatWorld {
  readonly request: SandboxRequest;
  readonly organization: Organization;
  /** What the pattern of the route caught. */
  readonly segment: string;
}

export interface UserCall extends ChatCall {
  readonly user: User;
}

/** Fields beside `result` and `msg`, or a whole answer. */
export type CallOutcome = Readonly<Record<string, unknown>> | SandboxAnswer;

/** What a method of a route does, and who may call it. */
export type Endpoint =
  | { readonly who: 'anybody'; readonly run: (call: ChatCall) => CallOutcome }
  | { readonly who: 'accounts' | 'people' | 'administrators'; readonly run: (call: UserCall) => CallOutcome };

export interface ChatRoute {
  readonly pattern: RegExp;
  readonly methods: Readonly<Record<string, Endpoint>>;
  /** The level that brought the route. */
  readonly since?: number;
}
