import { quantity } from '../../core/duration.ts';
import type { License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Terminal } from '../context.ts';

/** The licenses of a user for whom a run created one, and the profile whose key retires them. */
export interface CreatedFor {
  readonly licenses: readonly License[];
  readonly profile: string | undefined;
}

/**
 * Warns of users with several licenses, with the line that retires all but the one whose code sorts first, so that
 * all runs name the same. @returns what a run ends with that has done its work
 */
export function warnOfDoubles(users: readonly CreatedFor[], { warn }: Terminal): Failure | undefined {
  const doubled = users.filter(({ licenses }) => licenses.length > 1);
  if (doubled.length === 0) return undefined;
  const lines = [...new Set(doubled.map(({ profile }) => profile))].map((profile) => {
    const own = doubled.filter((user) => user.profile === profile);
    const sorted = own.map(({ licenses }) => licenses.flatMap(({ key }) => key ?? []).sort());
    const codes = sorted.flatMap((all) => all.slice(1));
    return commandLine('license retire', codes, { profile });
  });
  const [count, have] = [quantity(doubled.length, 'user'), doubled.length === 1 ? 'has' : 'have'];
  const what = `${count} for whom this run created a license ${have} several`;
  warn(`${what}; to retire all but the one whose code sorts first:\n${lines.join('\n')}`);
  return new Failure('differences', what);
}
