import type { Milliseconds } from '../core/duration.ts';
import type { LocalClaims, OpenAnswer, PastPosts, ReleasedUser, SharedClaims } from './claims.ts';

/**
 * The claims of a ledger together with those of this machine, for the processes beside this one that do not use the ledger. Those of the
 * machine are taken first everywhere, and whoever holds several users waits for none, so no two processes wait for each other
 * (docs/exactly-once.md, The shared ledger). Of two records of a POST the later one counts, and an answer that one of them keeps is open.
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
      const past = latest({ ...here, posted }, taken);
      return { ...past, now: taken.now, held, holder: here.holder ?? taken.holder };
    },
    async busy(users) {
      const [here, there] = [await local.busy(users), await shared.busy(users)];
      return { ...there, ...(here.count > 0 ? here : {}) };
    },
    async answered(answers) {
      const written = await Promise.allSettled([local.answered(answers), shared.answered(answers)]);
      for (const one of written) if (one.status === 'rejected') throw one.reason;
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

function latest(one: PastPosts, other: PastPosts): PastPosts {
  const posted = new Map(one.posted);
  for (const [user, time] of other.posted) posted.set(user, Math.max(time, posted.get(user) ?? -Infinity));
  const answers = new Map<string, OpenAnswer>([...one.answers, ...other.answers]);
  return { ...one, posted, answers };
}
