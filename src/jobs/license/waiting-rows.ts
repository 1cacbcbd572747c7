import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { identityOf, type License } from '../../api/licensing/license.ts';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { similarTo, times } from './decide.ts';
import { inWords, planRoster, type Plan, type Planning } from './plan-roster.ts';
import type { RequestRecords } from './past.ts';

/** A row that another look decides (docs/exactly-once.md, States of a row). `posted`: when its last POST ended, on the clock `elapsed`. */
export type WaitingRow = { readonly row: LicenseFields; readonly posted: Milliseconds } & (
  | /** An earlier run, or another one, asked for it. */ { readonly is: 'asked' }
    /** A POST of this run ended without an answer of the API; `failure` is undefined where an interruption cut it. */
  | {
      readonly is: 'unanswered';
      readonly posts: number;
      readonly failure: Failure | undefined;
      /** The licenses of near names that were there before. */
      readonly near: ReadonlySet<string>;
    }
  /** A POST of this run was answered, and a list is to confirm it. */
  | { readonly is: 'answered'; readonly creation: AnsweredCreation; readonly looks: 'none yet' | 'one' }
);

/** A row whose POST of this run was answered. */
export type AnsweredRow = Extract<WaitingRow, { readonly is: 'answered' }>;

/** Whether a POST of this job, in this run or an earlier one, may have created the license. */
export function wasPosted(
  row: LicenseFields,
  waiting: WaitingRow | undefined,
  { journal }: Pick<RequestRecords, 'journal'>,
): boolean {
  return (waiting !== undefined && waiting.is !== 'asked') || 'posted' in journal.past(row);
}

/** What is known of a row that did not reach its goal. */
export interface RowKnown {
  readonly waiting: WaitingRow | undefined;
  /** A similar name is the reason, in words. */
  readonly similar?: string | undefined;
  /** The license that a list shows. */
  readonly license?: License | null | undefined;
}

/** A row that may have a license is `unknown`, and never `failed`. */
export function unreached(
  row: LicenseFields,
  message: string,
  { waiting, similar, license = null }: RowKnown,
  records: Pick<RequestRecords, 'journal'>,
): { readonly status: 'failed' | 'unknown'; readonly license: License | null; readonly error: string } {
  if (license || !wasPosted(row, waiting, records)) return { status: 'failed', license, error: message };
  return { status: 'unknown', license, error: [sentBefore(waiting), similar ?? message].filter(Boolean).join('; ') };
}

/** Why a POST without an answer is not sent again; undefined where it is. `near`: the licenses of near names that a look shows. */
export function endOfRepeats(
  { row, posts, near: before }: Extract<WaitingRow, { readonly is: 'unanswered' }>,
  near: readonly License[],
  retries: number,
): string | undefined {
  const added = near.find((license) => !before.has(identityOf(license)));
  if (added) return similarTo(added, row.remote_user);
  return posts > retries ? `sent ${times(posts)}, and the list does not show it` : undefined;
}

/** Why a row may have a license; what was answered is said by its result. */
function sentBefore(waiting: WaitingRow | undefined): string | undefined {
  if (waiting?.is === 'answered') return undefined;
  if (waiting?.is !== 'unanswered') return 'an earlier run asked for a license';
  return waiting.failure?.message ?? 'the request was not answered';
}

/** The clock of the machine, and the one that nobody sets. */
export interface TwoClocks {
  readonly now: () => Milliseconds;
  readonly elapsed: () => Milliseconds;
}

/** When the last POST of a row ended, as a time of the machine's clock for records. */
export function postedAt({ posted }: WaitingRow, { now, elapsed }: TwoClocks): Milliseconds {
  return posted - elapsed() + now();
}

/** What looking at waiting rows again needs. */
export interface LookingAgain extends Planning, RequestRecords, TwoClocks {
  /** How long after a POST without an answer the server may still carry it out, and hide from its list what it created. */
  readonly settle: Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
}

/** The rows that wait for another look. */
export class WaitingRows {
  readonly #rows = new Map<LicenseFields, WaitingRow>();

  add(waiting: WaitingRow): void {
    this.#rows.set(waiting.row, waiting);
  }

  /** What is known of a row stays so where its turn ended early, unless more is known by now. */
  putBack(waiting: WaitingRow): void {
    if (!this.#rows.has(waiting.row)) this.add(waiting);
  }

  /** Takes a row out; undefined where it does not wait. */
  take(row: LicenseFields): WaitingRow | undefined {
    const waiting = this.#rows.get(row);
    this.#rows.delete(row);
    return waiting;
  }

  all(): readonly WaitingRow[] {
    return [...this.#rows.values()];
  }

  /** Whether nothing is sent any more for any of them. */
  areAnswered(): boolean {
    return this.all().every(({ is }) => is === 'answered');
  }

  isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  /** Those that no list was read for since they were answered: a look at once confirms most of them. */
  unlooked(): readonly AnsweredRow[] {
    return this.all().flatMap((one) => (one.is === 'answered' && one.looks === 'none yet' ? [one] : []));
  }

  /** Waits until a look can decide all rows, and plans them by it. @throws Failure of the look, or of an interruption */
  async lookAgain(looking: LookingAgain): Promise<Plan> {
    const open = this.all();
    const latest = open.reduce((last, { posted }) => Math.max(last, posted), -Infinity);
    const wait = latest + looking.settle - looking.elapsed();
    looking.note(`${inKinds(open, looking)}: listing again${wait > 0 ? ` in ${formatDuration(wait)}` : ''}`);
    if (wait > 0) await looking.sleep(wait);
    return planRoster(
      open.map(({ row }) => row),
      looking,
    );
  }
}

/** How many rows wait, by what was asked for and by whom. */
function inKinds(open: readonly WaitingRow[], records: RequestRecords): string {
  const own = open.filter((waiting) => wasPosted(waiting.row, waiting, records));
  const answered = own.filter(({ is }) => is === 'answered').length;
  return inWords([
    [own.length - answered, 'unconfirmed'],
    [answered, 'answered and not listed yet'],
    [open.length - own.length, 'asked for by other runs'],
  ]);
}
