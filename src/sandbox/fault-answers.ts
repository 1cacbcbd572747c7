import type { Milliseconds } from '../core/duration.ts';
import { html, json, proxyPage, type Answer } from './answer.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { Fault } from './faults.ts';

export type Api = 'licensing' | 'chat' | 'none';

/** The answer that stands in for the service's own, or undefined for faults of the connection. `now` in milliseconds. */
export function faultAnswer({ kind, argument }: Fault, api: Api, now: Milliseconds): Answer | undefined {
  if (kind.startsWith('429')) return tooMany(kind, Number(argument) / 1000, api, now);
  if (kind === 'delay-commit-504') return proxyPage(504);
  if (kind === '500' || kind === '500-after') return ownError(api);
  if (/^50[234]/.test(kind)) return proxyPage(Number(kind.slice(0, 3)));
  if (kind === 'redirect') return html(302, '', { location: String(argument) });
  if (kind === 'redirect-307') return html(307, '', { location: String(argument) });
  if (kind === 'html') return html(200, loginPage);
  if (kind === 'error-in-200')
    return api === 'chat' ? json(200, chatError) : json(200, { detail: 'Something went wrong.' });
  return undefined;
}

/** What each service says when it breaks. */
export function ownError(api: Api): Answer {
  if (api === 'chat') return json(500, { result: 'error', msg: 'Internal server error' });
  return html(
    500,
    '<!doctype html>\n<html lang="en">\n<head><title>Server Error (500)</title></head><body></body>\n</html>',
  );
}

const chatError = { result: 'error', msg: 'Something went wrong.', code: 'BAD_REQUEST' };

const loginPage =
  '<!DOCTYPE html><html><head><title>Log in</title></head><body><form method="post" action="/login/">' +
  '<input name="user"><input name="password" type="password"></form></body></html>';

/** Every form in which a wait was seen (facts page, 3.1); `wait` in seconds. */
function tooMany(kind: FaultKind, wait: number, api: Api, now: Milliseconds): Answer {
  if (kind === '429-html') return proxyPage(429);
  if (kind === '429-null') return limited(api, null);
  if (kind === '429-tiny') return limited(api, 0.008);
  if (kind === '429-date') {
    const date = new Date(now + wait * 1000).toUTCString();
    return { ...limited(api, undefined), headers: { 'content-type': 'application/json', 'retry-after': date } };
  }
  if (kind === '429' || kind === '429-float') return limited(api, wait + 0.000_807_374_954_224);
  return limited(api, Math.ceil(wait));
}

/** `wait` in seconds; null: the field is there and empty; undefined: no field. */
function limited(api: Api, wait: number | null | undefined): Answer {
  const header = typeof wait === 'number' ? { 'retry-after': String(wait) } : {};
  if (api !== 'chat') {
    const when = typeof wait === 'number' ? ` Expected available in ${Math.ceil(wait)} seconds.` : '';
    return json(429, { detail: `Request was throttled.${when}` }, header);
  }
  const field = wait === undefined ? {} : { 'retry-after': wait };
  return json(429, { result: 'error', msg: 'API usage exceeded rate limit', ...field, code: 'RATE_LIMIT_HIT' }, header);
}
