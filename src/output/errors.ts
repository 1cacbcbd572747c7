import { nameOf, type Failure } from '../core/failure.ts';
import { painter } from './paint.ts';
import { bareCommand, commandsApart, fit, hintCommand, indented, plainJson, plainLines } from './plain.ts';

interface ErrorLook {
  readonly terminal: boolean;
  readonly columns: number;
  readonly color: boolean;
}

/** The event, its reason and the next step. Loads chalk: import it only after an error. */
export function failureText(failure: Failure, { terminal, columns, color }: ErrorLook): string {
  const { message, details } = failure;
  const what = indented(
    [message, ...reasons(failure)].join('\n'),
    (details.problems ?? []).length > 1 ? mark.length + 1 : 2,
  );
  const text = `${mark} ${what}${hintLines(details.hint)}`;
  return painter(color ? 1 : 0).red(mark) + fit(terminal ? plainLines(text) : text, columns).slice(mark.length);
}

const mark = 'chatelaine:';

/** Marks each line as a hint, except a command, which is copied. */
function hintLines(hint: string | undefined): string {
  if (hint === undefined) return '';
  const lines = commandsApart(hint, hintCommand).split('\n');
  return lines.map((line) => (bareCommand.test(line) ? `\n  ${line.trim()}` : `\nhint: ${indented(line)}`)).join('');
}

/** The object of the error on one line without its end. */
export function failureJson({ kind, details, exit, message, retryable }: Failure): string {
  const { problems, hint, http, server } = details;
  const error = { code: nameOf(kind), exit, message, problems, hint, http, server, retryable };
  return plainJson(JSON.stringify({ error }));
}

/** The server's words, unless the message has them already. */
function reasons({ message, details: { server } }: Failure): string[] {
  const { msg = '', code } = server ?? {};
  if (msg === '' || message.includes(msg)) return [];
  const named = code === undefined || message.includes(code) ? '' : ` (${code})`;
  return [`The server says: ${msg}${named}`];
}
