import { apart, keyOf, licenseNames, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import { quantity } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { matchesGlobInAnyCase } from '../../core/glob.ts';
import type { JsonObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { whole } from '../../output/columns.ts';
import type { PlannedChange, Show } from '../../output/presentation.ts';
import type { Fields } from '../../schema/field.ts';
import { licenseColumns, licenseExtras, matchField, phoneCode, type LicenseFields } from '../../schema/license.ts';

const [key, user, ...others] = licenseColumns;

/** How licenses look: the key first, whatever its field is called; machine formats print what the server sent. */
export const licenseShow = {
  columns: [{ name: key, keep: 'whole', isLast: true, of: (license) => license.key }, ...whole(user), ...others],
  others: 'any',
  none: 'no licenses match',
  data: (license) => license.fields,
} satisfies Show<License>;

/** The server's fields, followed by ours that have a value. */
export function withOurs(fields: JsonObject, ours: JsonObject): JsonObject {
  const said = Object.fromEntries(Object.entries(ours).filter(([, value]) => value !== undefined));
  return { ...apart(fields, said), ...said };
}

export interface ChangedLicense extends License {
  readonly before: FieldsBefore;
  readonly after?: EditedFields;
  readonly status: string;
  readonly planned?: PlannedChange | undefined;
}

export type FieldsBefore = { readonly [K in keyof LicenseFields]?: string | number | undefined };

/** How changed licenses look: fields such as `size_allowance_before` have the earlier values. */
export const changedShow = {
  ...licenseShow,
  outcome: { plan: ({ planned }: ChangedLicense) => (planned ? [planned] : []) },
  data: ({ fields, before, status }: ChangedLicense) => {
    const earlier = Object.entries(before).map(([name, value]) => [`${name}_before`, value] as const);
    return withOurs(fields, { ...Object.fromEntries(earlier), status });
  },
};

export const changedFields: readonly string[] = [
  ...licenseExtras,
  ...licenseNames.map((name) => `${name}_before`),
  'status',
];

export const similarUsersHint = (user: string): string =>
  `Users with a similar name: ${commandLine('license list', [], { match: `*${user}*` })}`;

/** Adds advice to the failure for an unknown code; it does not repeat the code, which may be a key. */
export function withCodeAdvice(cause: unknown): unknown {
  if (!(cause instanceof Failure) || cause.kind !== 'not_found') return cause;
  const said = cause.details.hint === undefined ? '' : `${cause.details.hint} `;
  const hint = `${said}${partOfKey}\nTo find it by its user: ${commandLine('license list', [])}`;
  return cause.as('not_found', cause.message, { hint });
}

export const keyAlone = { quiet: (license: License) => license.key ?? keyOf(license) } satisfies Show<License>;

const maxNamed = 20;

export function firstOf(names: readonly string[], most = maxNamed): string {
  return names.slice(0, most).join(', ') + (names.length > most ? ` and ${names.length - most} more` : '');
}

/** The failure after all work, if users for whom this run created a license have several; it shows no whole key. */
export function severalFailure(users: readonly (readonly License[])[]): Failure | undefined {
  const doubled = users.filter((licenses) => licenses.length > 1);
  if (doubled.length === 0) return undefined;
  const named = doubled.map((licenses) => {
    const ends = licenses.map(({ key = '' }) => `…${key.slice(-4)}`).sort();
    const [first] = licenses;
    return `${(first && textOf(first, 'remote_user')) ?? '?'} (${ends.join(', ')})`;
  });
  const [count, have] = [quantity(doubled.length, 'user'), doubled.length === 1 ? 'has' : 'have'];
  const message = `${count} for whom this run created a license ${have} several: ${firstOf(named.sort())}`;
  const hint =
    'Find the keys: chatelaine license audit\nTo retire all but one of a user: chatelaine license retire CODE…';
  return new Failure('several', message, { hint, retryable: false });
}

/** Options of `license list` and `license history`, which ignore case; commands that change licenses do not. */
export const searchOptions = {
  match: { ...matchField, help: `${matchField.help}; in any case` },
  code: {
    ...matchField,
    help: "Only keys that match, as in '*2FCA2'; understood in any case, without dashes, with O for 0",
  },
} as const satisfies Fields;

/** Advice for a part of a key that finds nothing; it does not repeat what was typed. */
export const partOfKey = `A part of a key needs a star: ${commandLine('license list', [], { code: '*2FCA2' })}`;

export function searchFor(match: readonly string[] | undefined, code: readonly string[] = []) {
  const codes = code.map(phoneCode);
  return {
    isUser: (...names: readonly string[]) => !match || names.some((name) => matchesGlobInAnyCase(match, name)),
    isKey: (key: string) => codes.length === 0 || matchesGlobInAnyCase(codes, phoneCode(key)),
    /** Tests a key of which only the end is known. */
    isKeyEnd: (end: string) => codes.length === 0 || codes.some((one) => endsAlike(one, phoneCode(end))),
  };
}

function endsAlike(pattern: string, end: string): boolean {
  const last = pattern.slice(Math.max(pattern.lastIndexOf('*') + 1, pattern.length - end.length));
  return matchesGlobInAnyCase([`*${last}`], end);
}
