import type { Clock } from '../../core/system.ts';
import type { Allowance } from '../allowance.ts';
import type { SandboxAnswer } from '../answer.ts';
import type { Organization, User } from '../records.ts';
import type { SandboxRequest } from '../request.ts';
import type { State } from '../state.ts';
import { Refusal, unauthorized } from './refusal.ts';

export interface ChatService {
  readonly state: State;
  readonly clock: Clock;
  readonly level: number;
  readonly allowance: Allowance;
  /** Calls of an account; ten times as many in an hour as in a minute where `perHour` does not say. */
  readonly rates: { readonly perMinute: number; readonly perHour?: number | undefined };
  readonly deleteBatches: number;
}

/** One admitted request. */
export interface ChatCall extends ChatService {
  readonly request: SandboxRequest;
  readonly organization: Organization;
  readonly segment: string;
  /** Parameters that were sent and that the endpoint does not know. */
  readonly ignored: Set<string>;
}

export interface UserCall extends ChatCall {
  readonly user: User;
}

/** Fields beside `result` and `msg`, or a whole answer. */
export type CallOutcome = Readonly<Record<string, unknown>> | SandboxAnswer;

export type Endpoint =
  | { readonly who: 'anybody'; readonly run: (call: ChatCall) => CallOutcome }
  | {
      readonly who: 'accounts' | 'people' | 'administrators';
      readonly run: (call: UserCall) => CallOutcome;
      /** An answer names ignored parameters from this level on; default 167 (docs/apis.md, Parameters). */
      readonly namesIgnored?: number;
    };

export interface ChatRoute {
  readonly pattern: RegExp;
  readonly methods: Readonly<Record<string, Endpoint>>;
  /** The level that brought the route. */
  readonly since?: number;
}

/**
 * Whether the request names the host of the organization. `NAME.localhost` names the organization NAME; any other host
 * is the sandbox's own one, unless the organization is one of many on its server.
 */
function isHostOf({ headers }: SandboxRequest, { realm_str, one_of_many }: Organization): boolean {
  const subdomain = subdomainOf(headers.host ?? '');
  return subdomain === undefined ? !one_of_many : subdomain === realm_str;
}

/** @throws Refusal 400 where the host is another organization's, or none's */
export function requireHost(request: SandboxRequest, organization: Organization): void {
  if (isHostOf(request, organization)) return;
  throw new Refusal(subdomainOf(request.headers.host ?? '') === undefined ? 'Subdomain required' : 'Invalid subdomain');
}

function subdomainOf(host: string): string | undefined {
  return /^([^.:]+)\.localhost(:\d+)?$/i.exec(host)?.[1]?.toLowerCase();
}

/**
 * The account of a request. Any bad credential is a 401, another scheme a 400 (docs/apis.md, Envelope and errors).
 * @throws Refusal
 */
export function identify(request: SandboxRequest, state: State, organization: Organization): User {
  const { email, key } = readCredential(request.headers.authorization);
  if (!/^[A-Za-z0-9]{32}$/.test(key)) throw unauthorized('Malformed API key');
  const user = state.users.rows().find((row) => row.api_key === key);
  if (user?.email.toLowerCase() !== email.toLowerCase()) throw unauthorized('Invalid API key');
  if (!isHostOf(request, organization)) throw unauthorized('Account is not associated with this subdomain');
  if (organization.deactivated) throw unauthorized('This organization has been deactivated');
  if (!user.active) throw unauthorized('Account is deactivated');
  if (user.bot === 'incoming webhook') {
    throw unauthorized('This API is not available to incoming webhook bots.');
  }
  return user;
}

function readCredential(header: string | undefined): { email: string; key: string } {
  if (header === undefined) throw unauthorized('Not logged in: API authentication or user session required');
  const words = header.split(/\s+/).filter((word) => word !== '');
  const [scheme = '', value = ''] = words;
  if (words.length !== 2) throw unauthorized('Invalid authorization header for basic auth');
  if (scheme.toLowerCase() !== 'basic') throw new Refusal('This endpoint requires HTTP basic authentication.');
  const parts = Buffer.from(value, 'base64').toString('utf8').split(':');
  if (parts.length !== 2) throw unauthorized('Invalid authorization header for basic auth');
  const [email = '', key = ''] = parts;
  return { email: email.trim(), key: key.trim() };
}

/** Refuses all but administrators; a missing right is a 400 (docs/apis.md, Envelope and errors). @throws Refusal */
export function requireAdministrator(user: User): void {
  if (user.role === 'administrator') return;
  throw new Refusal('Must be an organization administrator', { code: 'UNAUTHORIZED_PRINCIPAL' });
}
