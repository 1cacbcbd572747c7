import { isObject, type JsonObject } from '../../core/json.ts';
import { namesIn } from '../../core/table-names.ts';
import { licenseFields } from '../../schema/license.ts';
import type { LicenseRecord } from '../records.ts';
import type { SandboxRequest } from '../request.ts';
import { Unacceptable, type LicensingCall } from './licensing-call.ts';
import { keptName } from './shapes.ts';

type LicenseInput = Pick<LicenseRecord, 'remote_user' | 'app_code' | 'size_allowance'>;

/**
 * The fields of a license in a JSON or form body; all three, or those that were sent, the name as stored. All faults
 * are reported at once. The values of a form are texts; those of JSON have the types of the specification.
 * @throws Unacceptable 400 with a list of texts for each field, 403 for another application, 415 for another media type
 */
export function readLicense(call: LicensingCall, extent: 'whole'): LicenseInput;
export function readLicense(call: LicensingCall, extent: 'part'): Partial<LicenseInput>;
export function readLicense(call: LicensingCall, extent: 'whole' | 'part'): Partial<LicenseInput> {
  const { request, app_code, shape } = call;
  const sent = fieldsOf(request);
  const typing = request.mediaType === 'application/json' ? 'typed' : 'lenient';
  const faults: Record<string, string[]> = {};
  const values: Record<string, unknown> = {};
  for (const name of namesIn(readers)) {
    const value = sent[name];
    if (value === undefined && extent === 'part') continue;
    const outcome = value === undefined ? { fault: 'This field is required.' } : readers[name](value, typing);
    if ('fault' in outcome) faults[name] = [outcome.fault];
    else values[name] = outcome.value;
  }
  if (Object.keys(faults).length > 0) throw new Unacceptable(400, faults);
  if (values['app_code'] !== undefined && values['app_code'] !== app_code) {
    throw new Unacceptable(403, { detail: 'The API key belongs to another application.' });
  }
  if (typeof values['remote_user'] === 'string') values['remote_user'] = keptName(values['remote_user'], shape);
  return values;
}

function fieldsOf({ mediaType, body, form }: SandboxRequest): JsonObject {
  if (mediaType === 'application/json') return jsonFields(body.toString('utf8'));
  if (mediaType === 'application/x-www-form-urlencoded' || mediaType === 'multipart/form-data') {
    return Object.fromEntries(form);
  }
  if (body.length === 0) return {};
  throw new Unacceptable(415, { detail: `Unsupported media type "${mediaType}" in request.` });
}

function jsonFields(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new Unacceptable(400, { detail: 'JSON parse error - Expecting value: line 1 column 1 (char 0)' });
  }
  throw new Unacceptable(400, { non_field_errors: ['Invalid data. Expected a dictionary.'] });
}

type FieldOutcome = { readonly value: unknown } | { readonly fault: string };

/** `typed`: a number is no text, and a text no number. */
type InputTypes = 'typed' | 'lenient';

const readers: Readonly<Record<keyof LicenseInput, (value: unknown, typing: InputTypes) => FieldOutcome>> = {
  remote_user(value) {
    const { below } = licenseFields.remote_user;
    if (value === null) return { fault: 'This field may not be null.' };
    if (typeof value !== 'string') return { fault: 'Not a valid string.' };
    if (value === '') return { fault: 'This field may not be blank.' };
    if (Array.from(value).length >= below)
      return { fault: `Ensure this field has no more than ${below - 1} characters.` };
    return /[^\x00-\x7f]/.test(value) ? { fault: 'Enter ASCII characters only.' } : { value };
  },
  app_code: readInteger,
  size_allowance(value, typing) {
    const { min, max } = licenseFields.size_allowance;
    const outcome = readInteger(value, typing);
    if ('fault' in outcome) return outcome;
    if (outcome.value < min) return { fault: `Ensure this value is greater than or equal to ${min}.` };
    return outcome.value > max ? { fault: `Ensure this value is less than or equal to ${max}.` } : outcome;
  },
};

function readInteger(value: unknown, typing: InputTypes): { readonly value: number } | { readonly fault: string } {
  if (value === null) return { fault: 'This field may not be null.' };
  const isNumber = typeof value === 'number' || (typeof value === 'string' && typing === 'lenient');
  const text = isNumber ? String(value).trim() : '';
  return /^[+-]?\d{1,15}(\.0+)?$/.test(text) ? { value: Number(text) } : { fault: 'A valid integer is required.' };
}
