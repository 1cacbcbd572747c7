import { nameOf, type Failure } from '../core/failure.ts';
import { painter } from './paint.ts';
import { plainJson, plainLines } from './plain.ts';

export interface ErrorLook {
  /** Whether stderr is a terminal: text is made harmless. */
  readonly terminal: boolean;
  readonly color: boolean;
  /** Adds the request and the chain of causes. */
  readonly verbose: boolean;
}

/**
 * What happened, why, what to do next: lines without the last line end. Found differences are no error: ''
 * (contract, section 3). Loads chalk, so import this module when something went wrong.
 */
export function failureText(failure: Failure, { terminal, color, verbose }: ErrorLook): string {
  if (failure.kind === 'differences') return '';
  const lines = [
    failure.message,
    ...indented(reasons(failure)),
    ...(verbose ? indented(background(failure)) : []),
    ...(failure.details.hint === undefined ? [] : [failure.details.hint]),
  ];
  const text = lines.join('\n');
  return `${painter(color ? 1 : 0).red('chatelaine:')} ${terminal ? plainLines(text) : text}`;
}

/** The contract's object on one line without its end; what is not known is left out; '' for found differences. */
export function failureJson(failure: Failure): string {
  if (failure.kind === 'differences') return '';
  const { hint, http, server } = failure.details;
  const code = nameOf(failure.kind);
  const { exit, message, retryable } = failure;
  return plainJson(JSON.stringify({ error: { code, exit, message, hint, http, server, retryable } }));
}

/** What the server said, unless the message says it already. */
function reasons({ message, details: { server } }: Failure): string[] {
  const { msg = '', code } = server ?? {};
  if (msg === '' || message.includes(msg)) return [];
  const named = code === undefined || message.includes(code) ? '' : ` (${code})`;
  return [`The server says: ${msg}${named}`];
}

function background({ details: { http }, cause }: Failure): string[] {
  const answered = http?.status === undefined ? 'no answer' : `answered ${http.status}`;
  const request = http ? [`Request: ${http.method} ${http.url}, ${answered}`] : [];
  return [...request, ...causes(cause)];
}

function causes(cause: unknown): string[] {
  return cause instanceof Error ? [`Cause: ${cause.name}: ${cause.message}`, ...causes(cause.cause)] : [];
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`);
}
