import { labelled, usage } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { Secret } from '../../core/secret.ts';
import { variableWithText, type System } from '../../core/system.ts';
import { collect } from '../../schema/field.ts';
import { headerVariable } from '../../schema/profile.ts';
import { readSecretFile } from './key-text.ts';

/** Headers by their names in lower case. */
export type Headers = Readonly<Record<string, Secret>>;

/** What is secret of an account: the key, and headers for an access proxy. */
export interface Secrets {
  readonly key: Secret;
  readonly headers?: Headers | undefined;
}

/** Those that every request has already, or that HTTP needs for itself. */
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
    if (first !== undefined) throw usage(`${at}: ${name} is there already, in ${first}`);
    if (value === '') throw usage(`${at}: ${name} has no value`);
    if (!/^[\x20-\x7e]+$/.test(value)) throw usage(`${at}: the value of ${name} has a character that cannot be sent`);
    seen.set(name, at);
    return [[name, new Secret(value)]];
  };
  const headers = collect(lines, read).flat();
  if (headers.length === 0) throw usage(`${source}: no line NAME: VALUE`);
  return Object.fromEntries(headers);
}

/** Reads stored headers. */
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
