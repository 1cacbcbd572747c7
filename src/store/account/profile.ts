import { labelled, usage } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { readField, valuesOf, type Field, type Fields, type Values } from '../../schema/field.ts';
import { keyCommand, profileFields, urlOf, type Kind, type Profile } from '../../schema/profile.ts';
import { originOf } from '../../schema/url.ts';
import { type Content } from './configuration.ts';

/**
 * A profile as the file holds it, with its URL normalised; undefined for a kind that this version does not know.
 * @throws Failure usage or config naming the field that is wrong
 */
export function parseProfile(name: string, stored: unknown): Profile | undefined {
  if (!isObject(stored)) throw usage('is not an object');
  const { kind } = stored;
  const key = valuesIn(stored, { key_command: keyCommand });
  if (kind === 'licensing') return { kind, name, ...valuesIn(stored, profileFields.licensing), ...key };
  if (kind === 'chat') return { kind, name, ...valuesIn(stored, profileFields.chat), ...key };
  if (typeof kind === 'string') return undefined;
  throw usage('kind is missing');
}

/** The origin that the profile's key is sent to. */
export function originOfProfile(profile: Profile): string {
  return originOf(urlOf(profile));
}

function valuesIn<const T extends Fields>(stored: Content, fields: T): Values<T> {
  return valuesOf(fields, (name, field) => {
    const value = stored[name];
    return value === undefined && !field.required ? undefined : storedValue(name, field, value);
  });
}

/** A value of another type is refused rather than taken for none: a wrong `read_only` would allow writes. */
function storedValue(name: string, field: Field, value: unknown): unknown {
  if (field.kind === 'boolean') {
    if (typeof value === 'boolean') return value;
    throw usage(`${name} is neither true nor false`);
  }
  if (field.kind === 'integer') {
    if (typeof value === 'number') return readField(name, field, String(value));
    throw usage(`${name} is not an integer`);
  }
  if (typeof value === 'string' && value !== '') return readField(name, field, value);
  throw usage(`${name} is missing`);
}

/** What choosing a credential needs of the profiles. */
export interface ProfileSource {
  all(): Promise<readonly Profile[]>;
  defaults(): Promise<Readonly<Partial<Record<Kind, string>>>>;
  find(name: string): Promise<Profile | undefined>;
}

/** Gives a failure of stored data its place, as a failure of the configuration. */
export function inFile<T>(place: string, read: () => T): T {
  return labelled(place, read, 'config');
}
