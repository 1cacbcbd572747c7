import type { Failure } from '../core/failure.ts';
import { plainLines } from '../output/plain.ts';
import { warningJson } from '../output/warnings.ts';
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
  const write = (text: string): void => {
    stderr.write(`${takeAway()}${redactor.clean(text)}\n`);
    isDrawn = false;
  };
  return {
    note(text) {
      if (!style.quiet) write(shown(text));
    },
    warn: (text) => write(style.json ? warningJson(text) : shown(`warning: ${text}`)),
    trace: (text) => write(shown(text)),
    status(text) {
      if (isDrawn || text !== undefined) stderr.write(`${takeAway()}${text ?? ''}`);
      isDrawn = text !== undefined;
    },
    async fail(failure) {
      const { failureJson, failureText } = await import('../output/errors.ts');
      write(
        style.json
          ? failureJson(failure)
          : failureText(failure, { terminal, color: style.color, verbose: style.verbose }),
      );
    },
  };
}
