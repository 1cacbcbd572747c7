import type { Deciding } from '../../api/http/call.ts';
import { textOf, type EditedFields, type License, type LicenseHolder } from '../../api/licensing/license.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure, orWarn } from '../../core/failure.ts';
import type { QueuedClaims } from '../../store/claims.ts';
import { noRequests, shiftAll, type OpenAnswer, type RequestHistory } from '../../store/request-history.ts';
import { isRefusal } from '../work/past-runs.ts';
import { unrecorded, unreleased, userKey, usersOfEachApp, type LicenseUser, type Settling } from './license-user.ts';

interface GivingNames extends Settling {
  readonly settle: Milliseconds;
  readonly claimsOf: (app_code: number) => Promise<QueuedClaims | undefined>;
}

interface TakenName extends LicenseUser {
  readonly history: RequestHistory;
  /** Another run, which has it. */
  readonly holder: string | undefined;
  isGiven: boolean;
}

export type GivenNames = ReturnType<typeof givenNames>;

/** Sends a request that gives a name; `before` is called before each attempt. */
export type SendChange = (before?: () => Promise<void>) => Promise<License>;

/** The user of an application whom a change gives a license; undefined: it keeps its own, or whose it is is unknown. */
export function nameGiven(found: License | undefined, asked: EditedFields, usual?: number): LicenseUser | undefined {
  const [user, app] = [found && textOf(found, 'remote_user'), Number(found && textOf(found, 'app_code'))];
  const known = Number.isInteger(app) ? app : usual;
  const { remote_user = user, app_code = known } = asked;
  if (remote_user === undefined || app_code === undefined) return undefined;
  return found && remote_user === user && app_code === known ? undefined : { remote_user, app_code };
}

/**
 * The names that a run gives to licenses: claimed before a lookup says that they are free, and recorded as POSTs for
 * them are (docs/exactly-once.md, Names that a change gives).
 */
export function givenNames({ settle, claimsOf, now, elapsed, sleep, note, warn }: GivingNames) {
  const apps = new Map<number, QueuedClaims>();
  const names = new Map<string, TakenName>();
  const ofApp = (code: number) => [...names.values()].filter(({ app_code, holder }) => app_code === code && !holder);

  /** Who waits for a name holds none: one that is not free is left. */
  const take = async (wanted: readonly LicenseHolder[]): Promise<void> => {
    const named = wanted.flatMap(({ remote_user, app_code }) =>
      app_code === undefined ? [] : [{ remote_user, app_code }],
    );
    for (const [app_code, users] of usersOfEachApp(named.filter((one) => !names.has(userKey(one))))) {
      const claims = apps.get(app_code) ?? (await claimsOf(app_code));
      if (!claims) continue;
      apps.set(app_code, claims);
      const { histories, held, holder = 'another run', now: taken } = await claims.takeFree(users);
      const known = shiftAll(histories, elapsed() - taken);
      for (const remote_user of users) {
        const name = { remote_user, app_code };
        const history = known.get(remote_user) ?? noRequests;
        const taker = held.includes(remote_user) ? holder : undefined;
        names.set(userKey(name), { ...name, history, holder: taker, isGiven: false });
      }
    }
  };

  /** Gives the names back; a list may show later which license has one. */
  const end = async (): Promise<void> => {
    const ended = { event: 'ended', time: now(), unanswered: 0 } as const;
    for (const [app_code, claims] of apps) {
      const own = ofApp(app_code);
      const given = own.flatMap((one) => (one.isGiven ? [claims.ended(one.remote_user, ended)] : []));
      await orWarn(Promise.all(given), warn, unrecorded);
      await orWarn(claims.release(own.map(({ remote_user }) => remote_user)), warn, unreleased);
    }
  };

  return {
    take,
    isHeld: (name: LicenseHolder | undefined): boolean =>
      name !== undefined && names.get(userKey(name))?.holder !== undefined,
    /** The answer to a POST for that user whose license no list has shown. */
    answerOf: (name: LicenseHolder): OpenAnswer | undefined => names.get(userKey(name))?.history.answer,
    /** Waits until a lookup shows what became of earlier requests for these names; undefined: none are known. */
    async settled(): Promise<Deciding | undefined> {
      let since = -Infinity;
      for (const [app_code, { queue }] of apps) {
        const asked = ofApp(app_code).flatMap(({ history: { posted } }) => (posted === undefined ? [] : [posted]));
        if (asked.length === 0) continue;
        const { pending, until } = await queue.look();
        since = Math.max(since, ...asked.map((posted) => posted + settle), ...(pending > 0 ? [until] : []));
      }
      const wait = since - elapsed();
      if (wait > 0) {
        note(`the new name was asked for a moment ago: looking for its license in ${formatDuration(wait)}`);
        await sleep(wait);
      }
      return since > -Infinity ? { since, until: since + settle } : undefined;
    },
    /** Sends a change that gives that name. @throws Failure unavailable where another run has it; as `send` */
    async give(name: LicenseUser | undefined, send: SendChange): Promise<License> {
      if (!name) return send();
      await take([name]);
      const [taken, claims] = [names.get(userKey(name)), apps.get(name.app_code)];
      if (!taken || !claims) return send();
      const { holder, remote_user, history } = taken;
      if (holder !== undefined)
        throw new Failure('unavailable', `${holder} has claimed the name '${remote_user}': nothing was changed`);
      let attempts = 0;
      const silences = claims.queue.silences();
      const before = async (): Promise<void> => {
        await claims.posting(remote_user);
        attempts += 1;
      };
      const leave = async (cause: unknown): Promise<never> => {
        if (attempts === 0 || !(cause instanceof Failure)) throw cause;
        if (cause.isInterruption || claims.queue.silences() > silences) {
          const end = { event: 'ended', time: now(), unanswered: (history.unanswered ?? 0) + 1 } as const;
          await orWarn(claims.ended(remote_user, end), warn, unrecorded);
          await claims.queue.pend();
        } else taken.isGiven = cause.kind === 'rejected' && !isRefusal(cause);
        throw cause;
      };
      const license = await claims.queue.send(() => send(before).catch(leave));
      taken.isGiven = true;
      return license;
    },
    end,
    /** Claims the names, yields what the work yields, and gives them back however it ends. */
    async *during<T>(wanted: readonly LicenseHolder[], work: () => AsyncIterable<T>): AsyncGenerator<T> {
      try {
        await take(wanted);
        yield* work();
      } finally {
        await end();
      }
    },
  };
}
