import { quantity } from '../../core/duration.ts';
import { textOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Terminal } from '../context.ts';

const maxNamed = 20;

/** The licenses of a user for whom a run created one, and the profile whose key retires them. */
export interface CreatedFor {
  readonly licenses: readonly License[];
  readonly profile: string | undefined;
}

/**
 * Warns of users with several licenses, by the last characters of their keys: a log must not get a whole key.
 * @returns what a run ends with that has done its work
 */
export function warnOfDoubles(users: readonly CreatedFor[], { warn }: Terminal): Failure | undefined {
  const doubled = users.filter(({ licenses }) => licenses.length > 1);
  if (doubled.length === 0) return undefined;
  const named = doubled.map(({ licenses: [first, ...others] }) => {
    const ends = [first, ...others].map((license) => license?.key?.slice(-4) ?? '?');
    return `${first ? textOf(first, 'remote_user') : '?'} (…${ends.sort().join(', …')})`;
  });
  const more = doubled.length > maxNamed ? ` and ${doubled.length - maxNamed} more` : '';
  const [{ profile } = { profile: undefined }] = doubled;
  const audit = commandLine('license audit', [], { profile });
  const [count, have] = [quantity(doubled.length, 'user'), doubled.length === 1 ? 'has' : 'have'];
  const what = `${count} for whom this run created a license ${have} several`;
  warn(
    `${what}: ${named.sort().slice(0, maxNamed).join(', ')}${more}. license retire CODE… retires all but one; the keys are shown by:\n${audit}`,
  );
  return new Failure('differences', what);
}
