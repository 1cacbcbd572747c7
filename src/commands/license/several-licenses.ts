import { quantity } from '../../core/duration.ts';
import { textOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';

const maxNamed = 20;

/** The failure of a run that has done its work, if users for whom it created a license have several; no whole key. */
export function severalFailure(users: readonly (readonly License[])[]): Failure | undefined {
  const doubled = users.filter((licenses) => licenses.length > 1);
  if (doubled.length === 0) return undefined;
  const named = doubled.map((licenses) => {
    const ends = licenses.map(({ key = '' }) => `…${key.slice(-4)}`).sort();
    const [first] = licenses;
    return `${(first && textOf(first, 'remote_user')) ?? '?'} (${ends.join(', ')})`;
  });
  const rest = doubled.length > maxNamed ? ` and ${doubled.length - maxNamed} more` : '';
  const [count, have] = [quantity(doubled.length, 'user'), doubled.length === 1 ? 'has' : 'have'];
  const message = `${count} for whom this run created a license ${have} several: ${named.sort().slice(0, maxNamed).join(', ')}${rest}`;
  const hint =
    'Find the keys with chatelaine license audit. To retire all but one of a user: chatelaine license retire CODE…';
  return new Failure('several', message, { hint, retryable: false });
}
