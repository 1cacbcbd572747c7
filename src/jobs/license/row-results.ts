/** Turns the end of each case into the result of its row, and the ends of all rows into the outcome of the run. */
import { notShown } from '../../api/licensing/license-writes.ts';
import { sizeOf, type License } from '../../api/licensing/license.ts';
import { Failure } from '../../core/failure.ts';
import { namesIn } from '../../core/table-names.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { failuresByReason } from '../work/each.ts';
import { answeredLicense, answerOf, type Case, type End, type Unmet } from './case.ts';
import { failureOf, inWords, storedInWords } from './case-words.ts';
import { fatalKinds, type GivePorts } from './give-ports.ts';
import type { LicenseHistory } from './history.ts';

/** The result of a case, and its failure, such as a right license whose key cannot be printed, or not any more. */
export async function concludeCase(one: Case, end: End, ports: GivePorts): Promise<RowEnd> {
  const { lookups, placesOf, history, rules, warn } = ports;
  const { asked } = one;
  const own = answeredLicense(one);
  const unmet = unmetOf(end, own);
  let failure = unmet && failureOf(one, unmet, rules.wants);
  let license = unmet ? (own ?? unmet.license) : own && own.key === end.license?.key ? own : end.license;
  let warning = unmet ? undefined : warningOf(one, end);
  const looking = license && license !== own ? lookups.whyNoKey(asked, license, placesOf(asked.app_code)) : undefined;
  const noKey = await looking?.catch((cause: unknown) => {
    if (!one.sent && cause instanceof Failure && cause.isInterruption) return cause;
    throw cause;
  });
  if (noKey && own && !unmet) [license, warning] = [own, undefined];
  else if (noKey) [license, failure] = [undefined, failure ?? noKey];
  if (warning !== undefined) warn(warning);
  await recordEnd(one, end, history);
  const [listed] = end.outcome === 'resized' ? (end.licenses ?? []) : [];
  const size_before = listed && sizeOf(listed);
  const status = (unmet ?? end).outcome;
  // Kind `unknown`, since any other would read as "safe to run again", and the license exists.
  if (noKey && failure === noKey && status === 'created') failure = noKey.as('unknown', noKey.message);
  return { result: resultOf(asked, status, license ?? null, failure?.message, size_before ?? null), failure };
}

/** Without a list only an answered key counts (`own`), and a key that several users were answered is nobody's. */
function unmetOf(end: End, own: License | undefined): Unmet | undefined {
  if ('why' in end) return end;
  return end.licenses || own ? undefined : { do: 'end', outcome: 'unknown', why: { is: 'stopped' } };
}

function warningOf(one: Case, end: End): string | undefined {
  const answer = answerOf(one);
  if (answer?.license?.key !== undefined && answer.license.key !== end.license?.key) {
    const listed = `but lists one whose key ends with ${end.license?.key?.slice(-4) ?? ''}: the listed one counts`;
    return `${notShown(answer, one.asked).message}, ${listed}`;
  }
  return 'storedAs' in end && end.storedAs !== undefined ? storedInWords(one.asked, end.storedAs) : undefined;
}

/** Adds to the history that a license was created, or may have been. A change is recorded where it is sent. */
async function recordEnd(one: Case, end: End, { record }: LicenseHistory): Promise<void> {
  const { asked, sent } = one;
  if (end.outcome === 'failed' || !sent) return;
  const { remote_user, app_code, size_allowance } = asked;
  const license_code_end = (end.license ?? answerOf(one)?.license)?.key?.slice(-4);
  const event = end.outcome === 'unknown' ? end.outcome : 'created';
  await record({ event, remote_user, app_code, size_allowance, license_code_end });
}

/** The result of a row; in a dry run, the planned one. */
export interface RowResult<Status = 'created' | 'resized' | 'unchanged' | 'failed' | 'unknown'> extends LicenseFields {
  readonly status: Status;
  /** The license as the server returned it; null where it is not known. */
  readonly license: License | null;
  /** The size before a resize; null if there was none, or no list has it. */
  readonly size_allowance_before: number | null;
  readonly error: string | null;
}

/** Written out, since a copy by spread of an object that is a key of a Map takes 600 bytes: 60 MB for 100,000 rows. */
export function resultOf<S>(
  { remote_user, app_code, size_allowance }: LicenseFields,
  status: S,
  license: License | null,
  error: string | null = null,
  size_allowance_before: number | null = null,
): RowResult<S> {
  return { remote_user, app_code, size_allowance, status, license, size_allowance_before, error };
}

export interface RowEnd {
  readonly result: RowResult;
  readonly failure: Failure | undefined;
}

const reasons = {
  failed: 'failed',
  unknown: 'sent, but not confirmed',
  created: 'created, without a key that can be printed',
  resized: 'resized, without a key that can be printed',
  unchanged: 'without a key that can be printed',
};

/** Counts the results of a run, and makes its summary and its failure. */
export class RowOutcomes {
  readonly #counts = { created: 0, resized: 0, unchanged: 0, failed: 0, unknown: 0 };
  readonly #unmet: (readonly [RowResult, Failure])[] = [];
  readonly #run: { readonly where: string; readonly again: string };
  #left: number;

  /** @param total how many rows were wanted */
  constructor(run: { readonly where: string; readonly again: string }, total: number) {
    this.#run = run;
    this.#left = total;
  }

  add({ result, failure }: RowEnd): void {
    this.#counts[result.status] += 1;
    this.#left -= 1;
    if (failure) this.#unmet.push([result, failure]);
  }

  get summary(): string {
    const done = Object.entries(this.#counts).map(([status, count]) => [count, status] as const);
    return `${inWords([...done, [this.#left, 'not done']])} on ${this.#run.where}`;
  }

  /** The failure of the run; undefined where each row has its license. */
  failureOf(stopped: Failure | undefined): Failure | undefined {
    const { created, resized, unknown } = this.#counts;
    if (!stopped && this.#unmet.length + this.#left === 0) return undefined;
    const isDone = created + resized + unknown > 0;
    if (stopped && fatalKinds.has(stopped.kind) && !(isDone && stopped.kind === 'config')) return stopped;
    const lines = namesIn(reasons).flatMap((status) => {
      const rows = this.#unmet.filter(([row]) => row.status === status);
      const failed = rows.map(([{ remote_user }, { message }]) => [remote_user, message] as const);
      return failuresByReason(failed, reasons[status]);
    });
    const message = [[stopped?.message, this.summary].filter(Boolean).join('; '), ...lines].join('\n');
    const isUnknown = this.#unmet.some(([, one]) => one.kind === 'unknown') || stopped?.kind === 'unknown';
    const kind = unknown > 0 || isUnknown ? 'unknown' : 'incomplete';
    const final = this.#unmet.filter(([, { details }]) => details.retryable === false);
    const retryable = stopped !== undefined || this.#left > 0 || final.length < this.#unmet.length;
    const again = retryable && `Run the same command again, which plans again: ${this.#run.again}`;
    const hint = [again, final[0]?.[1].details.hint].filter(Boolean).join('\n') || undefined;
    const details = { hint, retryable };
    if (!stopped) return new Failure(kind, message, details);
    return stopped.as(stopped.isInterruption ? stopped.kind : kind, message, details);
  }
}
