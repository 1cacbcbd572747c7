import type { Clock } from '../../core/world.ts';
import type { Allowance } from '../allowance.ts';
import type { Answer } from '../answer.ts';
import type { Organization, User } from '../records.ts';
import type { Request } from '../request.ts';
import type { State } from '../state.ts';

/** What the chat service is given at its start. */
export interface ChatWorld {
  readonly state: State;
  readonly clock: Clock;
  readonly level: number;
  /** `http://127.0.0.1:PORT`. */
  readonly origin: () => string;
  readonly allowance: Allowance;
  /** Calls of an account. */
  readonly perMinute: number;
  readonly deleteBatches: number;
}

/** One admitted request. */
export interface Call extends ChatWorld {
  readonly request: Request;
  readonly organization: Organization;
  /** What the pattern of the route caught. */
  readonly segment: string;
}

export interface UserCall extends Call {
  readonly user: User;
}

/** Fields beside `result` and `msg`, or a whole answer. */
export type Outcome = Readonly<Record<string, unknown>> | Answer;

/** What a method of a route does, and who may call it. */
export type Endpoint =
  | { readonly who: 'anybody'; readonly run: (call: Call) => Outcome }
  | { readonly who: 'accounts' | 'people' | 'administrators'; readonly run: (call: UserCall) => Outcome };

export interface Route {
  readonly pattern: RegExp;
  readonly methods: Readonly<Record<string, Endpoint>>;
  /** The level that brought the route. */
  readonly since?: number;
}
