import { Failure } from '../core/failure.ts';
import type { Environment } from '../core/world.ts';
import { settings } from '../schema/settings.ts';

/** What a user gave a run: words of the command line, lines of standard input in their place, and variables. */
export interface Typed {
  readonly words: readonly string[];
  readonly env: Environment;
}

/** Failures of these kinds speak of what a server said about a name in use: their words are kept. */
const aboutNames: ReadonlySet<string> = new Set(['not_found', 'rejected', 'incomplete', 'unknown', 'differences']);

/**
 * A failure without the values in it that look like a key (docs/apis.md, Credentials): 20 or more characters of a key's alphabet
 * that the user typed or set.
 */
export function withoutKeys(failure: Failure, { words, env }: Typed): Failure {
  if (aboutNames.has(failure.kind)) return failure;
  const variables = Object.entries(env).filter(([name]) => /^CHATELAINE_|_PROXY$/i.test(name));
  const values = [...words, ...variables.map(([, value]) => value ?? '')];
  const typed = values.filter((value) => !namesFile(value)).map(withoutHost);
  const clean = (text: string): string => hideTyped(text, typed.join('\n').toLowerCase());
  const { problems, hint, http, server, retryable } = failure.details;
  const cause = failure.cause instanceof Error && clean(failure.cause.message) !== failure.cause.message;
  return new Failure(failure.kind, clean(failure.message), {
    problems: problems?.map(clean),
    hint: hint && clean(hint),
    http: http && { ...http, url: clean(http.url) },
    server: server && { code: server.code && clean(server.code), msg: server.msg && clean(server.msg) },
    retryable,
    ...(cause ? {} : { cause: failure.cause }),
  });
}

/** Runs of a key's alphabet, in base64 too; then without the signs that also join a name to its value, and parts of a path. */
const runs = [/[\w+/=~-]{20,}/g, /[\w+~-]{20,}/g];

function hideTyped(text: string, typed: string): string {
  return runs.reduce((rest, run) => rest.replace(run, (found) => (isKey(found, typed) ? mark : found)), text);
}

const mark = '[hidden: it looks like a key]';

/** Names of options and settings are long too. */
function isKey(found: string, typed: string): boolean {
  if (/^--[a-z-]+$/.test(found)) return false;
  return typed.includes(found.toLowerCase()) && !Object.hasOwn(settings, found.replaceAll('-', '_'));
}

/** A path from a root or with an ending is no key, and errors name the file and its line. */
function namesFile(value: string): boolean {
  return /^(\.{0,2}|~)\/|\.[a-z0-9]{1,6}$/i.test(value) && !value.includes('://') && !value.includes('=');
}

/** The name of a server is no key: an error that does not show it cannot be understood. */
function withoutHost(value: string): string {
  return value.replace(/^(https?:\/\/)?[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,18}(?=[:/]|$)/i, '');
}
