import {
  errorFields,
  guessedKeyFields,
  licenseFields,
  type LicenseFields,
  licenseIdentity,
  namedKeyFields,
} from '../../schema/license.ts';
import { isObject, type JsonObject, writeJson } from '../../core/json.ts';
import { Failure } from '../../core/failure.ts';
import { namesIn } from '../../core/table-names.ts';

export interface License {
  /** Undefined where no field has a name of a key. */
  readonly key: string | undefined;
  /** All fields as the server sent them. */
  readonly fields: JsonObject;
}

/** One text for one license: one key of one user of one application is one license, however often it is shown. */
export function identityOf(license: License): string {
  const { key, fields } = license;
  if (key === undefined) return writeJson(fields);
  return `${key}\n${textOf(license, 'remote_user') ?? ''}\n${textOf(license, 'app_code') ?? ''}`;
}

/** True if its key ends with these four characters, which the record and the history keep of a key. */
export const hasKeyEnd = ({ key }: License, end?: string): boolean => end !== undefined && key?.slice(-4) === end;

/** Signs that servers show in place of characters of a key or a name. */
const hiding = /[*•…·]/;

export function isMasked(text: string): boolean {
  return hiding.test(text);
}

/** Three equal letters hide characters of a key, or are characters of one. */
export function mayBeMasked(key: string): boolean {
  return isMasked(key) || /x{3}|X{3}|#{3}/.test(key);
}

/** Each license once; rows without a key cannot be told apart. */
export function distinct(licenses: readonly License[]): readonly License[] {
  if (licenses.length < 2) return licenses;
  const shown = new Set<string>();
  return licenses.filter((license) => {
    const identity = identityOf(license);
    const isNew = license.key === undefined || !shown.has(identity);
    shown.add(identity);
    return isNew;
  });
}

export const licenseNames = namesIn(licenseFields);

/** Values for a license; one that is left out says nothing. */
export type EditedFields = { readonly [K in keyof LicenseFields]?: LicenseFields[K] | undefined };

/** The value of a field as text; undefined where the license does not have it, or it is neither text nor number. */
export function textOf({ fields }: License, name: keyof LicenseFields): string | undefined {
  const value = fields[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : undefined;
}

export function sizeOf(license: License): number | undefined {
  const text = textOf(license, 'size_allowance');
  return text === undefined ? undefined : Number(text);
}

/** How the license differs from what was asked (`size_allowance 4 instead of 6`); a missing field does not differ. */
export function differencesFrom(asked: EditedFields, license: License): string[] {
  return licenseNames.flatMap((name) => {
    const answered = Array.isArray(license.fields[name]) ? 'a list' : textOf(license, name);
    const wanted = asked[name];
    if (wanted === undefined || answered === undefined || answered === String(wanted)) return [];
    return [`${name} ${quote(answered)} instead of ${quote(wanted)}`];
  });
}

function quote(value: string | number): string {
  return typeof value === 'number' || /^\d+$/.test(value) ? String(value) : `'${value}'`;
}

/** @throws Failure unavailable naming the fields where none of them can be the key; incomplete where it is masked */
export function keyOf({ key, fields }: License): string {
  if (key !== undefined && !isMasked(key)) return key;
  if (key !== undefined)
    throw new Failure('incomplete', `the server shows only a part of its key (it ends with ${key.slice(-4)})`, {
      hint: 'Ask the operator of the server for the key.',
      retryable: false,
    });
  const message = withoutKey({ fields });
  throw new Failure('unavailable', message, { hint: keyHint, retryable: false });
}

export function withoutKey({ fields }: Pick<License, 'fields'>): string {
  const names = Object.keys(fields).join(', ') || 'none';
  return `no field of the license can be recognized as its key; its fields are: ${names}`;
}

export const keyHint = 'Name the field in the profile: chatelaine auth login --name NAME --key-field FIELD.';

/** The license that an object shows, or wraps. @param key_field the profile's name for the key (docs/apis.md) */
export function licenseFrom(object: JsonObject, key_field: string | undefined): License {
  const key = keyIn(object, key_field);
  const inner = key !== undefined || isLicense(object) ? undefined : innerObject(object);
  if (!inner) return { key, fields: object };
  const beside = Object.fromEntries(Object.entries(object).filter(([, value]) => value !== inner));
  return { key: keyIn(inner, key_field), fields: { ...inner, ...apart(beside, inner) } };
}

/** Renames the server's fields whose names `others` has already to `server_NAME`. */
export function apart(fields: JsonObject, others: JsonObject): JsonObject {
  const isFree = (name: string): boolean => !Object.hasOwn(others, name);
  const free = (name: string): string => (isFree(name) && !Object.hasOwn(fields, name) ? name : free(`server_${name}`));
  const names = Object.keys(fields);
  if (names.every(isFree)) return fields;
  return Object.fromEntries(names.map((name) => [isFree(name) ? name : free(`server_${name}`), fields[name]]));
}

/** Whether the object has a field that only licenses have; a list in its place says what is wrong with the field. */
export function isLicense(object: JsonObject): boolean {
  return licenseIdentity.some((name) => {
    const value = object[name];
    return value !== undefined && value !== null && !Array.isArray(value);
  });
}

/** The only object inside another one; what is under the name of an error is not wrapped, but part of the error. */
export function innerObject(object: JsonObject): JsonObject | undefined {
  const named = Object.entries(object).filter(([name]) => !errorFields.some((field) => field === name));
  const [inner, ...others] = named.map(([, value]) => value).filter((value) => isObject(value));
  return others.length === 0 ? inner : undefined;
}

/** Beside a field of the license `code` is its key; in any other object it may be the code of an error. */
function keyIn(object: JsonObject, key_field: string | undefined): string | undefined {
  const isOfLicense = licenseParts.some((name) => object[name] !== undefined);
  const guessed = key_field === undefined && isOfLicense ? guessedKeyFields : [];
  const names = [...(key_field === undefined ? [] : [key_field]), ...namedKeyFields, ...guessed];
  return names.map((name) => keyText(object[name])).find((key) => key !== undefined);
}

const licenseParts = [...licenseNames, 'mac_address'] as const;

function keyText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return (typeof value === 'number' || typeof value === 'bigint') && value > 0 ? String(value) : undefined;
}
