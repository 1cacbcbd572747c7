import { apart, keyOf, licenseNames, type EditedFields, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { whole } from '../../output/columns.ts';
import type { PlannedChange } from '../../output/presentation.ts';
import type { Show } from '../../output/presentation.ts';
import { licenseColumns, licenseExtras, type LicenseFields } from '../../schema/license.ts';
import { partOfKey } from './search.ts';

const [key, user, ...others] = licenseColumns;

/** How licenses look: the key first, whatever its field is called; machine formats print what the server sent. */
export const licenseShow = {
  columns: [{ name: key, keep: 'whole', isLast: true, of: (license) => license.key }, ...whole(user), ...others],
  others: 'any',
  none: 'no licenses match',
  data: (license) => license.fields,
} satisfies Show<License>;

/** The fields of the server, and after them those of ours that have a value. */
export function withOurs(fields: JsonObject, ours: JsonObject): JsonObject {
  const said = Object.fromEntries(Object.entries(ours).filter(([, value]) => value !== undefined));
  return { ...apart(fields, said), ...said };
}

export interface ChangedLicense extends License {
  readonly before: FieldsBefore;
  readonly after?: EditedFields;
  readonly status: string;
  /** Of a dry run. */
  readonly planned?: PlannedChange | undefined;
}

export type FieldsBefore = { readonly [K in keyof LicenseFields]?: string | number | undefined };

/** Looks of a changed license: what its fields were is beside them as `size_allowance_before`. */
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

export const likeIt = (user: string): string =>
  `Users with a similar name: ${commandLine('license list', [], { match: `*${user}*` })}`;

/** Advice for a code that nobody has: its form, as in XXXXX-XXXXX, else why it may be no answer; how to find it. */
export function codeAdvice(listed: readonly License[], { details }: Failure, user?: string): string {
  const [key] = listed.flatMap((one) => one.key ?? []);
  const unseen = listed.length === 0 && details.hint !== undefined ? `${details.hint} ` : '';
  const written = key === undefined ? unseen : `A key of this server is written ${key.replace(/[a-z\d]/gi, 'X')}. `;
  return `${written}${partOfKey}\nTo find it by its user: ${commandLine('license list', [], { remote_user: user })}`;
}

export const keyAlone = { quiet: (license: License) => license.key ?? keyOf(license) } satisfies Show<License>;

/** A key that cannot be recognised must not read as "safe to run again": the license exists. */
export function createdKey(license: License): string {
  try {
    return keyOf(license);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    throw cause.as('unknown', `the license exists; ${cause.message}`);
  }
}

/** None where the list cannot be read: that nobody has the code is the answer all the same. */
export async function wholeList(list: AsyncIterable<License>): Promise<readonly License[]> {
  const licenses: License[] = [];
  try {
    for await (const license of list) licenses.push(license);
    return licenses;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
    return [];
  }
}
