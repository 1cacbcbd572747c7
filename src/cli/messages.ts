import { Failure } from '../core/failure.ts';
import { plainLines } from '../output/plain.ts';
import { warningJson, warningText } from '../output/warnings.ts';
import type { Redactor } from './redactor.ts';
import type { Output } from './world.ts';

export interface MessageStyle {
  /** Errors and warnings as JSON lines. */
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  readonly verbose: boolean;
}

/** All that goes to stderr; secrets are removed from every line. */
export interface Messages {
  note(text: string): void;
  warn(text: string): void;
  trace(text: string): void;
  /** Shows a line of a terminal that whatever is told next takes away; undefined takes it away. */
  status(text: string | undefined): void;
  fail(failure: Failure): Promise<void>;
}

export function openMessages(stderr: Output, style: MessageStyle, redactor: Redactor): Messages {
  const terminal = stderr.isTTY === true;
  const shown = (text: string): string => (terminal ? plainLines(text) : text);
  let isDrawn = false;
  const takeAway = (): string => (isDrawn ? '\r\u001b[K' : '');
  const writeClean = (text: string): void => {
    stderr.write(`${takeAway()}${text}\n`);
    isDrawn = false;
  };
  const write = (text: string): void => writeClean(redactor.clean(text));
  return {
    note(text) {
      if (!style.quiet) write(shown(text));
    },
    warn: (text) =>
      style.json ? writeClean(warningJson(redactor.clean(text))) : write(warningText(text, { terminal })),
    trace: (text) => write(shown(text)),
    status(text) {
      if (isDrawn || text !== undefined) stderr.write(`${takeAway()}${text ?? ''}`);
      isDrawn = text !== undefined;
    },
    async fail(failure) {
      const { failureJson, failureText } = await import('../output/errors.ts');
      if (style.json) writeClean(failureJson(cleaned(failure, redactor)));
      else write(failureText(failure, { terminal, color: style.color, verbose: style.verbose }));
    },
  };
}

/** Text by text: a secret may be a word or a sign of JSON itself. */
function cleaned({ kind, message, details }: Failure, { clean }: Redactor): Failure {
  const { hint, http, server, retryable } = details;
  return new Failure(kind, clean(message), {
    hint: hint && clean(hint),
    http: http && { ...http, url: clean(http.url) },
    server: server && { code: server.code && clean(server.code), msg: server.msg && clean(server.msg) },
    retryable,
  });
}
