import { ledgerSteps, ledgerVersion } from '../../src/store/ledger/ledger-steps.ts';

/**
 * Claims in memory: what the functions of src/store/ledger/ledger-sql.ts do, written a second time. Each statement is
 * one step, so no two of them meet: `isBusy` tells of which claims somebody else is just changing the row.
 * test/store/ledger/ledger-memory.test.ts holds both to the same cases.
 */
export interface LedgerMemory {
  /** Does what a statement says, over that connection. @throws an Error with the SQLSTATE code of PostgreSQL */
  query(connection: LedgerConnection, text: string, values: readonly unknown[]): readonly Record<string, unknown>[];
  /** All that is committed, to be put back later: then the ledger is at another place. */
  copy(): Committed;
  restore(committed: Committed): void;
}

/** The other end of a client's connection; a session is valid while it is open. */
export interface LedgerConnection {
  isOpen(): boolean;
}

interface Session {
  readonly connection: LedgerConnection;
  readonly host: string;
  readonly pid: number;
  readonly remember: number;
  readonly turns: Set<unknown>;
  width: number;
}

interface Claim {
  readonly origin: string;
  session: number | undefined;
  posted: number | undefined;
  sending: number | undefined;
  forget: number;
  answer: unknown;
}

type Committed = Readonly<Record<'sessions' | 'claims' | 'queues', ReadonlyMap<unknown, unknown>>>;

export function createLedgerMemory(
  now: () => number,
  isBusy: (who: string) => boolean = () => false,
  version = ledgerVersion,
): LedgerMemory {
  let sessions = new Map<number, Session>();
  let claims = new Map<string, Claim>();
  const targets = new Set<string>();
  let queues = new Map<string, { readonly state: string; readonly dead: readonly (readonly number[])[] }>();
  let [place, knownPlace, restored]: [number, number, number | undefined] = [0, 0, undefined];
  let lastSession = 0;

  /** Claims of those users that the session holds. */
  const heldBy = (session: number, users: readonly string[]): Claim[] => {
    const held = [...new Set(users)].map((who) => claims.get(who));
    return held.filter((claim): claim is Claim => claim?.session === session);
  };
  const allHeldBy = (session: number, users: readonly string[]): Claim[] => {
    const held = heldBy(session, users);
    if (held.length === users.length) return held;
    throw sqlError('CH002', `session ${session} holds ${held.length} of ${users.length} users`);
  };

  /** Gives back what sessions held whose connection has ended. */
  const sweep = (me: number): void => {
    const dead = [...sessions].filter(([id, { connection }]) => id !== me && !connection.isOpen());
    for (const [id, { remember, width }] of dead) {
      const sending = new Map<string, number[]>();
      for (const { session, origin, sending: until } of claims.values())
        if (session === id && until !== undefined) sending.set(origin, [...(sending.get(origin) ?? []), until]);
      for (const [origin, until] of sending) {
        const known = queues.get(origin) ?? { state: '', dead: [] };
        const left = [id, Math.min(width, until.length), Math.max(...until)];
        queues.set(origin, { ...known, dead: [...known.dead, left] });
      }
      for (const claim of claims.values()) {
        if (claim.session !== id) continue;
        const { posted, sending } = claim;
        const isForgotten = posted === undefined && sending === undefined;
        claim.forget = isForgotten ? now() : Math.max(claim.forget, (sending ?? now()) + remember);
        claim.posted = latest(posted, sending);
        claim.session = claim.sending = undefined;
      }
      sessions.delete(id);
    }
  };

  const holderOf = (id: number | undefined): unknown => {
    const session = id === undefined ? undefined : sessions.get(id);
    return session ? { host: session.host, pid: session.pid } : null;
  };

  /** The history; a failover loses none of it. */
  const events: (readonly [who: string, entry: unknown])[] = [];
  const tell = (told: unknown): void => {
    for (const [who, , entry] of JSON.parse(String(told)) as [string, string, unknown][]) events.push([who, entry]);
  };

  const functions: Readonly<Record<string, (me: number, ...values: readonly unknown[]) => unknown>> = {
    take(me, target, names) {
      targets.add(String(target));
      const users = namesIn(names);
      for (const who of users)
        if (!claims.has(who))
          claims.set(who, {
            ...{
              origin: String(target).replace(/ [^ ]*$/, ''),
              session: undefined,
              posted: undefined,
              sending: undefined,
              answer: null,
            },
            forget: now(),
          });
      sweep(me);
      const taken = users.flatMap((who) => {
        const claim = claims.get(who);
        const isFree = claim && (claim.session === me || (claim.session === undefined && !isBusy(who)));
        return isFree ? [[who, claim] as const] : [];
      });
      for (const [, claim] of taken) claim.session = me;
      const mine = new Set(taken.map(([who]) => who));
      const held = users.filter((who) => !mine.has(who));
      const known = taken.filter(([, { posted, answer }]) => posted !== undefined || answer !== null);
      const holders = held.map((who) => claims.get(who)?.session);
      return {
        now: now(),
        past: known.map(([who, { posted, answer }]) => [who, posted ?? null, answer]),
        held,
        holder: holderOf(holders.find((id) => id !== undefined)),
      };
    },
    busy(me, names) {
      sweep(me);
      const others = namesIn(names).flatMap((who) => {
        const { session, answer } = claims.get(who) ?? {};
        return session === undefined || session === me || answer !== null ? [] : [session];
      });
      return { now: now(), count: others.length, holder: holderOf(others[0]) };
    },
    queued(me, server, wide, known, next) {
      const origin = String(server);
      const session = sessions.get(me);
      if (session) session.width = Math.max(session.width, Number(wide));
      sweep(me);
      const before = queues.get(origin) ?? { state: '', dead: [] };
      const written = next !== null && known === before.state + JSON.stringify(before.dead);
      if (written && typeof next === 'string') queues.set(origin, { state: next, dead: [] });
      const { state, dead } = queues.get(origin) ?? before;
      const seen = state + JSON.stringify(dead);
      const kept: unknown = state === '' ? null : JSON.parse(state);
      return { now: now(), written, state: kept, dead, known: seen };
    },
    turn(me, server, wanted) {
      const session = sessions.get(me);
      if (!wanted) return session?.turns.delete(server) ?? false;
      if ([...sessions.values()].some(({ turns, connection }) => turns.has(server) && connection.isOpen()))
        return false;
      session?.turns.add(server);
      return true;
    },
    sending(me, within, names) {
      for (const claim of allHeldBy(me, namesIn(names))) claim.sending = latest(claim.sending, now() + Number(within));
      return '';
    },
    answered(me, names, answers) {
      const texts = answers as readonly string[];
      for (const [index, claim] of allHeldBy(me, namesIn(names)).entries())
        claim.answer = JSON.parse(texts[index] ?? '');
      return '';
    },
    release(me, names, sent, shown, told) {
      tell(told);
      const [posted, confirmed] = [new Set(namesIn(sent)), new Set(namesIn(shown))];
      for (const who of namesIn(names)) {
        const claim = claims.get(who);
        if (claim?.session !== me) continue;
        const isConfirmed = confirmed.has(who);
        if (!posted.has(who) && claim.posted === undefined && (claim.answer === null || isConfirmed)) {
          claims.delete(who);
          continue;
        }
        claim.forget = Math.max(claim.posted ?? -Infinity, now()) + (sessions.get(me)?.remember ?? 0);
        if (posted.has(who)) claim.posted = latest(claim.posted, now());
        if (isConfirmed) claim.answer = null;
        claim.session = claim.sending = undefined;
      }
      return '';
    },
  };

  const enter = (asked: unknown): void => {
    if (asked === version) return;
    const code = version < Number(asked) ? 'CH001' : 'CH003';
    throw sqlError(code, `the ledger has version ${version}, and this chatelaine needs version ${String(asked)}`);
  };

  const open = (connection: LedgerConnection, [host, pid, remember]: readonly unknown[]): unknown => {
    if (knownPlace !== place) [knownPlace, restored] = [place, now()];
    lastSession += 1;
    const own = { connection, host: String(host), pid: Number(pid), remember: Number(remember) };
    sessions.set(lastSession, { ...own, width: 1, turns: new Set() });
    for (const [who, { session, answer, forget }] of claims)
      if (session === undefined && answer === null && forget < now()) claims.delete(who);
    return { session: lastSession, salt: 'c0ffee', now: now(), restored: restored ?? null };
  };

  return {
    query(connection, text, values) {
      const [, name = '', as = 'answer'] = /^SELECT chatelaine\.(\w+)\([^)]*\)(?: AS (\w+))?$/.exec(text) ?? [];
      if (text.includes('pg_proc')) return ledgerParts.map((part) => ({ name: part }));
      if (name === 'about') return [{ [as]: { version, now: now(), salt: 'c0ffee', targets: [...targets].sort() } }];
      if (text.includes('chatelaine.history(')) {
        const toldOf = (users: readonly string[]) =>
          events.flatMap(([who, entry]) => (users.includes(who) ? [entry] : []));
        return namesIn(values[0]).map((who) => ({ told: toldOf([who]) }));
      }
      if (name === 'open_answers') {
        const all = namesIn(values[0]).map((who) => [who, claims.get(who)?.answer ?? null] as const);
        return [{ [as]: all.filter(([, answer]) => answer !== null) }];
      }
      const [asked, me, ...rest] = values;
      enter(asked);
      if (name === 'tell') {
        tell(me);
        return [{ tell: '' }];
      }
      if (name === 'open') return [{ [as]: open(connection, values.slice(1)) }];
      if (sessions.get(Number(me))?.connection !== connection)
        throw sqlError('CH002', `session ${String(me)} does not belong to this connection`);
      const called = functions[name];
      if (!called) throw new Error(`the ledger in memory does not know: ${text}`);
      return [{ [as]: called(Number(me), ...rest) }];
    },
    copy: () => ({
      sessions: new Map(sessions),
      claims: new Map([...claims].map(([who, claim]) => [who, { ...claim }])),
      queues: new Map(queues),
    }),
    restore(committed) {
      ({ sessions, claims, queues } = committed as {
        sessions: typeof sessions;
        claims: typeof claims;
        queues: typeof queues;
      });
      place += 1;
    },
  };
}

const ledgerParts = ledgerSteps.flatMap(({ sql }) =>
  [...sql.matchAll(/CREATE (?:TABLE|FUNCTION) chatelaine\.(\w+)/g)].map(([, name = '']) => name),
);

/** An error of PostgreSQL. */
export function sqlError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** The hashes of users, as a statement carries them. */
function namesIn(names: unknown): string[] {
  return (names as readonly Buffer[]).map((name) => name.toString('base64'));
}

/** As greatest() of SQL: what is missing is not compared. */
function latest(one: number | undefined, other: number | undefined): number | undefined {
  return Math.max(one ?? -Infinity, other ?? -Infinity) === -Infinity
    ? undefined
    : Math.max(one ?? -Infinity, other ?? -Infinity);
}
