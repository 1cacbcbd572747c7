import type { Organization, User } from '../records.ts';
import type { SandboxRequest } from '../request.ts';
import type { State } from '../state.ts';
import { isHostOf } from './host.ts';
import { Refusal, unauthorized } from './refusal.ts';

/**
 * The account that makes the request (docs/apis.md, Envelope and errors). Every fault of a credential is 401 UNAUTHORIZED; another scheme is 400.
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

/** Administrators only; a fault of right is 400 (docs/apis.md, Envelope and errors). @throws Refusal */
export function requireAdministrator(user: User): void {
  if (user.role === 'administrator') return;
  throw new Refusal('Must be an organization administrator', { code: 'UNAUTHORIZED_PRINCIPAL' });
}

/** @throws Refusal */
export function requirePerson(user: User): void {
  if (user.bot !== 'none') throw new Refusal('This endpoint does not accept bot requests.');
}
