import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Secret } from '../../core/secret.ts';
import type { Alarm } from '../../core/world.ts';
import type { SharedClaims } from '../claims.ts';
import type { Surroundings } from '../lock/lock.ts';
import { ledgerAddress, type LedgerAddress } from './ledger-address.ts';
import { sharedClaims, type LedgerClaimOptions, type LedgerConnection } from './ledger-claims.ts';
import { ledgerSteps, ledgerVersion, missingSteps, upgradeLedger, upgradeScript, versionIn } from './ledger-steps.ts';
import { openDatabase } from './postgres.ts';

/** One ledger, connected to when it is first used. Its methods throw Failure unavailable, auth or config, and the signal's reason. */
export interface Ledger {
  /** The address in words: `db.example.com/ledger`. */
  name(): Promise<string>;
  /** The claims of one application; all of a run belong to one session. */
  claims(target: string, options: LedgerClaimOptions): Promise<SharedClaims>;
  /** Creates the schema where there is none, and upgrades an older one. @throws Failure config where it is newer than this program */
  init(): Promise<'created' | 'upgraded' | 'unchanged'>;
  /** The SQL that `init` would run; changes nothing. */
  plan(): Promise<string>;
  /** What each session holds, the longest first. */
  status(): Promise<readonly HeldClaims[]>;
  /** How far the clock of this machine is ahead of the database's. @throws Failure config where the schema is missing or another one */
  skew(): Promise<Milliseconds>;
  close(): Promise<void>;
}

/** What one session holds of one application. */
export interface HeldClaims {
  /** The licensing server with the code of the application. */
  readonly target: string;
  readonly host: string;
  readonly pid: number;
  /** `ended`: the connection is gone; the next session takes over. */
  readonly state: 'active' | 'ended';
  /** When the oldest of these claims was taken, RFC 3339. */
  readonly since: string;
  readonly users: number;
  /** Users with a POST whose end is not recorded. */
  readonly sending: number;
}

export interface LedgerWorld extends Surroundings {
  readonly alarm: Alarm;
  readonly signal: AbortSignal;
  readonly caFile: string | undefined;
  /** Remembers the password of the database as a secret. */
  readonly watch: (secret: Secret) => Secret;
}

/** A ledger by its URL (docs/exactly-once.md, The shared ledger). Nothing is connected, read or checked before it is used. */
export function openLedger(url: string, world: LedgerWorld): Ledger {
  let found: Promise<LedgerAddress> | undefined;
  let opened: Promise<LedgerConnection> | undefined;
  const address = (): Promise<LedgerAddress> => (found ??= ledgerAddress(url, world.machine));
  const open = async (): Promise<LedgerConnection> => {
    const { password, ...place } = await address();
    const database = await openDatabase({ ...place, password: password && world.watch(password) }, world);
    return { database, session: null };
  };
  const connection = (): Promise<LedgerConnection> => (opened ??= open());
  const rowsOf = async (text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> =>
    (await connection()).database.query(text, values, { signal: world.signal });
  return {
    name: async () => (await address()).name,
    async claims(target, options) {
      const { host, pid } = world.machine;
      return sharedClaims({ connection: await connection(), target, host, pid, clock: world.clock }, options);
    },
    init: () => upgradeLedger(rowsOf),
    plan: async () => upgradeScript(await versionIn(rowsOf)),
    async status() {
      const rows = await rowsOf('SELECT * FROM chatelaine.status()');
      return rows.map(heldClaims);
    },
    async skew() {
      const [row] = await rowsOf('SELECT chatelaine.about() AS about');
      const { version, now } = numbersIn(row?.['about']);
      if (version === ledgerVersion) return world.clock.now() - (now ?? NaN);
      missingSteps(version ?? 0, ledgerSteps);
      throw new Failure(
        'config',
        `the ledger has version ${version ?? 0}, and this chatelaine needs ${ledgerVersion}`,
        {
          hint: 'Upgrade it, once chatelaine is upgraded on all machines: chatelaine ledger init',
        },
      );
    },
    async close() {
      const connected = await opened?.catch(() => undefined);
      await connected?.database.close();
    },
  };
}

function heldClaims(row: Record<string, unknown>): HeldClaims {
  const { target, host, pid, state, since, users, sending } = row;
  return {
    target: String(target),
    host: String(host),
    pid: Number(pid),
    state: state === 'active' ? 'active' : 'ended',
    since: since instanceof Date ? since.toISOString() : String(since),
    users: Number(users),
    sending: Number(sending),
  };
}

function numbersIn(value: unknown): Readonly<Record<string, number | undefined>> {
  return Object.fromEntries(Object.entries(value ?? {}).map(([name, number]) => [name, Number(number)]));
}
