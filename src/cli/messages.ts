import { commandTable } from '../commands/index.ts';
import { Failure } from '../core/failure.ts';
import { commandLine } from '../core/shell-word.ts';
import { commandsApart, fit, indented, plainJson, plainLines } from '../output/plain.ts';
import { truncate, type Redactor } from './redactor.ts';
import type { Host } from './host.ts';

export interface MessageStyle {
  /** Errors and warnings as JSON lines. */
  readonly json: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
  readonly verbose: boolean;
}

/** Writes to stderr, without secrets. */
export interface Messages {
  note(text: string): void;
  warn(text: string): void;
  trace(text: string): void;
  /** Shows a line on a terminal until the next message or status replaces it; undefined removes it. Not if quiet. */
  status(text: string | undefined): void;
  fail(failure: Failure): Promise<void>;
}

/** Completes our words: a command that they name asks the account that was chosen on the command line. */
export type AddAccount = (text: string) => string;

/** `account`: the options as typed. A line that names one, or is about none, is left alone. */
export function completing(account: { readonly profile: string | undefined; readonly sandbox: boolean }): AddAccount {
  const chosen = commandLine('', [], account).slice('chatelaine '.length);
  if (chosen === '') return (text) => text;
  const names = commandTable.flatMap(({ name }) => (/^(auth|sandbox|completion|commands)\b/.test(name) ? [] : [name]));
  const commands = new RegExp(`\\bchatelaine (?:${names.join('|')})\\b(?!.* --(?:profile|sandbox|help)\\b)`, 'g');
  return (text) => text.replace(commands, (command) => command + chosen);
}

/** Standard error is opened by the first message: most runs have none. */
export function openMessages(
  host: Pick<Host, 'stderr'>,
  style: MessageStyle,
  redactor: Redactor,
  complete: AddAccount,
): Messages {
  const isTerminal = (): boolean => host.stderr.isTTY === true;
  const shown = (text: string): string => (isTerminal() ? plainLines(text) : text);
  const columns = (): number => (isTerminal() ? (host.stderr.columns ?? 0) : 0);
  let isDrawn = false;
  const takeAway = (): string => (isDrawn ? '\r\u001b[K' : '');
  const writeClean = (text: string): void => {
    host.stderr.write(`${takeAway()}${text}\n`);
    isDrawn = false;
  };
  const write = (text: string): void => writeClean(redactor.clean(text));
  return {
    note(text) {
      if (!style.quiet) write(fit(indented(commandsApart(shown(complete(text)))), columns()));
    },
    warn(text) {
      const whole = complete(text);
      if (style.json) writeClean(warningJson(redactor.clean(whole)));
      else write(fit(warningText(whole, { terminal: isTerminal() }), columns()));
    },
    trace: (text) => write(shown(text)),
    status(text) {
      if (style.quiet) return;
      if (isDrawn || text !== undefined) host.stderr.write(`${takeAway()}${text ?? ''}`);
      isDrawn = text !== undefined;
    },
    async fail(failure) {
      const { failureJson, failureText } = await import('../output/errors.ts');
      const shown = redact(failure, redactor);
      if (style.json) writeClean(failureJson(shown));
      else write(failureText(shown, { ...style, terminal: isTerminal(), columns: columns() }));
    },
  };
}

/** Redacts text by text, since a secret may be a sign of JSON; then cuts a server's words, but not our own. */
export function redact(failure: Failure, { clean }: Pick<Redactor, 'clean'>): Failure {
  return reword(failure, clean, (text) => truncate(clean(text)));
}

/** The failure in other words: `clean` makes those of ours, `spoken` those of a server. */
export function reword({ kind, message, details }: Failure, clean: (text: string) => string, spoken = clean): Failure {
  const { problems, hint, http, server } = details;
  return new Failure(kind, http || server ? spoken(message) : clean(message), {
    ...details,
    problems: problems?.map(clean),
    hint: hint && clean(hint),
    http: http && { ...http, url: clean(http.url) },
    server: server && Object.fromEntries(Object.entries(server).map(([name, value]) => [name, saidIn(value, spoken)])),
  });
}

function saidIn(value: unknown, spoken: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => saidIn(item, spoken));
  return typeof value === 'string' ? spoken(value) : value;
}

export function warningText(message: string, { terminal }: { readonly terminal: boolean }): string {
  return `warning: ${indented(commandsApart(terminal ? plainLines(message) : message))}`;
}

export function warningJson(message: string): string {
  return plainJson(JSON.stringify({ warning: message }));
}
