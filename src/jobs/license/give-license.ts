import type { License } from '../../api/licensing/license.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { caseOf, type Case } from './case.ts';
import { createdInWords, openInWords, similarTo } from './case-words.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { give } from './give.ts';
import { outcomeOf, recordEnd, type CaseOutcome } from './outcome.ts';
import type { GivePorts } from './give-ports.ts';

interface GivingOne extends Omit<GivePorts, 'doubled' | 'agree' | 'concurrency' | 'names'> {
  /** Rejects where a person does not want another license; elsewhere it is a warning. */
  readonly agree?: (reason: string) => Promise<void>;
}

/** `failure`: to throw once the license is printed. */
interface GivenLicense extends CaseOutcome {
  readonly license: License;
  /** The licenses of a user for whom one was created, where there are several. */
  readonly all: readonly License[];
}

/**
 * The user gets one license of that size: created, resized or left; or another one. One license is safe to repeat, and
 * beside other processes of this machine, or of every machine with the same ledger.
 * @throws Failure incomplete, rejected where the list forbids creation; unknown where a POST cannot be confirmed
 */
export async function giveLicense(asked: LicenseFields, giving: GivingOne): Promise<GivenLicense> {
  const { signal, agree, warn, history, lookups } = giving;
  let outcome: CaseOutcome | undefined;
  let all: readonly License[] = [];
  const ports: GivePorts = {
    ...giving,
    concurrency: 1,
    names: 'all forms',
    agree: agree && ((one) => sayBefore(one, agree, warn)),
    doubled: (_user, licenses) => void (all = licenses),
  };
  const breaker = circuitBreaker(signal);
  await give([caseOf(asked)], ports, breaker, {
    answered: () => undefined,
    async end(one, end) {
      outcome = await outcomeOf(one, end, (license) => lookups.whyNoKey(asked, license));
      await recordEnd(one, outcome, history);
    },
  });
  const stopped = breaker.stopped();
  const { license, failure, warning, unread } = outcome ?? {};
  if (warning !== undefined) warn(warning);
  if (!outcome || !license) throw failure ?? stopped ?? new Error('neither a license nor a failure');
  if (!unread) return { ...outcome, license, all, failure: failure ?? afterwards(stopped, signal) };
  if (unread.isInterruption) return { ...outcome, license, all, failure: unread };
  warn(`the license was created, as the server answered, and could not be confirmed: ${unread.message}`);
  return { ...outcome, license, all };
}

/** What is printed is printed; a signal that came after it changes nothing. */
function afterwards(stopped: Failure | undefined, signal: AbortSignal): Failure | undefined {
  return signal.aborted ? undefined : stopped;
}

/** Another license needs consent where a list shows one; an open answer and a similar name are a warning. */
async function sayBefore(
  { asked, seen, recorded, known }: Case,
  agree: NonNullable<GivingOne['agree']>,
  warn: GivePorts['warn'],
): Promise<void> {
  const { remote_user, app_code } = asked;
  const result = seen?.result;
  if (result && 'failure' in result)
    warn(`the licenses of ${remote_user} could not be listed: ${result.failure.message}`);
  else if (result?.shows === 'licenses') {
    const { length } = result.licenses;
    const has = `${remote_user} already has ${length === 1 ? 'a license' : `${length} licenses`} in application ${app_code}`;
    await agree(`${has}: this creates another; license ensure would not`);
  } else {
    if (known) await agree(`${createdInWords(asked, known)}: this creates another`);
    const [near] = result?.shows === 'near' ? result.licenses : [];
    if (near) warn(similarTo(near, remote_user));
    if (recorded?.open) warn(`${openInWords(asked, recorded.open)}: this creates another one`);
  }
}
