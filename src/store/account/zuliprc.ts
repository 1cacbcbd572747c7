import { Failure, usage } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import { collect } from '../../schema/field.ts';
import { readEmail } from '../../schema/profile.ts';
import { readSite } from '../../schema/url.ts';
import { keyFrom } from './key-text.ts';

/** `notes` are what the file asks for in vain. @throws Failure usage with all problems, and where it has no key */
export function readZuliprc(text: string) {
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

/** The values of one section by lower-case names, or undefined. @throws Failure usage for `%` without interpolation */
type Section = (name: string) => string | undefined;

/**
 * Reads an INI text by the rules of Python's ConfigParser: `[DEFAULT]` fills in, `%(name)s` is replaced, indented lines
 * continue. @throws Failure usage naming every bad line by its number only: it may hold a key
 */
function readIni(text: string, wanted: string): Section {
  const { sections, problems } = parse(text);
  const section = sections.get(wanted);
  if (!section) problems.push(`this is not a zuliprc: it has no section [${wanted}]`);
  if (problems.length > 0) throw usage(problems);
  const raw = (name: string): string | undefined => {
    const option = section?.get(name) ?? sections.get('DEFAULT')?.get(name);
    return option?.join('\n').trimEnd();
  };
  return (name) => {
    const value = raw(name);
    return value === undefined ? undefined : interpolate(name, value, raw, 0);
  };
}

function parse(text: string) {
  const sections = new Map<string, Map<string, string[]>>();
  const problems: string[] = [];
  let section: Map<string, string[]> | undefined;
  // What a continuation belongs to, and the indent that it must exceed.
  let option: string[] | undefined;
  let least = 0;
  for (const [index, line] of text.split(/\r\n|\r|\n/).entries()) {
    const content = line.trim();
    const indent = line.length - line.trimStart().length;
    const [, header] = /^\[(.+)\]/.exec(content) ?? [];
    const [, name = '', value = ''] = /^([^=:]*?)\s*[=:]\s*(.*)$/.exec(content) ?? [];
    const problem = (what: string): void => void problems.push(`line ${index + 1}: ${what}`);
    if (/^[#;]/.test(content)) continue;
    if (content === '' || (option && indent > least)) {
      option?.push(content);
      continue;
    }
    least = indent;
    if (header !== undefined) {
      if (sections.has(header) && header !== 'DEFAULT') problem(`section [${header}] appears twice`);
      section = sections.get(header) ?? new Map<string, string[]>();
      sections.set(header, section);
      option = undefined;
    } else if (!section) problem('it is before the first [section]');
    else if (name === '') problem('neither a [section] nor name = value');
    else {
      const key = name.toLowerCase();
      if (section.has(key)) problem(`${key} appears twice`);
      option = [value];
      section.set(key, option);
    }
  }
  return { sections, problems };
}

const deepest = 10;

function interpolate(name: string, value: string, raw: Section, depth: number): string {
  if (depth > deepest) throw usage(`${name}: its %(name)s refer to each other`);
  return value.replace(/%(?:(%)|\(([^)]+)\)s|)/g, (_match, percent: string | undefined, other: string | undefined) => {
    if (percent !== undefined) return percent;
    if (other === undefined) throw usage(`${name}: a lone % is not allowed`, 'Write %% for a percent sign.');
    const inner = raw(other.toLowerCase());
    if (inner === undefined) throw usage(`${name}: %(${other})s names nothing that the file has`);
    return inner.includes('%') ? interpolate(name, inner, raw, depth + 1) : inner;
  });
}
