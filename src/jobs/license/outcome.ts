import { notShown, otherKey } from '../../api/licensing/license-writes.ts';
import { hasKeyOf, partOfKey, sizeOf, type License } from '../../api/licensing/license.ts';
import type { Failure } from '../../core/failure.ts';
import { isSent, type Case } from './case.ts';
import { failureOf } from './case-words.ts';
import type { RecordEvent } from './history.ts';
import type { End, Unmet } from './step.ts';

export interface CaseOutcome {
  readonly status: End['outcome'];
  /** What was answered is always printed. */
  readonly license?: License | undefined;
  /** The license of which a list shows only a part of its key. */
  readonly part?: License | undefined;
  readonly failure?: Failure | undefined;
  readonly warning?: string | undefined;
  /** Of a license that was resized; undefined also where the list did not tell it. */
  readonly size_before?: number | undefined;
  /** Why no list confirms what was answered. */
  readonly unread?: Failure | undefined;
}

/** A part of a key is never printed: the license is met, and the run fails all the same. */
export function outcomeOf(one: Case, end: End): CaseOutcome {
  const outcome = wholeOutcomeOf(one, end);
  const { license } = outcome;
  return license?.isPart
    ? { ...outcome, license: undefined, part: license, failure: outcome.failure ?? partOfKey(license.key) }
    : outcome;
}

function wholeOutcomeOf(one: Case, end: End): CaseOutcome {
  const { asked, creation, last, requests } = one;
  const answer = creation?.state === 'answered' ? creation : undefined;
  const { license: answered, license_is } = answer ?? {};
  const unmet = (unknown: Unmet): CaseOutcome => ({
    status: unknown.outcome,
    license: license_is === 'as asked' ? answered : unknown.license,
    failure: failureOf(one, unknown),
  });
  if ('why' in end) return unmet(end);
  const { outcome: status, license, licenses, unread } = end;
  // One key that was answered for several users is nobody's until a list says whose.
  if (!licenses && license_is !== 'as asked') return unmet({ do: 'end', outcome: 'unknown', why: { is: 'stopped' } });
  const before = last?.listed && sizeOf(last.listed);
  const size_before = status === 'resized' ? (before ?? requests.size_before) : undefined;
  const isOther = answered && hasKeyOf(answered, license) === false;
  if (license_is === 'as asked' && !isOther) return { status, license: answered, size_before, unread };
  if (!answer || answered?.key === undefined || answered.isPart || answered.key === license.key)
    return { status, license, size_before };
  const warning = license_is === 'as asked' ? otherKey(asked, answered, license) : notShown(answer, asked).message;
  return { status, license, size_before, warning };
}

/**
 * Tells the history that a license was created, or may have been, also where an earlier run asked for it and did not
 * live to tell. A change is recorded where it is sent.
 */
export async function recordEnd(one: Case, { status, license, part }: CaseOutcome, record: RecordEvent): Promise<void> {
  const { asked, posted, creation, requests } = one;
  const isOpen = requests.answer !== undefined || (requests.unanswered ?? 0) > 0;
  if (status === 'failed' || !(isSent(one) || isOpen)) return;
  const { remote_user, app_code, size_allowance } = asked;
  const told = license ?? part ?? (creation?.state === 'answered' ? creation.license : undefined);
  const license_code_end = told?.key?.slice(-4);
  // Of an earlier run's POST only an answer shows that it was sent.
  const { answer } = requests;
  const isOwn = posted !== undefined || (answer && (answer.key_end ?? license_code_end) === license_code_end);
  const event = status === 'unknown' ? status : isOwn ? 'created' : 'found';
  await record({ event, remote_user, app_code, size_allowance, license_code_end });
}
