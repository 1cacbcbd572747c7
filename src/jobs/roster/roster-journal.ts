import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Journal } from '../../store/journal.ts';

/** What earlier runs of the same job left on record of one row. */
export interface Past {
  /** When a request for a license ended without an answer; Infinity where its end is not on record, as after a kill. */
  readonly asked?: Milliseconds;
  /** The last recorded outcome. */
  readonly status?: 'created' | 'resized';
}

/** The steps of an application of a roster, on disk before and after each request. A record holds no license code. */
export interface RosterJournal {
  readonly past: ReadonlyMap<string, Past>;
  /** Why nothing more can be recorded, such as a full disk. */
  broken(): Failure | undefined;
  /** Whether a license was asked for whose outcome is not on record. */
  isOpen(row: LicenseFields): boolean;
  /** The users of which that is so. */
  open(): Pick<LicenseFields, 'app_code' | 'remote_user'>[];
  before(row: LicenseFields, step: 'create' | 'resize', time: Milliseconds): Promise<void>;
  after(row: LicenseFields, status: 'created' | 'resized' | 'failed' | 'unknown', time: Milliseconds): Promise<void>;
}

/** The identity of a row: one user of one application. */
export function rowKey({ app_code, remote_user }: Pick<LicenseFields, 'app_code' | 'remote_user'>): string {
  return `${app_code} ${remote_user}`;
}

function userOf(key: string): Pick<LicenseFields, 'app_code' | 'remote_user'> {
  const end = key.indexOf(' ');
  return { app_code: Number(key.slice(0, end)), remote_user: key.slice(end + 1) };
}

export function rosterJournal(journal: Pick<Journal, 'records' | 'append'>): RosterJournal {
  let broken: Failure | undefined;
  const past = replay(journal.records);
  const open = new Set([...past].flatMap(([key, { asked }]) => (asked === undefined ? [] : [key])));
  const append = async (record: Entry): Promise<void> => {
    try {
      await journal.append(record);
    } catch (cause) {
      if (cause instanceof Failure) broken = cause;
      throw cause;
    }
  };
  return {
    past,
    broken: () => broken,
    isOpen: (row) => open.has(rowKey(row)),
    open: () => [...open].map(userOf),
    before({ remote_user, app_code, size_allowance }, step, time) {
      if (step === 'create') open.add(rowKey({ app_code, remote_user }));
      return append({ remote_user, app_code, size_allowance, step, time });
    },
    async after({ remote_user, app_code }, status, time) {
      await append({ remote_user, app_code, status, time });
      if (status !== 'unknown') open.delete(rowKey({ app_code, remote_user }));
    },
  };
}

interface Entry {
  readonly remote_user: string;
  readonly app_code: number;
  readonly size_allowance?: number;
  readonly step?: 'create' | 'resize';
  readonly status?: 'created' | 'resized' | 'failed' | 'unknown';
  readonly time: Milliseconds;
}

/**
 * An asked license stays asked until an outcome is recorded; `unknown` is none, and tells when its request ended. When it was sent is
 * not known: it may have waited long for its turn. A resize that was cut off is simply done again.
 */
function replay(records: readonly unknown[]): Map<string, Past> {
  const past = new Map<string, Past>();
  for (const { step, status, time, ...row } of records as readonly Entry[]) {
    const key = rowKey(row);
    const known = past.get(key) ?? {};
    if (step === 'create') past.set(key, { ...known, asked: Infinity });
    if (status === 'unknown' && known.asked !== undefined) past.set(key, { ...known, asked: time });
    if (status === 'created' || status === 'resized')
      past.set(key, { status: known.status === 'created' ? 'created' : status });
    if (status === 'failed') past.set(key, known.status === undefined ? {} : { status: known.status });
  }
  return past;
}
