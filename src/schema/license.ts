import { usage } from '../core/failure.ts';
import { textField, type Fields, type Values, countField } from './field.ts';

/** The fields of a license (docs/apis.md, Licensing answers). */
export const licenseFields = {
  remote_user: {
    ...textField(
      'U',
      'Your own unique name for the end user, below 128 ASCII characters; - reads it from standard input',
    ),
    required: true,
    below: 128,
    ascii: true,
    stdin: true,
  },
  app_code: {
    kind: 'integer',
    required: true,
    placeholder: 'C',
    help: "Code of the application (default: the profile's)",
  },
  size_allowance: {
    ...countField('N', 'Largest number of sensors in one measurement, 1 to 18'),
    required: true,
    max: 18,
  },
} as const satisfies Fields;

export type LicenseFields = Values<typeof licenseFields>;

export const licenseCode = {
  ...textField('CODE', 'The license key; - reads it from standard input'),
} as const;

export const matchField = {
  many: true,
  ...textField('GLOB', "Only users whose name matches, as in 'physio-*'; * is any text, ? one character"),
} as const;

export const retiredName = /^left-\d{4}-\d\d-/;

/** The query of GET /first-activation/ (docs/apis.md, Licensing answers). */
export const firstActivationFields = {
  mac_address: { required: true, ...textField('MAC', 'MAC address of the sensor') },
  app_code: licenseFields.app_code,
} as const satisfies Fields;

/** The user of a license to look up. With a blank that the server cuts off, no lookup would ever find the license. */
export const soughtUser = { ...licenseFields.remote_user, trimmed: true } as const;

export const licenseFilters = {
  remote_user: { ...licenseFields.remote_user, required: false, many: true },
  app_code: {
    ...licenseFields.app_code,
    required: false,
    help: 'Code of the application (default: every application that the key can read)',
  },
} as const satisfies Fields;

export const rosterFields = {
  remote_user: soughtUser,
  size_allowance: licenseFields.size_allowance,
  app_code: { ...licenseFields.app_code, required: false },
} as const satisfies Fields;

export const rosterFormats = ['csv', 'xlsx', 'ndjson', 'json'] as const;

export const sensorRosterFields = {
  mac_address: firstActivationFields.mac_address,
  remote_user: licenseFields.remote_user,
  app_code: { ...licenseFields.app_code, required: false },
} as const satisfies Fields;

/** The order of a license's columns in tables, csv and tsv; the server's other scalars follow. */
export const licenseColumns = ['license_code', 'remote_user', 'app_code', 'size_allowance'] as const;

/** Names that only the key of a license has, in the order in which they are tried (docs/apis.md, Finding the key). */
export const namedKeyFields = ['license_code', 'license_key'] as const;

/** Names that the key of a license may have, but that other fields have too. */
export const guessedKeyFields = ['code', 'key', 'license'] as const;

/** Names for `--fields` and `--sort` beside the columns: the server's names of a key, and its time. */
export const licenseExtras: readonly string[] = [...namedKeyFields, ...guessedKeyFields, 'created'];

/** Fields by which an object is recognized as a license. */
export const licenseIdentity = ['remote_user', 'size_allowance', ...namedKeyFields] as const;

/** Fields under which servers say what went wrong (docs/exactly-once.md, Errors inside 200). */
export const errorFields = ['error', 'errors', 'detail', 'non_field_errors'] as const;

/** The specification's rules on keys, which help, manual and README show. */
export const licenseRules =
  'A license key belongs to one user of one application: never give it to two users, and never build it into the application. ' +
  'The service limits how often a key can be activated; it does not publish the number, and its support can change it.';

/** A sensor's address as sent: upper-case pairs joined by colons. @throws Failure usage */
export function readMac(text: string): string {
  const mac = macOf(text);
  if (mac !== undefined) return mac;
  throw usage(
    `'${text}' is not a sensor address`,
    'Write 12 or 16 hexadecimal digits, as in 00:13:43:9A:01:7F. To send another identifier as typed, set mac_format to as_is in the profile, or CHATELAINE_MAC_FORMAT=as_is beside CHATELAINE_BASE_URL.',
  );
}

/** Compares sensors: addresses in any spelling, other identifiers as typed. */
export function isSameSensor(one: string, other: string): boolean {
  return (macOf(one) ?? one) === (macOf(other) ?? other);
}

function macOf(text: string): string | undefined {
  const typed = text.normalize('NFKC').trim().replace(/^0x/i, '');
  const groups = typed.split(/[:.\s\p{Pd}\u2212]/u);
  // `arp` of macOS leaves out zeros at the beginning of a pair.
  const isOfPairs = (groups.length === 6 || groups.length === 8) && groups.every((group) => /^..?$/.test(group));
  const digits = isOfPairs ? groups.map((group) => group.padStart(2, '0')).join('') : groups.join('');
  if (!/^([0-9a-f]{12}|[0-9a-f]{16})$/i.test(digits)) return undefined;
  return digits.toUpperCase().replace(/..(?=.)/g, '$&:');
}

/** A key without differences that phone and mail make: case, width, dashes, quotes, `Key:`, O for 0, I and L for 1. */
export function phoneCode(text: string): string {
  const key = text
    .normalize('NFKC')
    .toUpperCase()
    .replace(/^\W*(?:LICENSE\s+)?(?:KEY|CODE|SCHL\u00dcSSEL)\s*[:=]/, '');
  return key
    .replace(/[^\p{L}\p{N}*?]/gu, '')
    .replace(/O/g, '0')
    .replace(/[IL]/g, '1');
}
