import type { FreeClaims } from './claims.ts';
import { joinHistories, shiftAll, type RequestHistories } from './request-history.ts';

/**
 * Claims of a ledger and, taken first, of this machine, for processes without a ledger. Whoever holds several users
 * waits for none, so no two processes wait for each other (docs/exactly-once.md, The shared ledger).
 */
export function jointClaims(local: FreeClaims, shared: FreeClaims): FreeClaims {
  return {
    isShared: true,
    lost: () => local.lost() ?? shared.lost(),
    async posting(user, soon) {
      await local.posting(user);
      await shared.posting(user, soon);
    },
    async takeFree(users) {
      const here = await local.takeFree(users);
      const others = new Set(here.held);
      const free = users.filter((user) => !others.has(user));
      try {
        const taken = await shared.takeFree(free);
        if (taken.held.length > 0) await local.release(taken.held);
        return {
          histories: joinAll(shiftAll(here.histories, taken.now - here.now), taken.histories),
          now: taken.now,
          held: [...here.held, ...taken.held],
          holder: here.holder ?? taken.holder,
        };
      } catch (cause) {
        // What the ledger fails to claim is not left to this machine either.
        await local.release(free).catch(() => undefined);
        throw cause;
      }
    },
    async busy(users) {
      const [here, there] = [await local.busy(users), await shared.busy(users)];
      return { ...(here.count > 0 ? here : there), now: there.now };
    },
    async ended(user, end) {
      const written = await Promise.allSettled([local.ended(user, end), shared.ended(user, end)]);
      for (const one of written) if (one.status === 'rejected') throw one.reason;
    },
    async release(users, shown) {
      try {
        await shared.release(users, shown);
      } finally {
        await local.release(users, shown);
      }
    },
  };
}

function joinAll(one: RequestHistories, other: RequestHistories): RequestHistories {
  const all = new Map(one);
  for (const [user, history] of other) all.set(user, joinHistories(history, all.get(user)));
  return all;
}
