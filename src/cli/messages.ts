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
  fail(failure: Failure): Promise<void>;
}

export function openMessages(stderr: Output, style: MessageStyle, redactor: Redactor): Messages {
  const terminal = stderr.isTTY === true;
  const shown = (text: string): string => (terminal ? plainLines(text) : text);
  const write = (text: string): void => void stderr.write(`${redactor.clean(text)}\n`);
  return {
    note(text) {
      if (!style.quiet) write(shown(text));
    },
    warn: (text) => write(style.json ? warningJson(text) : shown(`warning: ${text}`)),
    trace: (text) => write(shown(text)),
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
