import { usage } from '../../core/failure.ts';
import { collect } from '../../schema/field.ts';
import { readEmail } from '../../schema/profile.ts';
import { readSite } from '../../schema/url.ts';
import { keyFrom } from './secrets.ts';

/** @throws Failure usage with all problems, and where it has no key */
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
