import { describe, expect, test } from 'vitest';
import login from '../../src/commands/auth/login.ts';
import { globalOptions } from '../../src/commands/environment.ts';
import { namesIn } from '../../src/core/table-names.ts';
import {
  accountFields,
  kinds,
  profileFields,
  readEmail,
  variableOf,
  variablesOf,
  type ProfileField,
} from '../../src/schema/profile.ts';
import { parseProfile } from '../../src/store/account/profiles.ts';

const samples = { base_url: 'https://a.example', site: 'https://c.example', email: 'u@c.example' } as const;
const ledger = 'postgres://ada@db.example/ledger';

/** A value that the row takes. */
function sampleOf(name: string, field: ProfileField): unknown {
  if (field.kind === 'boolean') return true;
  if (field.kind === 'integer') return 7;
  const choices = field.kind === 'string' ? field.choices : undefined;
  return choices?.[0] ?? { ...samples, ledger }[name] ?? 'text';
}

describe.each(namesIn(kinds))('a profile of kind %s', (kind) => {
  const rows = Object.entries<ProfileField>(profileFields[kind]);
  const whole = { kind, ...Object.fromEntries(rows.map(([name, field]) => [name, sampleOf(name, field)])) };

  test('is read back with every field of its table', () => {
    expect(parseProfile('p', whole)).toEqual({ ...whole, name: 'p' });
  });

  test.each(rows.map(([name]) => name))('with a %s of another type is refused', (name) => {
    expect(() => parseProfile('p', { ...whole, [name]: {} })).toThrow(name);
  });

  test.each(namesIn(accountFields[kind]))('without its %s is refused', (name) => {
    expect(() => parseProfile('p', { ...whole, [name]: undefined })).toThrow(name);
  });

  test('has an option of auth login for each field', () => {
    expect(Object.keys({ ...login.options, ...globalOptions })).toEqual(
      expect.arrayContaining(rows.map(([name]) => name)),
    );
  });

  test('has the variables of its rows in the manual', () => {
    const named = rows.filter(([, { environment }]) => environment !== undefined).map(([name]) => name);
    expect(Object.keys(variablesOf(kind))).toEqual(expect.arrayContaining(named.map((name) => variableOf(kind, name))));
  });
});

test('an address is read in small letters, and refused where it cannot be a user', () => {
  expect(readEmail('Ada@C.example')).toBe('ada@c.example');
  for (const text of ['', 'a b@c.example', 'a:b@c.example', 'a\n@c'])
    expect(() => readEmail(text)).toThrow('the e-mail address is empty, or holds a space or a colon');
  expect(() => readEmail('"ada@c.example"')).toThrow('the e-mail address is in quotes');
});
