import { fingerprint, inOrder, type Fingerprints } from '../../core/fingerprints.ts';
import type { Rows } from '../../core/rows.ts';
import type { LicenseFields } from '../../schema/license.ts';

/** Rows to be applied, and who they are of. */
export interface Roster extends Rows<LicenseFields> {
  /** The users of each application. */
  readonly users: ReadonlyMap<number, Fingerprints>;
}

export function rosterOf(rows: Rows<LicenseFields>): Roster {
  const found = new Map<number, number[]>();
  for (const { app_code, remote_user } of rows) {
    const own = found.get(app_code) ?? [];
    if (own.length === 0) found.set(app_code, own);
    own.push(fingerprint(remote_user));
  }
  const users = new Map([...found].map(([app_code, own]) => [app_code, inOrder(own)]));
  return { length: rows.length, users, [Symbol.iterator]: () => rows[Symbol.iterator]() };
}

/** The users of one application by name. */
export function* usersIn(
  rows: Iterable<Pick<LicenseFields, 'remote_user' | 'app_code'>>,
  wanted: number,
): Generator<string> {
  for (const { remote_user, app_code } of rows) if (app_code === wanted) yield remote_user;
}
