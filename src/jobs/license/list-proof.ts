import type { UnfilteredList } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { limiter } from '../work/pool.ts';
import type { LicenseUser } from './claim-users.ts';
import { listAfterPost, type ListAfter } from './list-users.ts';
import type { Applying } from './roster-results.ts';
import type { circuitBreaker } from './run-end.ts';

/**
 * Where the list is the look, POSTs go one at a time until a list holds all earlier licenses and a new one; if it does not, the run stops
 * (docs/exactly-once.md, A list is a hint).
 */
export function listProof(applying: Applying, run: ReturnType<typeof circuitBreaker>) {
  const { licensing } = applying;
  /** Applications whose list holds what this run creates. */
  const proven = new Set<number>();
  const inTurn = limiter(1);
  const read = async (row: LicenseUser, earlier: UnfilteredList): Promise<ListAfter | undefined> => {
    try {
      const list = await listAfterPost(licensing(row.app_code), row, earlier, applying);
      if (list.failure) run.stop(list.failure);
      else proven.add(row.app_code);
      return list;
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      run.stop(cause);
      return undefined;
    }
  };
  /** @param post whether it was sent @returns what the list shows after it, where one was read */
  return (row: LicenseUser, earlier: UnfilteredList | undefined, post: () => Promise<boolean>) => {
    const sending = async (): Promise<ListAfter | undefined> =>
      (await post()) && earlier && !proven.has(row.app_code) && !run.stopped() ? read(row, earlier) : undefined;
    return !earlier || proven.has(row.app_code) ? sending() : inTurn(sending);
  };
}
