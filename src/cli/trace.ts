import type { WireEvent } from '../api/http/call.ts';
import { formatDuration, quantity, type Milliseconds } from '../core/duration.ts';
import { indented, lineBreak } from '../output/plain.ts';
import { openLogFile } from '../store/log-file.ts';
import type { RunParts } from './values.ts';

/** Turns what happens on the wire into lines of stderr: `--verbose` a line each, `--trace` everything but secrets. */
export function observer(running: RunParts): (event: WireEvent) => void {
  const { options, messages, redactor } = running;
  const reportSlow = slowReporter(running);
  return (event) => {
    reportSlow(event);
    if (event.kind === 'slow') return;
    if (options.trace) messages.trace(traceText(event, redactor));
    else if (options.verbose && event.kind !== 'request') messages.trace(indented(brief(event)));
  };
}

type TracedEvent = Exclude<WireEvent, { kind: 'slow' }>;

/** Says what the run waits for: in a transient line on a terminal, and elsewhere once a run. */
function slowReporter({ messages, host: { stderr, system, clock } }: RunParts): (event: WireEvent) => void {
  const saidKinds = new Set<string>();
  const isTransient = stderr.isTTY === true && system.env['TERM'] !== 'dumb';
  let isShown = false;
  let [answers, waited, waitEnds] = [0, 0, -Infinity];
  /** Reports a list of many quick pages: a line for each ten seconds of waiting. */
  const progressOf = (event: WireEvent): string | undefined => {
    if (event.kind !== 'answer') return undefined;
    answers += 1;
    const tens = Math.floor(waited / long);
    waited += event.took;
    if (answers === 1 || Math.floor(waited / long) === tens) return undefined;
    return `waiting for ${new URL(event.url).host}: ${quantity(answers, 'response')} so far`;
  };
  return (event) => {
    if (event.kind === 'slow' && clock.elapsed() < waitEnds) return;
    const isAsked = event.kind === 'wait' && event.why.endsWith(')') && event.span > shortest;
    if (isAsked) waitEnds = clock.elapsed() + event.span;
    const waitText = isAsked ? event.why.replace('(', `${Math.ceil(event.span / 1000)} s (`) : undefined;
    const line = event.kind === 'slow' ? `no response from ${event.host} for 10 s` : (waitText ?? progressOf(event));
    if (isTransient && (line !== undefined || isShown)) messages.status(line);
    isShown = line !== undefined;
    if (isTransient || line === undefined || saidKinds.has(event.kind)) return;
    saidKinds.add(event.kind);
    messages.say(line);
  };
}

const shortest: Milliseconds = 2000;
const long: Milliseconds = 10_000;

function brief(event: Exclude<TracedEvent, { kind: 'request' }>): string {
  if (event.kind === 'wait') return `waiting ${formatDuration(event.span)}: ${event.why}`;
  const what = event.kind === 'answer' ? `${event.answer.status} in ${formatDuration(event.took)}` : event.message;
  return `${event.method} ${event.url}: ${what}`;
}

/** Bodies without secrets before they are cut: half a secret is not recognized. */
function traceText(event: TracedEvent, { clean }: RunParts['redactor']): string {
  const { kind, method, url } = event;
  if (kind === 'request') return block(`> ${method} ${url}`, '> ', event.headers(), clean(event.body ?? ''));
  if (kind !== 'answer') return indented(`* ${brief(event)}`);
  const { status, text } = event.answer;
  const first = `< ${status} ${method} ${url} (${formatDuration(event.took)})`;
  const body = event.sealed ? hidden(text) : text.replace(/("api_key"\s*:\s*")[^"]*/g, '$1[secret]');
  return block(first, '< ', shownHeaders(event), clean(body));
}

/** Cookies are credentials, and a Location may hold a license code. */
function shownHeaders({ answer, sealed }: Extract<WireEvent, { kind: 'answer' }>): Readonly<Record<string, unknown>> {
  const hidden = new Set(['set-cookie', ...(sealed ? ['location', 'link', 'content-location'] : [])]);
  return Object.fromEntries(
    Object.entries(answer.headers).map(([name, value]) => [name, hidden.has(name) ? '[hidden]' : value]),
  );
}

/** Any value of the licensing API may be a license key; the chat calls the keys of bots and accounts api_key. */
const hidden = (text: string): string => (text.trim() === '' ? '' : `[hidden: ${text.length} characters]`);

const mostTraced = 10_000;

function block(first: string, mark: string, headers: Readonly<Record<string, unknown>>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  const shown = body.length > mostTraced ? `${body.slice(0, mostTraced)}… (${body.length} characters)` : body;
  const marked = [...lines, ...(shown === '' ? [] : [shown])].flatMap((text) => text.split(lineBreak));
  return [first, ...marked.map((line) => mark + line)].join('\n');
}

/**
 * Writes requests, responses, failures and waits to a file, a JSON object a line: no bodies, headers, secrets or
 * license codes.
 * @throws Failure config where the file cannot be written
 */
export function openLog(path: string, { host, redactor, messages }: RunParts): (event: WireEvent) => void {
  const append = openLogFile(path, messages.warn);
  return (event) => {
    const entry = entryOf(event);
    if (!entry) return;
    const time = new Date(host.clock.now()).toISOString();
    const texts = Object.entries(entry).map(([name, value]) => [
      name,
      typeof value === 'string' ? redactor.clean(value) : value,
    ]);
    append(JSON.stringify({ time, ...Object.fromEntries(texts) }));
  };
}

/** A record without its time; undefined for events that are for a person who waits. Spans are whole milliseconds. */
function entryOf(event: WireEvent): Readonly<Record<string, string | number>> | undefined {
  if (event.kind === 'slow') return undefined;
  const { kind, method, url } = event;
  const entry = { event: kind === 'failure' ? 'trouble' : kind, method, url };
  if (kind === 'wait') return { ...entry, wait_ms: Math.round(event.span), why: event.why };
  const attempted = { ...entry, attempt: event.attempt };
  if (kind === 'answer') return { ...attempted, status: event.answer.status, took_ms: Math.round(event.took) };
  return kind === 'failure' ? { ...attempted, message: event.message } : attempted;
}
