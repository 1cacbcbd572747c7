import type { Readable } from 'node:stream';
import { Failure, labelled, type FailureKind, usage } from '../../core/failure.ts';
import { openInput, readStartText, readText, TooMuchInput } from '../../core/read.ts';
import { Secret } from '../../core/secret.ts';
import { shellWord } from '../../core/shell-word.ts';
import { type System, variableWithText } from '../../core/system.ts';
import { readSite, refuseQuoted } from '../../schema/url.ts';
import { storageFailure } from '../disk/files.ts';
import { refuseUnsafe } from '../disk/private.ts';
import { isObject } from '../../core/json.ts';
import { collect } from '../../schema/field.ts';
import { headerVariable, readEmail } from '../../schema/profile.ts';

/** A key from its text; `source` names where it is from. @throws Failure where it is empty or not for a header */
export function keyFrom(text: string, source: string, kind?: FailureKind): Secret {
  return new Secret(keyText(text, source, kind));
}

/** The text of a key without the blanks around it, which no header carries. @throws Failure as `keyFrom` */
export function keyText(text: string, source: string, kind: FailureKind = 'config'): string {
  const key = text.trim();
  if (key === '') throw new Failure(kind, `${source}: the key is empty`);
  labelled(source, () => refuseQuoted('the key', key), kind);
  if (/^[\x20-\x7e]+$/.test(key)) return key;
  throw new Failure(kind, `${source}: the key contains a character that cannot be sent`, {
    hint: 'A key is printable ASCII in one line; copy it again.',
  });
}

export function firstLine(text: string): string {
  return text.replace(/\r?\n[^]*$/, '');
}

/** More than any key: a file such as /dev/zero has no end. */
const maxBytes = 64 * 1024;

/** The key in the first line of a file. @throws as readSecretFile */
export async function readKeyFile(path: string, source: string, system: System, signal?: AbortSignal): Promise<Secret> {
  const text = await readSecretFile(path, source, system, signal, readStartText);
  return keyFrom(firstLine(text), `${source} (${path})`);
}

/** Reads a file that others cannot read; a mounted one of root may be open to its group. */
export async function readSecretFile(
  path: string,
  source: string,
  system: System,
  signal: AbortSignal = new AbortController().signal,
  read: typeof readStartText = readText,
): Promise<string> {
  let stream: Readable | undefined;
  try {
    const opened = await openInput(path);
    stream = opened.stream;
    const isMounted = opened.stats.uid === 0 && system.uid !== 0;
    const otherwise =
      `\nOr give a pipe: <(cat ${shellWord(path)}). Of a mounted secret, Kubernetes sets the mode with defaultMode: 0400 of the volume ` +
      'and fsGroup of the pod; docker and compose mount the mode and owner of the file on the host; swarm takes uid and mode: 0400.';
    const words = { what: `${source}: ${path}`, otherwise };
    if (opened.stats.isFile()) await refuseUnsafe(path, opened.stats, system, isMounted ? 0o007 : 0o077, words);
    return await read(stream, { signal, maxBytes });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    if (cause instanceof Failure && cause.kind === 'usage')
      throw new Failure('config', `${source}: ${path}: ${cause.message}`, cause.details);
    if (cause instanceof TooMuchInput) throw new Failure('config', `${source}: ${path} is too large: ${cause.message}`);
    throw storageFailure(`${source}: cannot read ${path}`, cause);
  } finally {
    stream?.destroy();
  }
}

/** Headers by their names in lower case. */
export type Headers = Readonly<Record<string, Secret>>;

/** The secrets of an account: its key, and headers for an access proxy. */
export interface Secrets {
  readonly key: Secret;
  readonly headers?: Headers | undefined;
}

/** Headers that every request has already, or that HTTP needs for itself. */
const ours = new Set(
  (
    'accept accept-encoding accept-language authorization cache-control connection content-encoding content-length ' +
    'content-type expect host keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade user-agent'
  ).split(' '),
);

/** The headers of lines `NAME: VALUE`; blank lines are left out. @throws Failure usage naming every bad line */
export function readHeaderLines(text: string, source: string): Headers {
  const lines = text.split(/\r?\n/).map((line, index) => ({ line: line.trim(), at: `${source}:${index + 1}` }));
  const seen = new Map<string, string>();
  const read = ({ line, at }: { line: string; at: string }): readonly [string, Secret][] => {
    if (line === '') return [];
    // What is no header may be a secret, and is not repeated.
    const [, written, value = ''] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(line) ?? [];
    if (written === undefined) throw usage(`${at}: not a line NAME: VALUE`);
    const name = written.toLowerCase();
    const first = seen.get(name);
    if (ours.has(name)) throw usage(`${at}: chatelaine sets ${name} itself`);
    if (first !== undefined) throw usage(`${at}: ${name} is already set, in ${first}`);
    if (value === '') throw usage(`${at}: ${name} has no value`);
    if (!/^[\x20-\x7e]+$/.test(value)) throw usage(`${at}: the value of ${name} has a character that cannot be sent`);
    seen.set(name, at);
    return [[name, new Secret(value)]];
  };
  const headers = collect(lines, read).flat();
  if (headers.length === 0) throw usage(`${source}: no line NAME: VALUE`);
  return Object.fromEntries(headers);
}

export function headersIn(stored: unknown): Headers | undefined {
  if (!isObject(stored)) return undefined;
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, new Secret(String(value))]));
}

/** @throws Failure config for a file that is unsafe or wrong, or a variable that is empty */
export async function headersOfEnvironment(system: System, signal?: AbortSignal): Promise<Headers | undefined> {
  const path = variableWithText(system.env, headerVariable);
  if (path === undefined) return undefined;
  const text = await readSecretFile(path, headerVariable, system, signal);
  return labelled(headerVariable, () => readHeaderLines(text, path), 'config');
}

/** Reads a zuliprc. @throws Failure usage with all problems, and where it has no key */
export function readZuliprc(text: string) {
  const api = readSection(text);
  const valueOf = (name: string): string => {
    const value = api.get(name) ?? '';
    if (value === '') throw usage(`section [api]: ${name} is missing`);
    return value;
  };
  const email = () => readEmail(valueOf('email'));
  const key = () => keyFrom(valueOf('key'), 'section [api]', 'usage');
  const site = () => readSite(valueOf('site'));
  // All problems of the file at once; after that none of them throws.
  collect([email, key, site], (read) => read());
  return { email: email(), key: key(), site: site() };
}

/**
 * The lines `name = value` of the section `[api]`, by lower-case names.
 * @throws Failure usage naming every bad line by its number only: it may hold a key
 */
function readSection(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  const problems: string[] = [];
  let section: string | undefined;
  let isThere = false;
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    const content = line.trim();
    if (/^([#;]|$)/.test(content)) continue;
    section = /^\[(.+)\]/.exec(content)?.[1] ?? section;
    isThere ||= section === 'api';
    if (section !== 'api' || content.startsWith('[')) continue;
    const [, name = '', value = ''] = /^([^=:]*?)\s*[=:]\s*(.*)$/.exec(content) ?? [];
    const key = name.toLowerCase();
    if (key === '') problems.push(`line ${index + 1}: neither a [section] nor name = value`);
    else if (values.has(key)) problems.push(`line ${index + 1}: ${key} appears twice`);
    values.set(key, value);
  }
  if (!isThere) problems.push('this is not a zuliprc: it has no section [api]');
  if (problems.length > 0) throw usage(problems);
  return values;
}
