import { commandTable } from '../commands/index.ts';
import type { GlobalValues } from '../commands/context.ts';
import { Failure } from '../core/failure.ts';
import type { Secret } from '../core/secret.ts';
import { commandLine } from '../core/shell-word.ts';
import { rowOf } from '../output/formats.ts';
import { commandsApart, fit, hasColor, indented, ourCommand, plainJson, plainLines } from '../output/plain.ts';
import type { Host } from './host.ts';

export type Redactor = ReturnType<typeof openRedactor>;

/** Removes every secret that it watches from texts that leave the program other than as data. */
export function openRedactor() {
  const secrets = new Set<Secret>();
  return {
    watch(secret: Secret): Secret {
      secrets.add(secret);
      return secret;
    },
    clean: (text: string): string => [...secrets].reduce((rest, secret) => secret.redact(rest), text),
  };
}

const maxChars = 1000;

/** Cuts a server's words to a readable length, after redaction, which would not recognize half a secret. */
export function truncate(redacted: string): string {
  return redacted.length > maxChars ? `${redacted.slice(0, maxChars)}… (${redacted.length} characters)` : redacted;
}

/** Writes to stderr, without secrets. */
export type Messages = ReturnType<typeof openMessages>;

/** Adds the --profile or --sandbox that was typed to every command in a text that is about an account. */
export function completing(account: { readonly profile: string | undefined; readonly sandbox: boolean }) {
  const chosen = commandLine('', [], account).slice('chatelaine '.length);
  if (chosen === '') return (text: string) => text;
  const names = commandTable.flatMap(({ name }) => (/^(auth|sandbox|completion|commands)\b/.test(name) ? [] : [name]));
  const commands = new RegExp(`\\bchatelaine (?:${names.join('|')})\\b(?!.* --(?:profile|sandbox|help)\\b)`, 'g');
  return (text: string) => text.replace(commands, (command) => command + chosen);
}

/** Standard error is opened by the first message: most runs have none. */
export function openMessages(
  host: Pick<Host, 'stderr' | 'system'>,
  { output, quiet, color }: Pick<GlobalValues, 'output' | 'quiet' | 'color'>,
  redactor: Redactor,
  complete: ReturnType<typeof completing>,
) {
  const isJson = rowOf(output)?.isJson === true;
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
  const isColored = (): boolean => hasColor({ when: color, terminal: isTerminal(), env: host.system.env });
  const lines = (text: string, mark = ''): string =>
    fit(commandsApart(mark + indented(shown(complete(text))), ourCommand), columns());
  return {
    /** A line that is part of the run, such as a plan or what the command waits for. */
    say(text: string): void {
      if (!quiet) write(lines(text));
    },
    /** A remark beside the result. */
    note(text: string): void {
      if (!quiet) write(lines(text, 'note: '));
    },
    warn(text: string): void {
      if (isJson) writeClean(plainJson(JSON.stringify({ warning: redactor.clean(complete(text)) })));
      else write(lines(text, 'warning: '));
    },
    trace: (text: string): void => write(shown(text)),
    /** Shows a line on a terminal until the next message or status replaces it; undefined removes it. Not if quiet. */
    status(text: string | undefined): void {
      if (quiet) return;
      if (isDrawn || text !== undefined) host.stderr.write(`${takeAway()}${text ?? ''}`);
      isDrawn = text !== undefined;
    },
    async fail(failure: Failure): Promise<void> {
      const { failureJson, failureText } = await import('../output/errors.ts');
      if (isJson) writeClean(failureJson(failure));
      else write(failureText(failure, { color: isColored(), terminal: isTerminal(), columns: columns() }));
    },
  };
}

/** Cleans each text alone, since a secret may be a character of JSON; then cuts a server's words, but not ours. */
export function redact({ kind, message, details }: Failure, clean: (text: string) => string): Failure {
  const { problems, hint, http, server } = details;
  const spoken = (text: string): string => truncate(clean(text));
  return new Failure(kind, http || server ? spoken(message) : clean(message), {
    ...details,
    problems: problems?.map(clean),
    hint: hint && clean(hint),
    http: http && { ...http, url: clean(http.url) },
    server: server && Object.fromEntries(Object.entries(server).map(([name, value]) => [name, saidIn(value, spoken)])),
    cause: undefined,
  });
}

function saidIn(value: unknown, spoken: (text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => saidIn(item, spoken));
  return typeof value === 'string' ? spoken(value) : value;
}
