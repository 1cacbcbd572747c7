import { Failure } from '../../core/failure.ts';
import { licenseKeyFields } from '../../schema/license.ts';
import type { JsonObject } from '../http/answer.ts';

/** A license as the server returned it: its fields are not specified. A bare key becomes `{ license_code }`. */
export type License = JsonObject;

/** The profile's name for the key's field travels with the license, unseen by JSON. */
const keyFieldOf = Symbol('key_field');

export function withKeyField(license: JsonObject, keyField: string | undefined): License {
  return keyField === undefined ? license : Object.defineProperty({ ...license }, keyFieldOf, { value: keyField });
}

/** The license with further fields before its own, which win. */
export function withFields(fields: JsonObject, license: License): License {
  return withKeyField({ ...fields, ...license }, (license as { readonly [keyFieldOf]?: string })[keyFieldOf]);
}

/**
 * The key of a license, whatever its field is called (contract, section 5).
 * @throws Failure unavailable naming the fields where nothing fits
 */
export function keyOf(license: License): string {
  const name = findKey(license);
  const value = name === undefined ? undefined : license[name];
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return String(value);
  const names = Object.keys(license).join(', ');
  throw new Failure(
    'unavailable',
    `no field of the license holds a key that can be recognised; its fields are: ${names === '' ? 'none' : names}`,
    {
      hint: 'Name the field in the profile: chatelaine auth login licensing … --key-field FIELD.',
      retryable: false,
    },
  );
}

/** Fields of a license that are certainly not its key. */
const explained: ReadonlySet<string> = new Set([
  'remote_user',
  'app_code',
  'size_allowance',
  'mac_address',
  'detail',
  'status',
  'error',
  'errors',
  'message',
  'msg',
  'result',
  'reason',
  'title',
]);
const longestKey = 200;

/** The name of the field that holds the key; undefined where nothing fits. */
export function findKey(license: License): string | undefined {
  const told = (license as { readonly [keyFieldOf]?: string })[keyFieldOf];
  if (told !== undefined) return isKey(license[told]) ? told : undefined;
  const known = licenseKeyFields.find((name) => isKey(license[name]));
  if (known !== undefined) return known;
  const [only, ...others] = Object.entries(license).filter(([name, value]) => !explained.has(name) && mayBeKey(value));
  return others.length === 0 ? only?.[0] : undefined;
}

/** A date, a URL or a sentence explains itself: it is no key. */
function mayBeKey(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length < longestKey &&
    !/^(\d{4}-\d\d-\d\d|https?:\/\/)|\s/.test(value)
  );
}

function isKey(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' || typeof value === 'bigint';
}
