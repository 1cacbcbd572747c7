import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Milliseconds } from '../core/duration.ts';
import type { Clock } from '../core/system.ts';
import { type SandboxAnswer, html, json, proxyPage } from './answer.ts';
import type { SandboxFault, FaultKind } from './faults.ts';
import { rateLimitMessage } from './chat/refusal.ts';

export type Api = 'licensing' | 'chat' | 'none';

/** One request that waits for its end. */
interface Exchange {
  readonly outgoing: ServerResponse;
  readonly api: Api;
  /** The level of the chat service. */
  readonly level: number;
  readonly clock: Clock;
  /** Aborts when the sandbox closes. */
  readonly closing: AbortSignal;
  /** Carries the request out and makes its changes durable. */
  readonly carryOut: () => Promise<SandboxAnswer>;
}

/** Answers a request, with a fault if one was drawn; returns the status that was sent, null where nothing was. */
export async function respond(exchange: Exchange, fault: SandboxFault | undefined): Promise<number | null> {
  if (!fault) return send(exchange, await exchange.carryOut());
  const { kind, argument } = fault;
  const instead = faultAnswer(fault, exchange);
  if (kind === 'delay-commit' || kind === 'delay-commit-504' || kind === 'goes-on') {
    // The client is turned away at once; a sandbox that closes still processes the request: nothing is lost.
    const status = instead ? send(exchange, instead) : drop(exchange);
    await pause(exchange, Number(argument));
    await exchange.carryOut();
    return status;
  }
  if (kind.endsWith('-after') || /^early-/.test(kind) || kind === '502-stray') await exchange.carryOut();
  if (kind === '502-stray') strayBefore(exchange);
  if (instead) return send(exchange, instead);
  if (kind.startsWith('reset')) return drop(exchange, 'resetAndDestroy');
  if (kind.startsWith('hang')) return null;
  if (kind === 'huge') return flood(exchange);
  if (kind === 'drop-before' || kind === 'drop-after') return drop(exchange);
  const answer = await exchange.carryOut();
  if (kind === 'cut') return cut(exchange, answer);
  if (kind === 'slow') return trickle(exchange, answer, Number(argument));
  if (kind === 'empty') return send(exchange, { ...answer, body: '' });
  if (kind === 'json-garbage') return send(exchange, { ...answer, body: `${answer.body.slice(0, -1)},,` });
  if (kind === 'early') return send(exchange, answer);
  if (kind === 'content-type')
    return send(exchange, { ...answer, headers: { ...answer.headers, 'content-type': 'text/html; charset=utf-8' } });
  throw new Error(`the fault ${kind} has no branch`);
}

/** Sends an answer that belongs to no request, before the answer to the next request of the connection. */
function strayBefore({ outgoing: { socket } }: Exchange): void {
  const stray = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]';
  socket?.once('data', () => void socket.write(stray));
}

/** Sleeps until the span is over or the sandbox closes. */
async function pause({ clock, closing }: Exchange, span: Milliseconds): Promise<void> {
  try {
    await clock.sleep(span, closing);
  } catch (cause) {
    if (!closing.aborted) throw cause;
  }
}

export function send(
  { outgoing, clock }: Pick<Exchange, 'outgoing' | 'clock'>,
  { status, headers, body }: SandboxAnswer,
): number {
  const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  outgoing.writeHead(status, { server: 'nginx', date: new Date(clock.now()).toUTCString(), ...headers, ...length });
  outgoing.end(body);
  return status;
}

function drop({ outgoing }: Exchange, how: 'destroy' | 'resetAndDestroy' = 'destroy'): null {
  outgoing.socket?.[how]();
  return null;
}

function cut({ outgoing }: Exchange, { status, headers, body }: SandboxAnswer): number {
  const bytes = Buffer.from(body);
  outgoing.writeHead(status, { ...headers, 'content-length': String(Math.max(bytes.length, 64)) });
  outgoing.write(bytes.subarray(0, Math.max(1, bytes.length >> 1)), () => void outgoing.socket?.destroy());
  return status;
}

/** A slow body is sent in this many pieces. */
const pieces = 20;

async function trickle(exchange: Exchange, answer: SandboxAnswer, span: Milliseconds): Promise<number> {
  const { status, headers, body } = answer;
  const bytes = Buffer.from(body);
  const size = Math.ceil(bytes.length / pieces);
  exchange.outgoing.writeHead(status, { ...headers, 'content-length': String(bytes.length) });
  for (let at = 0; at < bytes.length && !exchange.closing.aborted; at += size) {
    exchange.outgoing.write(bytes.subarray(at, at + size));
    await pause(exchange, span / pieces);
  }
  exchange.outgoing.end();
  return status;
}

/** Sends a body that is valid JSON as far as a client reads it. */
function flood({ outgoing }: Exchange): number {
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  const chunks = Array.from({ length: 256 }, () => chunk);
  Readable.from(['{"result":"success","msg":"', ...chunks, '"}']).pipe(outgoing);
  return 200;
}

/** The answer in place of the service's own, or undefined for faults of the connection. */
function faultAnswer({ kind, argument }: SandboxFault, exchange: Exchange): SandboxAnswer | undefined {
  const { api } = exchange;
  if (kind.startsWith('429')) return tooMany(kind, Number(argument) / 1000, exchange);
  if (kind === 'delay-commit-504') return proxyPage(504);
  if (kind === 'early-502') return proxyPage(502);
  if (kind.startsWith('500') || kind === 'early-500') return ownError(api);
  if (kind === 'complete-nothing') return json(200, { result: 'success', msg: '', complete: true });
  if (/^50[234]/.test(kind)) return proxyPage(Number(kind.slice(0, 3)));
  if (kind === 'redirect') return html(302, '', { location: String(argument) });
  if (kind === 'redirect-307') return html(307, '', { location: String(argument) });
  if (kind === 'html') return html(200, loginPage);
  if (kind === 'error-in-200')
    return json(
      200,
      api === 'chat'
        ? { result: 'error', msg: 'Something went wrong.', code: 'BAD_REQUEST' }
        : { detail: 'Something went wrong.' },
    );
  return undefined;
}

export function ownError(api: Api): SandboxAnswer {
  if (api === 'chat') return json(500, { result: 'error', msg: 'Internal server error' });
  return html(
    500,
    '<!doctype html>\n<html lang="en">\n<head><title>Server Error (500)</title></head><body></body>\n</html>',
  );
}

const loginPage =
  '<!DOCTYPE html><html><head><title>Log in</title></head><body><form method="post" action="/login/">' +
  '<input name="user"><input name="password" type="password"></form></body></html>';

/** Every form in which a wait was seen (docs/apis.md, Rate limits); `wait` in seconds. */
function tooMany(kind: FaultKind, wait: number, exchange: Exchange): SandboxAnswer {
  if (kind === '429-html') return proxyPage(429);
  if (kind === '429-null') return answerTooMany(exchange, { field: null });
  if (kind === '429-tiny') return answerTooMany(exchange, { field: 0.008, header: '0.008' });
  if (kind === '429-date')
    return answerTooMany(exchange, { header: new Date(exchange.clock.now() + wait * 1000).toUTCString() });
  if (kind === '429-int' || kind === '429-long')
    return answerTooMany(exchange, { field: Math.ceil(wait), header: String(Math.ceil(wait)) });
  const field = wait + 0.000_807_374_954_224;
  return answerTooMany(exchange, { field, header: String(field) });
}

/** `field`: null for a field that is there and says nothing. */
function answerTooMany(
  { api, level, clock }: Exchange,
  { field, header }: { readonly field?: number | null; readonly header?: string },
): SandboxAnswer {
  const headers = header === undefined ? {} : { 'retry-after': header };
  if (api !== 'chat') {
    const when = typeof field === 'number' ? ` Expected available in ${Math.ceil(field)} seconds.` : '';
    return json(429, { detail: `Request was throttled.${when}` }, headers);
  }
  const limits = {
    'x-ratelimit-limit': '200',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil(clock.now() / 1000 + (field ?? 0))),
  };
  const body = { result: 'error', msg: rateLimitMessage(level), 'retry-after': field, code: 'RATE_LIMIT_HIT' };
  return json(429, body, { ...limits, ...headers });
}
