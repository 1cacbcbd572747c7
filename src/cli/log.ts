import type { WireEvent } from '../api/http/call.ts';
import { Failure } from '../core/failure.ts';
import type { Clock } from '../core/world.ts';
import { openLogFile } from '../store/log-file.ts';
import type { Messages } from './messages.ts';
import type { Redactor } from './redactor.ts';

/** What a log needs of a run. */
export interface Logging {
  readonly clock: Pick<Clock, 'now'>;
  readonly redactor: Pick<Redactor, 'clean'>;
  readonly messages: Pick<Messages, 'warn'>;
}

/**
 * Writes requests, answers, troubles and waits to a file, a JSON object a line: no bodies, no headers, no secret, no license code. A
 * log that cannot be written any longer is given up with a warning, because a write that was begun must continue.
 * @throws Failure config where the file cannot be written
 */
export function openLog(path: string, { clock, redactor, messages }: Logging): (event: WireEvent) => void {
  const append = openLogFile(path);
  let isLost = false;
  return (event) => {
    const entry = entryOf(event);
    if (!entry || isLost) return;
    const time = new Date(clock.now()).toISOString();
    const texts = Object.entries(entry).map(([name, value]) => [
      name,
      typeof value === 'string' ? redactor.clean(value) : value,
    ]);
    try {
      append(JSON.stringify({ time, ...Object.fromEntries(texts) }));
    } catch (cause) {
      isLost = true;
      if (!(cause instanceof Failure)) throw cause;
      messages.warn(cause.message);
    }
  };
}

/** A record without its time; undefined for events that are for a person who waits. Spans are whole milliseconds. */
function entryOf(event: WireEvent): Readonly<Record<string, string | number>> | undefined {
  switch (event.kind) {
    case 'request':
      return { event: 'request', method: event.method, url: event.url, attempt: event.attempt };
    case 'answer': {
      const { method, url, attempt, answer, took } = event;
      return { event: 'answer', method, url, attempt, status: answer.status, took_ms: Math.round(took) };
    }
    case 'failure': {
      const { method, url, attempt, message } = event;
      return { event: 'trouble', method, url, attempt, message };
    }
    case 'wait': {
      const { method, url, span, why } = event;
      return { event: 'wait', method, url, wait_ms: Math.round(span), why };
    }
    default:
      return undefined;
  }
}
