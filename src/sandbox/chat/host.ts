import type { Organization } from '../records.ts';
import type { SandboxRequest } from '../request.ts';
import { Refusal } from './refusal.ts';

/**
 * Whether the request names the host of the organization. `NAME.localhost` names the organization NAME; any other host is the
 * sandbox's own one, unless the organization is one of many on its server.
 */
export function isHostOf({ headers }: SandboxRequest, { realm_str, one_of_many }: Organization): boolean {
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
