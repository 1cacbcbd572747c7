import type { LicenseRecord } from '../../records.ts';

/** How one license, or the error about it, looks in an answer. */
export interface BodyShape {
  /** Name of the field that holds the key; default `license_code`. */
  readonly keyField?: string;
  /** `key`: one license is the bare string of its key. */
  readonly one?: 'whole' | 'key';
  /** How names are changed before they are kept; default: they are not. */
  readonly names?: NameChangeName;
  /** Errors come with status 200 in this form; default: with their own status. */
  readonly error_shape?: ErrorShapeName;
  /** Rows of a list: `anonymous` lacks `remote_user` and `app_code`, `keys` are bare strings. */
  readonly rows?: 'whole' | 'anonymous' | 'keys';
}

/** A license as the body of an answer. */
export function bodyOf(license: LicenseRecord, shape: BodyShape): unknown {
  return shape.one === 'key' ? license.license_code : nameFields(license, shape);
}

/** A license as a row of a list. */
export function rowOf(license: LicenseRecord, shape: BodyShape): unknown {
  if (shape.rows === 'keys') return license.license_code;
  const row = nameFields(license, shape);
  if (shape.rows !== 'anonymous') return row;
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'remote_user' && name !== 'app_code'));
}

function nameFields(license: LicenseRecord, { keyField = 'license_code', names }: BodyShape): Record<string, unknown> {
  const { license_code, ...fields } = license;
  const change: NameChange | undefined = names && nameChanges[names];
  return { [keyField]: license_code, ...fields, ...change?.shown?.(license) };
}

interface NameChange {
  readonly means: string;
  /** The name as the server keeps it. */
  readonly stored: (name: string) => string;
  /** Values that answers show in place of the license's own fields. */
  readonly shown?: (license: LicenseRecord) => Readonly<Record<string, unknown>>;
}

/** Every change of names that can be asked for; `sandbox serve --help` and the manual show them. */
export const nameChanges = {
  lower: { means: 'names are kept in lower case', stored: (name) => name.toLowerCase() },
  upper: { means: 'names are kept in upper case', stored: (name) => name.toUpperCase() },
  domain: {
    means: 'what follows an @ is kept in lower case',
    stored: (name) => name.replace(/@.*/, (domain) => domain.toLowerCase()),
  },
  blanks: { means: 'blanks are removed', stored: (name) => name.replaceAll(' ', '') },
  plus: { means: '+ becomes a blank', stored: (name) => name.replaceAll('+', ' ') },
  tags: { means: 'what looks like a tag is removed', stored: (name) => name.replace(/<[^>]*>/g, '') },
  dot: { means: 'a final dot is removed', stored: (name) => name.replace(/\.$/, '') },
  decimal: {
    means: 'zeros at the end of a decimal are removed: 1.50 is 1.5',
    stored: (name) => (/^\d+\.\d+$/.test(name) ? String(Number(name)) : name),
  },
  'cut-20': { means: 'names are cut to 20 characters', stored: (name) => name.slice(0, 20) },
  'cut-64': { means: 'names are cut to 64 characters', stored: (name) => name.slice(0, 64) },
  trim: { means: 'blanks at both ends of a name are removed', stored: (name) => name.trim() },
  collapse: {
    means: 'each run of blanks in a name becomes one blank',
    stored: (name) => name.replace(/\s{2,}/g, ' '),
  },
  cut: { means: 'names are cut to 30 characters', stored: (name) => name.slice(0, 30) },
  number: {
    means: 'a name of digits becomes a number: 007 is 7',
    stored: (name) => (isNumber(name) ? String(Number(name)) : name),
    shown: ({ remote_user }) => (isNumber(remote_user) ? { remote_user: Number(remote_user) } : {}),
  },
  'text-codes': {
    means: 'names are kept, and app_code is answered as text',
    stored: (name) => name,
    shown: ({ app_code }) => ({ app_code: String(app_code) }),
  },
} as const satisfies Readonly<Record<string, NameChange>>;

type NameChangeName = keyof typeof nameChanges;

/** The name under which a server with that change keeps it. */
export function storedName(name: string, change: NameChangeName | undefined): string {
  return change === undefined ? name : nameChanges[change].stored(name);
}

function isNumber(name: string): boolean {
  return /^[0-9]{1,15}$/.test(name);
}

/** Every form of an error under status 200 that can be asked for; `sandbox serve --help` and the manual show them. */
export const errorShapes = {
  detail: shape('detail', (detail) => ({ detail })),
  'error-results': shape('error beside an empty array results', (error) => ({ error, results: [] })),
  'errors-data': shape('errors beside an empty array data', (reason) => ({ data: [], errors: [reason] })),
  'success-items': shape('success false beside an empty array items', () => ({ success: false, items: [] })),
  'status-licenses': shape('status error beside an empty array licenses', (message) => ({
    status: 'error',
    message,
    licenses: [],
  })),
  'result-failed': shape('result failed beside a reason', (reason) => ({ result: 'failed', reason })),
  'non-field-errors': shape('non_field_errors alone', (reason) => ({ non_field_errors: [reason] })),
  'code-number': shape('error beside the code 403', (error) => ({ code: 403, error })),
  'code-word': shape('a message beside the code BAD_REQUEST', (message) => ({ code: 'BAD_REQUEST', message })),
  'request-id': shape('error beside a request_id', (error) => ({ error, request_id: 'req-7f3a' })),
  text: { means: 'a JSON string', body: (reason) => reason },
} as const satisfies Readonly<Record<string, ReturnType<typeof shape>>>;

export type ErrorShapeName = keyof typeof errorShapes;

/** The body that says this reason; without a name the form that Django REST framework has. */
export function errorBody(reason: string, name: ErrorShapeName = 'detail'): unknown {
  return errorShapes[name].body(reason);
}

function shape(means: string, body: (reason: string) => unknown) {
  return { means: `an object with ${means}`, body };
}
