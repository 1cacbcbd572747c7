import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { textOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { OpenAnswer } from '../../store/claims.ts';
import type { LicenseUser } from './claim-users.ts';
import type { Sight } from './sight.ts';

/** Whether a license of a near name lets a new one be created (`--allow-similar`). */
export type SimilarNames = 'refuse' | 'allow';

/** What has to happen so that a user has one license of the asked size. */
export type Decision =
  | { readonly step: 'create'; readonly near?: readonly License[] }
  /** To be created, once a look-up of the user alone shows nothing either; `near`: similar names, which are allowed. */
  | { readonly step: 'look up'; readonly near?: readonly License[] }
  | { readonly step: 'unchanged'; readonly license: License; readonly hasSeveral: boolean }
  | { readonly step: 'resize'; readonly license: License; readonly hasSeveral: boolean }
  /** `similar`: a similar name is the reason, in words. */
  | { readonly step: 'refused'; readonly failure: Failure; readonly similar?: string };

const create: Decision = { step: 'create' };
const lookUpFirst: Decision = { step: 'look up' };

/** Never a second license: of several, the one of the asked size is kept, else the first listed is resized. */
export function decide(sight: Sight, asked: LicenseFields, similar: SimilarNames): Decision {
  if (sight.shows === 'gap') return { step: 'refused', failure: sight.failure };
  if (sight.shows === 'nothing') return sight.as === 'proof' ? create : lookUpFirst;
  if (sight.shows === 'near')
    return similar === 'allow' ? { step: 'look up', near: sight.licenses } : similarName(sight.licenses[0], asked);
  const [first, ...others] = sight.licenses;
  if (!first) return create;
  const fitting = sight.licenses.find((license) => sizeOf(license) === asked.size_allowance);
  return { step: fitting ? 'unchanged' : 'resize', license: fitting ?? first, hasSeveral: others.length > 0 };
}

/** The size of a license; undefined where it does not have one. */
export function sizeOf(license: License): number | undefined {
  const text = textOf(license, 'size_allowance');
  return text === undefined ? undefined : Number(text);
}

/** The refusal to create a license beside one of a near name. */
function similarName(near: License, { remote_user, app_code }: LicenseFields): Decision {
  const similar = similarTo(near, remote_user);
  const failure = new Failure('rejected', `${similar}; nothing was created`, {
    hint: `If these are two users, repeat with --allow-similar. Look with: chatelaine license list --app-code ${app_code}`,
  });
  return { step: 'refused', failure, similar };
}

/** Names the asked user and the one that the server lists. */
export function similarTo(near: License, remote_user: string): string {
  const listed = textOf(near, 'remote_user') ?? 'without a name';
  if (listed === remote_user)
    return `the server lists a license of '${remote_user}' whose app_code is no integer: '${textOf(near, 'app_code') ?? '?'}'`;
  return `the server lists no license of '${remote_user}', but one of the similar name '${listed}'`;
}

/** The warning for a user with several licenses. */
export function severalWarning({ remote_user, app_code }: LicenseUser): string {
  return `${remote_user} has several licenses in application ${app_code}: see chatelaine license audit`;
}

export function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** What is recorded of an answer: no license code, but enough to find the license. */
export function openAnswer({ status, license }: AnsweredCreation, time: number): OpenAnswer {
  return { status, time, key_end: license?.key?.slice(-4) };
}

/** Says of an earlier POST that it was answered, and that no list shows the license. */
export function openInWords(
  { remote_user }: LicenseUser,
  { status, time, key_end }: OpenAnswer,
  sight?: Sight,
): string {
  const key = key_end === undefined ? 'without a key' : `with a license whose key ends with ${key_end}`;
  const shown =
    sight?.shows === 'near' ? similarTo(sight.licenses[0], remote_user) : `no list shows a license of '${remote_user}'`;
  return `the server answered a request of ${new Date(time).toISOString().slice(0, 19)}Z with ${status}, ${key}; ${shown}`;
}

/** How to go on where a POST was answered and no list shows the license. */
export function sendAgainHint({ remote_user, app_code }: LicenseUser): string {
  const look = `chatelaine license list --app-code ${app_code}`;
  return `Look for the license: ${look}. Only --send-again ${shellWord(remote_user)} asks for another one.`;
}
