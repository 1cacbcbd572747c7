import { textOf, type License, type UserLicenses } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { ListedUser } from './census.ts';

/** Whether a license of a near name lets a new one be created (`--allow-similar`). */
export type SimilarNames = 'refuse' | 'allow';

/** What has to happen so that a user has one license of the asked size. */
export type Decision =
  | { readonly step: 'create' }
  | { readonly step: 'unchanged'; readonly license: License; readonly hasSeveral: boolean }
  | { readonly step: 'resize'; readonly license: License; readonly hasSeveral: boolean }
  | { readonly step: 'refused'; readonly failure: Failure };

const none: UserLicenses = { exact: [], near: [] };

const create: Decision = { step: 'create' };

/** Never a second license: of several, the one of the asked size is kept, else the first listed is resized. */
export function decide(listed: ListedUser = none, asked: LicenseFields, similar: SimilarNames): Decision {
  if (listed instanceof Failure) return { step: 'refused', failure: listed };
  const [first, ...others] = listed.exact;
  if (first) {
    const fitting = listed.exact.find((license) => sizeOf(license) === asked.size_allowance);
    return { step: fitting ? 'unchanged' : 'resize', license: fitting ?? first, hasSeveral: others.length > 0 };
  }
  const [near] = listed.near;
  return near && similar === 'refuse' ? { step: 'refused', failure: similarName(near, asked) } : create;
}

/** The size of a license; undefined where it does not have one. */
export function sizeOf(license: License): number | undefined {
  const text = textOf(license, 'size_allowance');
  return text === undefined ? undefined : Number(text);
}

/** The refusal to create a license beside one of a near name. */
function similarName(near: License, { remote_user, app_code }: LicenseFields): Failure {
  return new Failure('rejected', `${similarTo(near, remote_user)}; nothing was created`, {
    hint: `If these are two users, repeat with --allow-similar. Look with: chatelaine license list --app-code ${app_code}`,
  });
}

/** Names the asked user and the one that the server lists. */
export function similarTo(near: License, remote_user: string): string {
  const listed = textOf(near, 'remote_user') ?? 'without a name';
  if (listed === remote_user)
    return `the server lists a license of '${remote_user}' whose app_code is no integer: '${textOf(near, 'app_code') ?? '?'}'`;
  return `the server lists no license of '${remote_user}', but one of the similar name '${listed}'`;
}

/** The warning for a user with several licenses. */
export function severalWarning({ remote_user, app_code }: Pick<LicenseFields, 'remote_user' | 'app_code'>): string {
  return `${remote_user} has several licenses in application ${app_code}: see chatelaine license audit`;
}
