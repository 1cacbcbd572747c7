import { Failure, usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { collect } from '../../schema/field.ts';
import { readEmail } from '../../schema/profile.ts';
import { readSite } from '../../schema/url.ts';
import { readIni, type Section } from './ini.ts';
import { keyFrom } from './key-text.ts';

export interface Zuliprc {
  readonly site: string;
  readonly email: string;
  readonly key: Secret;
  /** What the file asks for and chatelaine does not do. */
  readonly notes: readonly string[];
}

/**
 * Reads the configuration file of the chat service's own client: section `[api]` with `email`, `key`, `site`.
 * @throws Failure usage with every problem of the file; a key is never repeated
 */
export function readZuliprc(text: string): Zuliprc {
  const api = readIni(text, 'api');
  const email = () => readEmail(valueOf(api, 'email'));
  const key = () => keyOf(valueOf(api, 'key'));
  const site = () => readSite(valueOf(api, 'site'));
  const notes = () => notesOf(api);
  // All problems of the file at once; after that none of them throws.
  collect([email, key, site, notes], (read) => read());
  return { email: email(), key: key(), site: site(), notes: notes() };
}

function valueOf(api: Section, name: string): string {
  const value = api(name);
  if (value === undefined || value === '') throw usage(`section [api]: ${name} is missing`);
  return value;
}

function keyOf(text: string): Secret {
  try {
    return keyFrom(text, 'section [api]');
  } catch (cause) {
    throw cause instanceof Failure ? cause.as('usage', cause.message) : cause;
  }
}

function notesOf(api: Section): string[] {
  const insecure = api('insecure')?.toLowerCase();
  if (insecure !== undefined && insecure !== 'true' && insecure !== 'false')
    throw usage('section [api]: insecure is neither true nor false');
  return [
    ...(insecure === 'true' ? ['insecure is not supported: certificates are always checked'] : []),
    ...(api('cert_bundle') === undefined ? [] : ['cert_bundle is not taken over: name the file with --ca-file']),
    ...['client_cert', 'client_cert_key']
      .filter((name) => api(name) !== undefined)
      .map((name) => `${name} is not supported: client certificates are not sent`),
  ];
}
