import { Failure } from '../core/failure.ts';
import type { Environment } from '../core/system.ts';
import { globalOptions } from '../commands/environment.ts';
import { commandTable } from '../commands/index.ts';
import { flagOf, type Field } from '../schema/field.ts';
import { licenseFields } from '../schema/license.ts';
import { messageFields } from '../schema/messages.ts';
import { narrowOperators } from '../schema/narrow.ts';
import { nearest } from '../schema/nearest.ts';
import { settings } from '../schema/settings.ts';
import { reworded } from './messages.ts';

/** What a user gave a run: words of the command line, lines of standard input in their place, and variables. */
export interface Typed {
  readonly words: readonly string[];
  readonly env: Environment;
}

/** Failures of these kinds speak of what a server said about a name in use: their words are kept. */
const aboutNames: ReadonlySet<string> = new Set(['not_found', 'rejected', 'incomplete', 'unknown', 'differences']);

/**
 * A failure without the values in it that look like a key (docs/apis.md, Credentials): 20 or more characters of a key's alphabet
 * that the user typed or set, but for our own names and for words in the place of a name.
 */
export function withoutKeys(failure: Failure, { words, env }: Typed): Failure {
  if (aboutNames.has(failure.kind)) return failure;
  const variables = Object.entries(env).filter(([name]) => /^CHATELAINE_|_PROXY$/i.test(name));
  const values = [...words, ...variables.map(([, value]) => value ?? '')];
  const typed = values.filter((value) => !namesFile(value)).map(withoutHost);
  const names = typedNames(words);
  const clean = (text: string): string => hideTyped(text, typed.join('\n').toLowerCase(), names);
  const shown = reworded(failure, clean);
  const { cause, ...details } = shown.details;
  const tellsMore = cause instanceof Error && clean(cause.message) !== cause.message;
  return tellsMore ? new Failure(shown.kind, shown.message, details) : shown;
}

/** Runs of a key's alphabet, in base64 too; then without the signs that also join a name to its value, and parts of a path. */
const runs = [/[\w+/=~-]{20,}/g, /[\w+~-]{20,}/g];

function hideTyped(text: string, typed: string, names: ReadonlySet<string>): string {
  const shown = (found: string): string => {
    const [all, name = '', value = found] = /^([a-z_]+=)(.+)$/.exec(found) ?? [found];
    const isSplit = name !== '' && isOurs(name.slice(0, -1));
    if (isSplit && value.length < 20) return all;
    const word = isSplit ? value : all;
    const isKnown = isOurs(word) || !typed.includes(word.toLowerCase()) || names.has(word.toLowerCase());
    return isKnown ? all : all.slice(0, all.length - word.length) + mark;
  };
  return runs.reduce((rest, run) => rest.replace(run, shown), text);
}

const mark = '[hidden: it looks like a key]';

/** Names of options, settings and fields are long too, and so are those that a slip of the fingers makes of them. */
function isOurs(word: string): boolean {
  if (/^--[a-z-]+$/.test(word)) return true;
  return /^[a-z_-]+$/i.test(word) && nearest(word.replaceAll('-', '_'), ownNames).length > 0;
}

const ownNames: readonly string[] = [...Object.keys(settings), ...messageFields, ...Object.keys(licenseFields)];

const { profile, fields, sort } = globalOptions;
const { search: _, ...operators } = narrowOperators;

/** Options whose value is a name: of a profile, a channel, a user, a field. */
const nameFlags: ReadonlySet<string> = new Set([
  ...['--name', '--column'],
  ...Object.entries<Field>({ profile, fields, sort, ...operators }).flatMap(([name, field]) => [
    `--${flagOf(name, field)}`,
    ...(field.short === undefined ? [] : [`-${field.short}`]),
  ]),
]);

/** Last words of commands that take a name, and not a key or a credential. */
const nameVerbs: ReadonlySet<string> = new Set(
  commandTable
    .filter(({ name }) => !/^(license |auth (login|import)$)/.test(name))
    .map(({ name }) => name.split(' ').at(-1) ?? name),
);

/** Words joined as in names, none of more than 15 letters: `europe-north-release-notes`, `narrow/channel/31-bulk/topic/every.20shape`. */
const joinedWords = /^[#@]?[A-Z]?[a-z]{1,14}(?:[-_./][A-Z]?[a-z]{1,15}|[-_./]\d{1,7})*$/;

/** What is typed in the place of a name and has its form, and the runs of a key's alphabet in it. */
function typedNames(words: readonly string[]): ReadonlySet<string> {
  const values = words.flatMap((word, index) => {
    const [, flag = words[index - 1] ?? '', value = word] = /^(--[a-z-]+)=(.*)$/.exec(word) ?? [];
    return nameFlags.has(flag) || nameVerbs.has(flag)
      ? value
          .replace(/^https?:\/\/[^/]+\//, '')
          .replace(/^#/, '')
          .split(',')
      : [];
  });
  const found = values
    .filter((value) => joinedWords.test(value))
    .flatMap((value) => [value, ...runs.flatMap((run) => value.match(run) ?? [])]);
  return new Set(found.map((value) => value.toLowerCase()));
}

/** A path from a root or with an ending is no key, and errors name the file and its line. */
function namesFile(value: string): boolean {
  return (
    /^(?:(?:\.{0,2}|~|[a-z]:)[/\\])|\.[a-z0-9]{1,6}$/i.test(value) && !value.includes('://') && !value.includes('=')
  );
}

/** The name of a server is no key: an error that does not show it cannot be understood. */
function withoutHost(value: string): string {
  return value.replace(/^(https?:\/\/)?[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,18}(?=[:/]|$)/i, '');
}
