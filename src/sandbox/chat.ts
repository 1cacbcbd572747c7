import { posix } from 'node:path';
import type { Verdict } from './allowance.ts';
import { empty, html, json, unknownPage, type SandboxAnswer } from './answer.ts';
import {
  identify,
  requireAdministrator,
  requirePerson,
  requireHost,
  type ChatCall,
  type ChatWorld,
  type Endpoint,
  type CallOutcome,
} from './chat/call.ts';
import { chatRoutes } from './chat/routes.ts';
import { sampleOrganization } from './sample/organization.ts';
import type { Organization } from './records.ts';
import { rateLimitMessage, Refusal, tooMany } from './chat/refusal.ts';
import type { SandboxRequest } from './request.ts';
import { levels } from './chat/levels.ts';

/**
 * The answer of the chat service. The proxy merges double slashes and resolves dot segments before (docs/apis.md, Navigation views). Order of the checks: route, method, credentials, rate limit, role, parameters (docs/apis.md, Envelope and errors). What an endpoint changed before it refused stays changed, as there.
 */
export function answerChat(world: ChatWorld, request: SandboxRequest): SandboxAnswer {
  const organization = world.state.organization.get('chat') ?? sampleOrganization;
  const method = methodOf(request);
  const path = posix.normalize(request.path);
  const matches = chatRoutes(world.level).flatMap((route) => {
    const match = route.pattern.exec(path);
    return match ? [{ route, match }] : [];
  });
  const [first] = matches;
  if (!first) return unknownPage();
  if (method === 'OPTIONS') return optionsOf(allowed(first.route.methods));
  const endpoint = first.route.methods[method === 'HEAD' ? 'GET' : method];
  if (!endpoint) return wrongMethod(allowed(first.route.methods));
  return run(world, organization, endpoint, { ...request, method }, first.match);
}

/** A POST form may name another method (docs/apis.md, Envelope and errors). */
function methodOf({ method, form }: SandboxRequest): string {
  return (method === 'POST' ? form.get('method')?.toUpperCase() : undefined) ?? method;
}

function allowed(methods: Readonly<Record<string, Endpoint>>): string[] {
  const names = Object.keys(methods);
  return names.includes('GET') ? [...names, 'HEAD'] : names;
}

function optionsOf(names: readonly string[]): SandboxAnswer {
  return empty(204, { 'content-type': 'text/html; charset=utf-8', allow: names.toSorted().join(', ') });
}

/** JSON text under the content type of a page, and without a code (docs/apis.md, Envelope and errors). */
function wrongMethod(names: readonly string[]): SandboxAnswer {
  const body = JSON.stringify({ result: 'error', msg: 'Method Not Allowed', allowed_methods: names });
  return html(405, body, { allow: names.join(', ') });
}

function run(
  world: ChatWorld,
  organization: Organization,
  endpoint: Endpoint,
  request: SandboxRequest,
  match: RegExpExecArray,
): SandboxAnswer {
  let verdict: Verdict | undefined;
  try {
    if (endpoint.who === 'anybody') {
      requireHost(request, organization);
      return answerOf(endpoint.run(callOf(world, organization, request, match)), undefined);
    }
    if (wantsPage(request)) return empty(302, { location: `/login/?next=${encodeURIComponent(request.target)}` });
    const user = identify(request, world.state, organization);
    verdict = admit(world, `account ${user.user_id}`, world.perMinute);
    if (endpoint.who === 'administrators') requireAdministrator(user);
    if (endpoint.who === 'people') requirePerson(user);
    return answerOf(endpoint.run({ ...callOf(world, organization, request, match), user }), verdict);
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    return refuse(world.level, cause, verdict);
  }
}

/** Without credentials, whoever accepts pages is sent to the login page. */
function wantsPage({ headers }: SandboxRequest): boolean {
  return headers.authorization === undefined && (headers.accept ?? '').includes('text/html');
}

function callOf(
  world: ChatWorld,
  organization: Organization,
  request: SandboxRequest,
  match: RegExpExecArray,
): ChatCall {
  return { ...world, organization, request, segment: match[1] ?? '' };
}

/** @throws Refusal where the allowance is used up */
function admit(world: ChatWorld, name: string, calls: number): Verdict {
  const verdict = world.allowance(name, [{ calls, span: 60_000 }], world.clock.now());
  if (verdict.wait !== undefined) throw tooMany(verdict.wait, limits(verdict));
  return verdict;
}

function answerOf(outcome: CallOutcome, verdict: Verdict | undefined): SandboxAnswer {
  const headers = verdict ? limits(verdict) : {};
  if (isAnswer(outcome)) return { ...outcome, headers: { ...headers, ...outcome.headers } };
  return json(200, { result: 'success', msg: '', ...outcome }, headers);
}

/** The headers of every answer that counts against an allowance (docs/apis.md, Rate limits). */
function limits({ limit, remaining, reset }: Verdict): SandboxAnswer['headers'] {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(reset),
  };
}

function isAnswer(outcome: object): outcome is SandboxAnswer {
  return 'status' in outcome && 'headers' in outcome && 'body' in outcome;
}

function refuse(level: number, refusal: Refusal, verdict: Verdict | undefined): SandboxAnswer {
  const body: Record<string, unknown> = {
    result: 'error',
    msg: refusal.status === 429 ? rateLimitMessage(level) : refusal.message,
    ...refusal.extra,
  };
  if (codeIsKnown(level, refusal)) body['code'] = refusal.code;
  return json(refusal.status, body, { ...(verdict ? limits(verdict) : {}), ...refusal.headers });
}

/** Errors carry a code from level 76 on, rate limits from 36; before that only specific ones did (docs/apis.md, Messages.1 and 3.1). */
function codeIsKnown(level: number, { status, code }: Refusal): boolean {
  if (status >= 500) return false;
  if (code === 'RATE_LIMIT_HIT') return level >= levels.rateLimitCode;
  return level >= levels.errorCodes || !['BAD_REQUEST', 'UNAUTHORIZED', 'UNAUTHORIZED_PRINCIPAL'].includes(code);
}
