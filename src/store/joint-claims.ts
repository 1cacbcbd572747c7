import type { Milliseconds } from '../core/duration.ts';
import type { LocalClaims, ReleasedUser, SharedClaims } from './claims.ts';

/**
 * The claims of a ledger together with those of this machine, for the processes beside this one that do not use the ledger. Those of the
 * machine are taken first everywhere, and whoever holds several users waits for none, so no two processes wait for each other
 * (docs/exactly-once.md, The shared ledger). Of two records of a POST the later one counts.
 */
export function jointClaims(local: LocalClaims, shared: SharedClaims, elapsed: () => Milliseconds): SharedClaims {
  /** What the ledger fails to claim is not left to this machine either. */
  const orBack = async <T>(users: readonly string[], work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (cause) {
      await local.release(unsent(users)).catch(() => undefined);
      throw cause;
    }
  };
  return {
    lost: () => shared.lost(),
    posting: (user, soon) => shared.posting(user, soon),
    async take(users) {
      const here = await local.take(users);
      return latest(here, await orBack(users, shared.take(users)));
    },
    async takeFree(users) {
      const here = await local.takeFree(users);
      const others = new Set(here.held);
      const free = users.filter((user) => !others.has(user));
      const taken = await orBack(free, shared.takeFree(free));
      if (taken.held.length > 0) await local.release(unsent(taken.held));
      const ahead = taken.now - elapsed();
      const posted = new Map([...here.posted].map(([user, time]) => [user, time + ahead]));
      const held = [...here.held, ...taken.held];
      return { now: taken.now, posted: latest(posted, taken.posted), held, holder: here.holder ?? taken.holder };
    },
    async release(users) {
      try {
        await shared.release(users);
      } finally {
        await local.release(users);
      }
    },
  };
}

function unsent(users: readonly string[]): ReleasedUser[] {
  return users.map((remote_user) => ({ remote_user }));
}

function latest(
  one: ReadonlyMap<string, Milliseconds>,
  other: ReadonlyMap<string, Milliseconds>,
): ReadonlyMap<string, Milliseconds> {
  const all = new Map(one);
  for (const [user, time] of other) all.set(user, Math.max(time, all.get(user) ?? -Infinity));
  return all;
}
