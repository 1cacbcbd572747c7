/** What the ledger says of writes and of itself, and the hashes under which it knows users. Pure: no connection. */
import { hash } from 'node:crypto';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { foldName } from '../../core/fold-name.ts';
import { isObject } from '../../core/json.ts';
import { isEntry, type HistoryEntry } from '../record/history.ts';
import type { AskedWrite, KeptEnd, RecordedWrite, UserName, WriteEnd, WritingRun } from '../record/writes.ts';
import { ledgerVersion } from './ledger-sql.ts';

export type LedgerRow = Readonly<Record<string, unknown>>;

export interface RecordedRun extends WritingRun {
  /** The start of each id of this run. */
  readonly token: string;
  readonly settle: Milliseconds;
  /** The longest time of a request. */
  readonly requestLimit: Milliseconds;
  readonly note: (text: string) => void;
}

/** What a ledger says of itself. */
export interface LedgerState {
  readonly salt: Buffer;
  /** Milliseconds since it was made or restored; undefined: long ago. */
  readonly age: Milliseconds | undefined;
}

export interface HashedUser {
  readonly app_code: number;
  /** The number of the user's lock. */
  readonly key: string;
  readonly exact: string;
}

/** What was said of a user when the lock was taken, each until it is first asked for. */
export interface FreshUser {
  readonly key: string;
  readonly writes: readonly unknown[] | undefined;
  readonly told: readonly unknown[] | undefined;
}

/** Each list is emptied when it is written. */
export interface WaitingLines {
  readonly begun: object[];
  readonly ended: { readonly id: string; readonly what: WriteEnd }[];
  readonly told: ToldEntry[];
}

/** A row of the view `recorded`. */
export interface RecordedRow extends WritingRun {
  readonly id: string;
  readonly exact: string;
  readonly app_code: number;
  readonly asked: AskedWrite;
  readonly what: KeptEnd | null;
  readonly ended: Milliseconds | null;
  readonly now: Milliseconds;
}

/** An entry of the history, by the salted hash of its user. */
export interface ToldEntry {
  readonly exact: string;
  readonly entry: object;
}

/** Whatever a restored ledger does not have. */
export function lackingWrite(settle: Milliseconds, endedAt: Milliseconds): RecordedWrite {
  const asked = { kind: 'creation', settle, unanswered: 0 } as const;
  const end = { is: 'no answer', n: 1, time: 0 } as const;
  return { id: 'restored', run: '', command: '', asked, isExact: false, end, endedAt };
}

export function recordedRows(rows: readonly unknown[]): readonly RecordedRow[] {
  return rows.filter((row): row is RecordedRow => isObject(row) && isObject(row['asked']));
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An entry of the history, with the name of its user in the place of null. */
export function entryIn(stored: unknown, user: string): HistoryEntry[] {
  if (!isObject(stored)) return [];
  const entry = Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, value ?? user]));
  return isEntry(entry, 'remote_user') ? [entry] : [];
}

/** What the ledger says of itself. @throws Failure config for another version */
export function stateIn(row: LedgerRow | undefined): LedgerState {
  const { version, salt, restored, now } = row ?? {};
  if (!Buffer.isBuffer(salt))
    throw new Failure(
      'config',
      'the table chatelaine.ledger has lost its only row, and with it the salt of all hashes',
      { hint: 'Restore that row from a backup.' },
    );
  const age = restored === null || restored === undefined ? undefined : Number(now) - Number(restored);
  if (version === ledgerVersion) return { salt, age };
  const is = `the ledger has version ${String(version)}, and this chatelaine needs ${ledgerVersion}`;
  throw new Failure('config', is, {
    hint:
      Number(version) > ledgerVersion
        ? 'Upgrade chatelaine on this machine.'
        : 'Once chatelaine is upgraded on all machines, and no run is working: DROP SCHEMA chatelaine CASCADE, then chatelaine ledger init.',
  });
}

/** A log of the database shows nothing that can be tested without the salt. */
export function saltedHash(salt: Buffer, text: string): string {
  return hash('sha256', Buffer.concat([salt, hash('sha256', text, 'buffer')]), 'hex');
}

/** The number of an advisory lock. */
export function keyOf(salt: Buffer, text: string): string {
  return BigInt.asIntN(64, BigInt(`0x${saltedHash(salt, text).slice(0, 16)}`)).toString();
}

export function hashedUser(salt: Buffer, origin: string, { app_code, remote_user }: UserName): HashedUser {
  const key = keyOf(salt, `${origin} ${app_code} ${foldName(remote_user)}`);
  return { app_code, key, exact: saltedHash(salt, remote_user) };
}
