import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import type { License } from '../../api/licensing/license.ts';
import { misreadInWords } from '../../api/licensing/user-licenses.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { orWarn } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { QueuedClaims } from '../../store/claims.ts';
import { noRequests, type PostEnd } from '../../store/request-history.ts';
import { caseOf, type Case } from './case.ts';
import { createdInWords, openInWords, similarTo } from './case-words.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import type { RecordEvent } from './history.ts';
import { endOf, unrecorded, unreleased, type Settling } from './license-user.ts';
import { outcomeOf, recordEnd, type CaseOutcome } from './outcome.ts';
import type { Ports } from './perform.ts';
import { noJob } from './roster-job.ts';
import { settle } from './settle.ts';
import type { End, Rules } from './step.ts';

export type UserClaims = Pick<QueuedClaims, 'take' | 'posting' | 'ended' | 'release' | 'lost' | 'queue'>;

interface Giving extends Settling {
  readonly rules: Rules;
  readonly claims: UserClaims;
  readonly record: RecordEvent;
  readonly creations: Ports['creations'];
  readonly signal: AbortSignal;
  /** Rejects where a person does not want another license; elsewhere it is a warning. */
  readonly agree?: (reason: string) => Promise<void>;
}

/** `failure`: to throw once the license is printed; no list shows it, for one. */
interface GivenLicense extends CaseOutcome {
  readonly license: License;
  /** The licenses of a user for whom one was created, where there are several. */
  readonly all?: readonly License[] | undefined;
}

/**
 * The user gets one license of that size: created, resized or left; or another one. One license is safe to repeat, and
 * beside other processes of this machine, or of every machine with the same ledger.
 * @throws Failure incomplete, rejected where the list forbids creation; unknown where a POST cannot be confirmed
 */
export async function giveLicense(api: LicensingApi, asked: LicenseFields, giving: Giving): Promise<GivenLicense> {
  const { claims, signal, agree, warn, record, now } = giving;
  const { remote_user } = asked;
  const history = (await claims.take([remote_user])).get(remote_user) ?? noRequests;
  const shown = new Set<string>();
  let outcome: CaseOutcome | undefined;
  let all: readonly License[] | undefined;
  const ended = (_row: unknown, end: PostEnd) => orWarn(claims.ended(remote_user, end), warn, unrecorded);
  const ports: Ports = {
    ...giving,
    isAlone: true,
    concurrency: 1,
    licensing: () => api,
    job: noJob,
    queues: new Map([[asked.app_code, claims.queue]]),
    claims: {
      claim: async () => 'claimed',
      history: () => history,
      confirmed: () => void shown.add(remote_user),
      ended,
      posting: () => claims.posting(remote_user),
      lost: claims.lost,
      othersDone: async () => [],
      listed: () => undefined,
      release: async () => undefined,
    },
    agree: agree && ((one) => sayBefore(one, agree, warn)),
    doubled: (_user, licenses) => void (all = licenses),
  };
  const breaker = circuitBreaker(ports);
  const report = {
    answered: (row: unknown, creation: AnsweredCreation) => ended(row, endOf(creation, now(), 0)),
    async end(one: Case, end: End) {
      outcome = outcomeOf(one, end);
      await recordEnd(one, outcome, record);
    },
    flush: async () => undefined,
  };
  try {
    await settle([{ ...caseOf(asked, history), claim: 'ours' }], ports, breaker, report);
  } finally {
    await orWarn(claims.release([remote_user], shown), warn, unreleased);
  }
  const stopped = breaker.stopped();
  const { license, failure, warning, unread } = outcome ?? {};
  if (warning !== undefined) warn(warning);
  if (!outcome || !license) throw failure ?? stopped ?? new Error('neither a license nor a failure');
  if (!unread) return { ...outcome, license, all, failure: failure ?? (signal.aborted ? undefined : stopped) };
  if (unread.isInterruption) return { ...outcome, license, failure: unread };
  warn(`the license was created, as the server answered, and could not be confirmed: ${unread.message}`);
  return { ...outcome, license };
}

/** Another license needs consent where a list shows one; an open answer and a similar name are a warning. */
async function sayBefore(
  { asked, seen, requests, known }: Case,
  agree: NonNullable<Giving['agree']>,
  warn: Giving['warn'],
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
    if (result?.misread !== undefined) warn(misreadInWords(remote_user, result.misread));
    if (requests.answer) warn(`${openInWords(asked, requests.answer)}: this creates another one`);
  }
}
