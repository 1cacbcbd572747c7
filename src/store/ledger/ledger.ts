import { isDeepStrictEqual } from 'node:util';
import { batched } from '../../core/batch.ts';
import { defined } from '../../core/table-names.ts';
import { Failure } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import type { Alarm } from '../../core/system.ts';
import type { FreeClaims } from '../claims.ts';
import type { QueuePlace } from '../queue.ts';
import type { HistoryEntry } from '../record/history.ts';
import type { OpenAnswer } from '../request-history.ts';
import type { Surroundings } from '../lock/lock.ts';
import { ledgerAddress, type LedgerAddress } from './ledger-address.ts';
import { answersIn, releaseGrace, sharedClaims } from './ledger-claims.ts';
import { sharedQueue } from './ledger-queue.ts';
import { historyIn, toldHistory } from './ledger-history.ts';
import { openSession, shortLimit, whoIs, type LedgerClaimOptions, type LedgerSession } from './ledger-session.ts';
import {
  ledgerVersion,
  refuseOtherVersion,
  upgradeLedger,
  upgradeScript,
  versionIn,
  type SendStatement,
} from './ledger-steps.ts';
import { openDatabase, type Database } from './postgres.ts';

/** Connects when it is first used. @throws Failure unavailable, auth or config, and the signal's reason */
export type Ledger = ReturnType<typeof openLedger>;

interface LedgerHost extends Surroundings {
  readonly alarm: Alarm;
  readonly signal: AbortSignal;
  readonly caFile: string | undefined;
  /** Remembers the password of the database as a secret. */
  readonly watch: (secret: Secret) => Secret;
}

/** A ledger by its URL (docs/exactly-once.md, The shared ledger). Nothing is connected or read before it is used. */
export function openLedger(url: string, host: LedgerHost) {
  let found: Promise<LedgerAddress> | undefined;
  let opened: Promise<Database> | undefined;
  let session: Promise<LedgerSession> | undefined;
  const address = (): Promise<LedgerAddress> => (found ??= ledgerAddress(url, host.system));
  const open = async (): Promise<Database> => {
    const { password, ...place } = await address();
    return openDatabase({ ...place, password: password && host.watch(password) }, host);
  };
  const connection = async (): Promise<Database> => {
    try {
      return await (opened ??= open());
    } catch (cause) {
      opened = undefined;
      throw cause;
    }
  };
  const rowsOf: SendStatement = async (text, values = []) =>
    (await connection()).query(text, values, { signal: host.signal });
  const told = toldHistory(host.clock);
  const tellWaiting = async (): Promise<void> => {
    const limits = { signal: host.signal, grace: releaseGrace, limit: shortLimit };
    await told.write(async (rowsFor) => {
      const { salt } = await refuseOtherVersion(rowsOf);
      const rows = rowsFor((target, user) => whoIs(salt, target, user));
      await (await connection()).query('SELECT chatelaine.tell($1, $2)', [ledgerVersion, rows], limits);
    });
  };
  let salted: ReturnType<typeof refuseOtherVersion> | undefined;
  const nameOf = async (target: string, user: string): Promise<Buffer> =>
    (await session)?.whoIs(target, user) ?? whoIs((await (salted ??= refuseOtherVersion(rowsOf))).salt, target, user);
  const creations = toldUsers(rowsOf, nameOf);
  const opening = (options: LedgerClaimOptions): Promise<LedgerSession> => {
    const { clock, system } = host;
    return openSession(connection, { ...options, clock, host: system.hostname, pid: system.pid });
  };
  return {
    /** The address in words: `db.example.com/ledger`. */
    name: async () => (await address()).name,
    /** The claims of one application; all of a run belong to one session. */
    async claims(target: string, options: LedgerClaimOptions): Promise<FreeClaims> {
      session ??= opening(options);
      return sharedClaims(await session, { target, clock: host.clock, told, creations }, options);
    },
    /** The queue of a server, as the session that has the claims knows it. */
    async queue(origin: string, options: LedgerClaimOptions & { readonly width: number }): Promise<QueuePlace> {
      session ??= opening(options);
      return sharedQueue(await session, origin, { ...options, elapsed: host.clock.elapsed });
    },
    /** The open answers of users of one application, whoever holds them; claims and changes nothing. */
    async openAnswers(target: string, users: readonly string[]): Promise<ReadonlyMap<string, OpenAnswer>> {
      const { salt } = await refuseOtherVersion(rowsOf);
      const names = new Map(users.map((user) => [whoIs(salt, target, user).toString('base64'), user]));
      const [row] = await rowsOf('SELECT chatelaine.open_answers($1) AS answer', [hashesIn(names)]);
      return answersIn(row?.['answer'], names);
    },
    /** Adds to the history of that server and application: with the next release, or once it has waited for one. */
    async tell(target: string, entry: HistoryEntry): Promise<void> {
      if (told.add(target, entry)) await tellWaiting();
    },
    /** What runs of all machines did for a user, and what they were answered that no list has shown. */
    async history(user: string): Promise<readonly HistoryEntry[]> {
      const { salt, targets } = await refuseOtherVersion(rowsOf);
      const names = new Map(targets.map((target) => [whoIs(salt, target, user).toString('base64'), target]));
      const text = 'SELECT chatelaine.history($1) AS told, chatelaine.open_answers($1) AS answers';
      const [row] = await rowsOf(text, [hashesIn(names)]);
      return historyIn(user, row?.['told'], answersIn(row?.['answers'], names));
    },
    /** What runs did for a user of one application who is to get a license. */
    told: creations.of,
    /** Creates or upgrades the schema. @throws Failure config where it is newer than this program */
    init: () => upgradeLedger(rowsOf),
    /** The SQL that `init` would run; changes nothing. */
    plan: async () => upgradeScript(await versionIn(rowsOf)),
    async status() {
      const rows = await rowsOf('SELECT * FROM chatelaine.status()');
      return rows.map(heldClaims);
    },
    /** @throws Failure config for no ledger, another version, or a pooler that changes connections in between */
    async examine() {
      await refuseOtherVersion(rowsOf);
      const other = await open();
      try {
        await refusePooler(await address(), [await connection(), other], host.signal);
      } finally {
        await other.close();
      }
    },
    /** @throws Failure where a part of the history was not told; the connection is closed all the same */
    async close() {
      try {
        if (told.isWaiting()) await tellWaiting();
        told.refuseUntold();
      } finally {
        const connected = await opened?.catch(() => undefined);
        await connected?.close();
      }
    },
  };
}

/** What the ledger tells of users who are to get a license; of those who are claimed together one statement asks. */
function toldUsers(rowsOf: SendStatement, nameOf: (target: string, user: string) => Promise<Buffer>) {
  const claimed = new Map<string, unknown>();
  const ask = async (names: readonly Buffer[]): Promise<unknown[]> => {
    const text = `SELECT chatelaine.history(ARRAY[who]) AS told FROM unnest($1::bytea[]) WITH ORDINALITY AS one (who, at) ORDER BY at`;
    return (await rowsOf(text, [names])).map(({ told }) => told);
  };
  const asking = batched<{ readonly name: Buffer; told?: unknown }>(async (all) => {
    const told = await ask(all.map(({ name }) => name));
    for (const [at, one] of all.entries()) one.told = told[at];
  });
  return {
    async claim(target: string, users: readonly string[], names: readonly Buffer[]): Promise<void> {
      const told = names.length > 1 ? await ask(names) : [];
      for (const [at, user] of users.entries()) claimed.set(`${target} ${user}`, told[at]);
    },
    async of(target: string, user: string): Promise<HistoryEntry[]> {
      const known = claimed.get(`${target} ${user}`);
      // Asked once: a long run holds the others alone.
      claimed.delete(`${target} ${user}`);
      if (known !== undefined) return historyIn(user, known, new Map());
      const one: Parameters<typeof asking>[0] = { name: await nameOf(target, user) };
      await asking(one);
      return historyIn(user, one.told, new Map());
    },
  };
}

function hashesIn(names: ReadonlyMap<string, string>): Buffer[] {
  return [...names.keys()].map((name) => Buffer.from(name, 'base64'));
}

/** Session pooling keeps a server process for each client; transaction pooling lends one to several in turn. */
async function refusePooler({ name }: LedgerAddress, clients: readonly Database[], signal: AbortSignal): Promise<void> {
  const seen: unknown[] = [];
  for (const client of [...clients, ...clients])
    seen.push((await client.query('SELECT pg_backend_pid() AS pid', [], { signal }))[0]?.['pid']);
  const [first, second, ...again] = seen;
  if (first !== second && isDeepStrictEqual(again, [first, second])) return;
  throw new Failure('config', `a pooler in front of the ledger ${name} changes connections between statements`, {
    hint: 'A claim belongs to one connection: set session pooling for this database (pool_mode = session), or connect without the pooler.',
  });
}

function heldClaims({ target, host, pid, state, since, users, sending, until }: Record<string, unknown>) {
  return {
    /** The licensing server with the code of the application. */
    target: String(target),
    host: String(host),
    pid: Number(pid),
    /** `ended`: the connection is gone; the next session takes over. */
    state: state === 'active' ? 'active' : 'ended',
    /** When the oldest of these claims was taken, RFC 3339. */
    since: timeIn(since) ?? '',
    users: Number(users),
    /** Users with a POST whose end is not recorded. */
    sending: Number(sending),
    /** When the last of those has ended, RFC 3339; until then, and for --settle more, nobody creates their licenses. */
    ...defined({ until: timeIn(until) }),
  };
}

function timeIn(value: unknown): string | undefined {
  return value instanceof Date ? value.toISOString() : undefined;
}
