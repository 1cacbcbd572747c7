/** The history in a ledger: what runs of all machines did, for people, without names. */
import { batched } from '../../core/batch.ts';
import { isObject, writeJson } from '../../core/json.ts';
import { isEntry, type HistoryEntry } from '../record/history.ts';
import { saltedHash, type LedgerRow } from './ledger-rows.ts';
import { statements } from './ledger-sql.ts';
import type { Ask } from './ledger-writes.ts';

interface Asked {
  readonly user: string;
  told: HistoryEntry[];
}

export class LedgerHistory {
  readonly #ask: Ask;
  readonly #salt: () => Promise<Buffer>;
  /** Adds to the history. */
  readonly tell: (entry: HistoryEntry) => Promise<void>;
  readonly #read: (asked: Asked) => Promise<void>;

  constructor(ask: Ask, salt: () => Promise<Buffer>) {
    this.#ask = ask;
    this.#salt = salt;
    this.tell = batched((entries) => this.#write(entries));
    this.#read = batched((asked) => this.#readAll(asked));
  }

  /** What runs of all machines did for a user, the oldest first. */
  async told(user: string): Promise<HistoryEntry[]> {
    const asked: Asked = { user, told: [] };
    await this.#read(asked);
    return asked.told;
  }

  /** The same, with what was answered and no list has shown. */
  async all(user: string): Promise<readonly HistoryEntry[]> {
    const told = await this.told(user);
    const open = await this.#ask(statements.openAnswers, [saltedHash(await this.#salt(), user)]);
    const isTold = (end: unknown) => told.some(({ license_code_end }) => license_code_end === end);
    return [...told, ...open.flatMap((row) => (isTold(row['key_end']) ? [] : [openEntry(row, user)]))];
  }

  async #write(entries: readonly HistoryEntry[]): Promise<void> {
    const salt = await this.#salt();
    const rows = entries.flatMap((entry) => rowsOf(entry));
    const columns = [rows.map(([user]) => saltedHash(salt, user)), rows.map(([, entry]) => writeJson(entry))];
    await this.#ask(statements.tell, columns);
  }

  async #readAll(asked: readonly Asked[]): Promise<void> {
    const salt = await this.#salt();
    const rows = await this.#ask(statements.told, [asked.map(({ user }) => saltedHash(salt, user))]);
    for (const [index, one] of asked.entries())
      one.told = rows.flatMap(({ at, entry }) => (Number(at) === index + 1 ? entryIn(entry, one.user) : []));
  }
}

/** A row for each name: null in the place of the name that the row is found by, and `?` in that of the other one. */
function rowsOf({ remote_user, remote_user_before: before, ...rest }: HistoryEntry): (readonly [string, object])[] {
  if (before === undefined) return [[remote_user, { ...rest, remote_user: null }]];
  return [
    [remote_user, { ...rest, remote_user: null, remote_user_before: '?' }],
    [before, { ...rest, remote_user: '?', remote_user_before: null }],
  ];
}

function entryIn(stored: unknown, user: string): HistoryEntry[] {
  if (!isObject(stored)) return [];
  const entry = Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, value ?? user]));
  return isEntry(entry, 'remote_user') ? [entry] : [];
}

/** An answered request whose license no list has shown. */
function openEntry({ origin, app_code, key_end, ended, run, command, host }: LedgerRow, user: string): HistoryEntry {
  return {
    event: 'unknown',
    time: new Date(Number(ended)).toISOString(),
    run: String(run),
    account: '',
    computer: String(host),
    command: String(command),
    origin: String(origin),
    app_code: Number(app_code),
    remote_user: user,
    license_code_end: typeof key_end === 'string' ? key_end : undefined,
  };
}
