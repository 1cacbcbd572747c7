import type { Milliseconds } from '../core/duration.ts';
import { html, json, proxyPage, type SandboxAnswer } from './answer.ts';
import { rateLimitMessage } from './chat/refusal.ts';
import type { FaultKind } from './fault-kinds.ts';
import type { SandboxFault } from './faults.ts';
import { errorBody, type ErrorShapeName } from './licensing/error-shapes.ts';

export type Api = 'licensing' | 'chat' | 'none';

/** What an answer depends on, besides the fault. */
interface Setting {
  readonly api: Api;
  /** Of the chat service. */
  readonly level: number;
  /** Of an error of the licensing service under status 200. */
  readonly errorShape: ErrorShapeName | undefined;
  readonly now: Milliseconds;
}

/** The answer in place of the service's own, or undefined for faults of the connection. */
export function faultAnswer({ kind, argument }: SandboxFault, setting: Setting): SandboxAnswer | undefined {
  const { api, errorShape } = setting;
  if (kind.startsWith('429')) return tooMany(kind, Number(argument) / 1000, setting);
  if (kind === 'delay-commit-504') return proxyPage(504);
  if (kind === 'early-502') return proxyPage(502);
  if (kind === '500' || kind === '500-after') return ownError(api);
  if (/^50[234]/.test(kind)) return proxyPage(Number(kind.slice(0, 3)));
  if (kind === 'redirect') return html(302, '', { location: String(argument) });
  if (kind === 'redirect-307') return html(307, '', { location: String(argument) });
  if (kind === 'html') return html(200, loginPage);
  if (kind === 'error-in-200')
    return json(200, api === 'chat' ? chatError : errorBody('Something went wrong.', errorShape));
  return undefined;
}

/** What each service says when it breaks. */
export function ownError(api: Api): SandboxAnswer {
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

/** Every form in which a wait was seen (docs/apis.md, Rate limits); `wait` in seconds. */
function tooMany(kind: FaultKind, wait: number, setting: Setting): SandboxAnswer {
  if (kind === '429-html') return proxyPage(429);
  if (kind === '429-null') return limited(setting, { field: null });
  if (kind === '429-tiny') return limited(setting, { field: 0.008, header: '0.008' });
  if (kind === '429-date') return limited(setting, { header: new Date(setting.now + wait * 1000).toUTCString() });
  if (kind === '429-int' || kind === '429-long')
    return limited(setting, { field: Math.ceil(wait), header: String(Math.ceil(wait)) });
  const field = wait + 0.000_807_374_954_224;
  return limited(setting, { field, header: String(field) });
}

/** Null: the field is there and says nothing. */
interface Wait {
  readonly field?: number | null;
  readonly header?: string;
}

function limited({ api, level, now }: Setting, { field, header }: Wait): SandboxAnswer {
  const headers = header === undefined ? {} : { 'retry-after': header };
  if (api !== 'chat') {
    const when = typeof field === 'number' ? ` Expected available in ${Math.ceil(field)} seconds.` : '';
    return json(429, { detail: `Request was throttled.${when}` }, headers);
  }
  const limits = {
    'x-ratelimit-limit': '200',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil(now / 1000 + (field ?? 0))),
  };
  const wait = field === undefined ? {} : { 'retry-after': field };
  const body = { result: 'error', msg: rateLimitMessage(level), ...wait, code: 'RATE_LIMIT_HIT' };
  return json(429, body, { ...limits, ...headers });
}
