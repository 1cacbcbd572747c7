import { notShown } from '../../api/licensing/license-writes.ts';
import { sizeOf, type License } from '../../api/licensing/license.ts';
import type { Failure } from '../../core/failure.ts';
import { answeredLicense, answerOf, type Case, type End, type Unmet } from './case.ts';
import { failureOf, storedInWords } from './case-words.ts';
import type { LicenseHistory } from './history.ts';

export interface CaseOutcome {
  readonly status: End['outcome'];
  /** What was answered is always printed. */
  readonly license?: License | undefined;
  readonly failure?: Failure | undefined;
  readonly warning?: string | undefined;
  /** Of a license that was resized; undefined also where the list did not tell it. */
  readonly size_before?: number | undefined;
  /** Why no list confirms what was answered. */
  readonly unread?: Failure | undefined;
}

/** @param whyNoKey why a listed license has no key that can be printed: it is met, and the run fails all the same */
export async function outcomeOf(
  one: Case,
  end: End,
  whyNoKey: (license: License) => Promise<Failure | undefined>,
): Promise<CaseOutcome> {
  const outcome = wholeOutcomeOf(one, end);
  const { license } = outcome;
  const answered = answerOf(one)?.license;
  const failure = license && license.key !== answered?.key ? await whyNoKey(license) : undefined;
  if (!failure) return outcome;
  // The answered key is printed where the list shows no key.
  const own = answeredLicense(one);
  if (own && !('why' in end)) return { ...outcome, license: own, warning: undefined };
  return { ...outcome, license: undefined, failure: outcome.failure ?? failure };
}

function wholeOutcomeOf(one: Case, end: End): CaseOutcome {
  const { asked, last } = one;
  const answer = answerOf(one);
  const { license: answered, license_is } = answer ?? {};
  const unmet = (unknown: Unmet): CaseOutcome => ({
    status: unknown.outcome,
    license: license_is === 'as asked' ? answered : unknown.license,
    failure: failureOf(one, unknown),
  });
  if ('why' in end) return unmet(end);
  const { outcome: status, license, licenses, unread, storedAs } = end;
  // One key that was answered for several users is nobody's until a list says whose.
  if (!licenses && license_is !== 'as asked') return unmet({ do: 'end', outcome: 'unknown', why: { is: 'stopped' } });
  const size_before = status === 'resized' ? last?.listed && sizeOf(last.listed) : undefined;
  const warning = storedAs === undefined ? undefined : storedInWords(asked, storedAs);
  if (license_is === 'as asked' && answered?.key === license.key)
    return { status, license: answered, size_before, unread, warning };
  if (!answer || answered?.key === undefined || answered.key === license.key)
    return { status, license, size_before, warning };
  const listed = `but lists one whose key ends with ${license.key?.slice(-4) ?? ''}: the listed one counts`;
  return { status, license, size_before, warning: `${notShown(answer, asked).message}, ${listed}` };
}

/** Tells the history that a license was created, or may have been. A change is recorded where it is sent. */
export async function recordEnd(one: Case, end: End, { record }: Pick<LicenseHistory, 'record'>): Promise<void> {
  const { asked, sent } = one;
  if (end.outcome === 'failed' || !sent) return;
  const { remote_user, app_code, size_allowance } = asked;
  const license_code_end = (end.license ?? answerOf(one)?.license)?.key?.slice(-4);
  const event = end.outcome === 'unknown' ? end.outcome : 'created';
  await record({ event, remote_user, app_code, size_allowance, license_code_end });
}
