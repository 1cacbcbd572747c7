/** What the ledger says of writes and of itself, and the hashes under which it knows users. Pure: no connection. */
import { hash } from 'node:crypto';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type {
  AskedWrite,
  KnownWrites,
  OpenWrite,
  PendingWrite,
  UserName,
  WriteEnd,
  WritingRun,
} from '../record/writes.ts';

export type LedgerRow = Readonly<Record<string, unknown>>;

/** What a ledger says of itself. */
export interface LedgerState {
  readonly salt: Buffer;
  /** Milliseconds since it was made or restored; undefined: long ago. */
  readonly age: Milliseconds | undefined;
}

export interface RecordedRun extends WritingRun {
  /** The start of each id of this run. */
  readonly token: string;
  readonly settle: Milliseconds;
  /** The longest time of a request. */
  readonly requestLimit: Milliseconds;
  readonly note: (text: string) => void;
}

export interface Locking {
  readonly keys: readonly string[];
  taken: readonly string[];
}

export interface AskedUsers {
  readonly users: readonly UserName[];
  known: readonly KnownWrites[];
}

export interface SettledWrite {
  readonly id: string;
  readonly passed: boolean;
}

export type KeptWrite = Extract<WriteEnd, { readonly is: 'answered' | 'no answer' }> & { readonly id: string };

/** What is known of each of so many users, by their place in the question. */
export function knownIn(
  rows: readonly LedgerRow[],
  count: number,
  now: Milliseconds,
  endOf: (row: LedgerRow) => Milliseconds,
) {
  const of = new Map<number, LedgerRow[]>();
  for (const row of rows) of.set(Number(row['at']), [...(of.get(Number(row['at'])) ?? []), row]);
  return Array.from({ length: count }, (_, index) => {
    const own = of.get(index + 1) ?? [];
    const pending = own.flatMap((row) => pendingIn(row, endOf(row), now));
    const open = own.filter((row) => isOpen(row) && row['is_exact'] === true).at(-1);
    return { pending, open: open && openIn(open, endOf(open)) };
  });
}

/** Whether it is a creation that was answered. */
function isOpen({ state, asked }: LedgerRow): boolean {
  return state === 'answered' && isAsked(asked) && asked.kind === 'creation';
}

function isAsked(asked: unknown): asked is AskedWrite {
  return isObject(asked) && Number.isFinite(asked['settle']) && Number.isFinite(asked['unanswered']);
}

const day: Milliseconds = 86_400_000;

/** A name that was given may be shown late, but not later than `--settle`; what was not processed counts for a day. */
function pendingIn(row: LedgerRow, ended: Milliseconds, now: Milliseconds): PendingWrite[] {
  const { state, asked } = row;
  if (state === 'begun' || isOpen(row) || !isAsked(asked)) return [];
  const n = state === 'answered' ? 1 : Number(row['n']);
  const counts = n === 0 ? day : Infinity;
  if (now > ended + (state === 'answered' ? asked.settle : counts)) return [];
  return [{ id: String(row['id']), run: String(row['run']), command: String(row['command']), asked, ended, n }];
}

/** Whatever a restored ledger does not have. */
export function lackingWrite(settle: Milliseconds, ended: Milliseconds): PendingWrite {
  const asked = { kind: 'creation', settle, unanswered: 0 } as const;
  return { id: 'restored', run: '', command: '', asked, ended, n: 1 };
}

export function openIn({ id, run, command, status, ended, key_end }: LedgerRow, answered: Milliseconds): OpenWrite {
  const key = typeof key_end === 'string' ? key_end : undefined;
  const who = { run: String(run), command: String(command) };
  return { id: String(id), ...who, status: Number(status), time: Number(ended), answered, key_end: key };
}

/** A log of the database shows nothing that can be tested without the salt. */
export function saltedHash(salt: Buffer, text: string): Buffer {
  return hash('sha256', Buffer.concat([salt, hash('sha256', text, 'buffer')]), 'buffer');
}

export function isSameBytes(value: unknown, bytes: Buffer): boolean {
  return Buffer.isBuffer(value) && value.equals(bytes);
}

/** The number of an advisory lock. */
export function keyOf(salt: Buffer, text: string): string {
  return saltedHash(salt, text).readBigInt64BE().toString();
}

/** What the ledger says of itself. @throws Failure config */
export function stateIn(row: LedgerRow | undefined): LedgerState & { readonly version: number } {
  const { version, salt, restored, now } = row ?? {};
  if (!Buffer.isBuffer(salt))
    throw new Failure(
      'config',
      'the table chatelaine.ledger has lost its only row, and with it the salt of all hashes',
      {
        hint: 'Restore that row from a backup.',
      },
    );
  const age = restored === null || restored === undefined ? undefined : Number(now) - Number(restored);
  return { version: Number(version), salt, age };
}
