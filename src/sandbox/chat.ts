import { posix } from 'node:path';
import { empty, html, json, unknownPage, type SandboxAnswer } from './answer.ts';
import {
  identify,
  requireAdministrator,
  requireHost,
  type ChatCall,
  type ChatService,
  type Endpoint,
  type CallOutcome,
} from './chat/chat-call.ts';
import { chatRoutes } from './chat/routes.ts';
import { sampleOrganization } from './sample/organization.ts';
import type { User } from './records.ts';
import { rateLimitMessage, Refusal, tooMany } from './chat/refusal.ts';
import type { SandboxRequest } from './request.ts';
import { levels } from './chat/levels.ts';

/**
 * The answer of the chat service. The proxy merges double slashes and resolves dot segments before (docs/apis.md,
 * Navigation views). Order of the checks: route, method, credentials, rate limit, role, parameters (docs/apis.md,
 * Envelope and errors). Changes that an endpoint made before it refused are kept, as on the real server.
 */
export function answerChat(service: ChatService, request: SandboxRequest): SandboxAnswer {
  const organization = service.state.organization.get('chat') ?? sampleOrganization;
  // A POST form may name another method (docs/apis.md, Envelope and errors).
  const named = request.method === 'POST' ? request.form.get('method')?.toUpperCase() : undefined;
  const method = named ?? request.method;
  const path = posix.normalize(request.path);
  const route = chatRoutes.find(({ since = 0, pattern }) => service.level >= since && pattern.test(path));
  if (!route) return unknownPage();
  const { methods } = route;
  const allowed = [...Object.keys(methods), ...('GET' in methods ? ['HEAD'] : [])];
  if (method === 'OPTIONS')
    return empty(204, { 'content-type': 'text/html; charset=utf-8', allow: allowed.toSorted().join(', ') });
  const endpoint = methods[method === 'HEAD' ? 'GET' : method];
  if (endpoint) {
    const segment = route.pattern.exec(path)?.[1] ?? '';
    return run({ ...service, organization, request: { ...request, method }, segment, ignored: new Set() }, endpoint);
  }
  // A call that needs no account is refused by another part of the server, without a body.
  const isOpen = Object.values(methods).every(({ who }) => who === 'anybody');
  if (isOpen) return empty(405, { 'content-type': 'text/html; charset=utf-8', allow: allowed.join(', ') });
  // JSON text under the content type of a page, and without a code (docs/apis.md, Envelope and errors).
  const body = JSON.stringify({ result: 'error', msg: 'Method Not Allowed', allowed_methods: allowed });
  return html(405, body, { allow: allowed.join(', ') });
}

function run(call: ChatCall, endpoint: Endpoint): SandboxAnswer {
  const { request, state, level, organization, ignored } = call;
  let counted: SandboxAnswer['headers'] = {};
  try {
    if (endpoint.who === 'anybody') {
      requireHost(request, organization);
      return answerOf(endpoint.run(call), {});
    }
    // Clients that accept pages, and have no credentials, are sent to the login page.
    if (request.headers.authorization === undefined && request.headers.accept?.includes('text/html'))
      return empty(302, { location: `/login/?next=${encodeURIComponent(request.target)}` });
    const user = identify(request, state, organization);
    counted = count(call, user);
    if (endpoint.who === 'administrators') requireAdministrator(user);
    if (endpoint.who === 'people' && user.bot !== 'none')
      throw new Refusal('This endpoint does not accept bot requests.');
    const outcome = endpoint.run({ ...call, user });
    const isNamed = ignored.size > 0 && level >= (endpoint.namesIgnored ?? levels.ignoredParameters);
    return answerOf(outcome, counted, isNamed ? { ignored_parameters_unsupported: [...ignored].sort() } : {});
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    const { status, message, extra, code, headers } = cause;
    const msg = status === 429 ? rateLimitMessage(level) : message;
    const body = { result: 'error', msg, ...extra, ...(codeIsKnown(level, cause) ? { code } : {}) };
    return json(status, body, { ...counted, ...headers });
  }
}

/** The headers of every counted answer (docs/apis.md, Rate limits). @throws Refusal where the allowance is used up */
function count({ allowance, level, rates, clock }: ChatCall, { user_id }: User): SandboxAnswer['headers'] {
  const { perMinute, perHour = 10 * perMinute } = rates;
  const hour = level < levels.rateLimitHour ? [] : [{ calls: perHour, span: 3_600_000 }];
  const verdict = allowance(`account ${user_id}`, [{ calls: perMinute, span: 60_000 }, ...hour], clock.now());
  const headers = {
    'x-ratelimit-limit': String(verdict.limit),
    'x-ratelimit-remaining': String(verdict.remaining),
    'x-ratelimit-reset': String(verdict.reset),
  };
  if (verdict.wait !== undefined) throw tooMany(verdict.wait, headers);
  return headers;
}

function answerOf(outcome: CallOutcome, headers: SandboxAnswer['headers'], besides: object = {}): SandboxAnswer {
  if (isAnswer(outcome)) return { ...outcome, headers: { ...headers, ...outcome.headers } };
  return json(200, { result: 'success', msg: '', ...outcome, ...besides }, headers);
}

function isAnswer(outcome: object): outcome is SandboxAnswer {
  return 'status' in outcome && 'headers' in outcome && 'body' in outcome;
}

/** Errors carry a code from level 76 on, rate limits from 36; before that only specific ones did. */
function codeIsKnown(level: number, { status, code }: Refusal): boolean {
  if (status >= 500) return false;
  if (code === 'RATE_LIMIT_HIT') return level >= levels.rateLimitCode;
  return level >= levels.errorCodes || !['BAD_REQUEST', 'UNAUTHORIZED', 'UNAUTHORIZED_PRINCIPAL'].includes(code);
}
