import type { License } from '../../api/licensing/license.ts';
import { Failure, orWarn } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { pool } from '../work/pool.ts';
import { after, isPending, isSent, nextStep, whereStopped, type Case } from './case.ts';
import { severalWarning } from './case-words.ts';
import { lookUp } from './license-user.ts';
import { lookupRounds } from './lookup-rounds.ts';
import { endsRun, type CircuitBreaker } from './circuit-breaker.ts';
import { Performer, type Performed, type Ports, type Report } from './perform.ts';
import type { End } from './step.ts';

/** Cases that go on while others wait for their server's turn: they may need no POST. */
const ahead = 16;

/**
 * Carries each case to its end: one for `ensure` and `create`, those of a roster for `apply`. What need not wait goes
 * first; then one sleep, and one list for all that wait. Rejects with no Failure: what ends the run stops `breaker`.
 */
export async function settle(cases: Iterable<Case>, ports: Ports, breaker: CircuitBreaker, report: Report) {
  const { rules, claims, isAlone } = ports;
  const waiting = new Map<LicenseFields, Case>();
  /** Users to whom this run sends more than one POST: an earlier one may be carried out late. */
  const resent = new Set<LicenseFields>();
  const several = new Map<LicenseFields, readonly License[]>();
  const performer = new Performer(ports, breaker, report);
  const { isDue, queueOf, nextRound } = lookupRounds(ports, breaker, waiting);

  /** Until it ends, or waits for a lookup with others; who may have a license is reported when the run has ended. */
  const advance = async (begun: Case): Promise<void> => {
    for (let one = begun; ;) {
      const step = nextStep(one, queueOf(one), rules);
      if (step.do === 'end') return end(one, step);
      if (step.do === 'wait for others') return;
      const isGathered =
        step.do === 'look up' && step.due !== 'now' && !isPending(one) && !(isAlone && isDue(step.due));
      const next = isGathered || breaker.isOver() ? undefined : await act(one, step);
      if (!next && (isGathered || isSent(one))) waiting.set(one.asked, one);
      if (!next) return;
      one = next;
    }
  };

  const act = async (one: Case, step: Performed): Promise<Case | undefined> => {
    if (step.do === 'resize') confirmed(one, step.licenses);
    if (step.do === 'create' && one.posted !== undefined) resent.add(one.asked);
    try {
      return await performer.perform(one, step);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      if (cause.kind === 'unavailable') breaker.failed(cause);
      else breaker.answered();
      const isEnd = endsRun(cause, ports);
      if (isEnd) breaker.stop(cause);
      // A row without a request that a refused key ends says so.
      if (isEnd && (isSent(one) || (cause.kind !== 'auth' && cause.kind !== 'config'))) return undefined;
      return after(one, { event: 'refused', failure: cause, listed: step.do === 'resize' ? step.license : undefined });
    }
  };

  const end = async (one: Case, step: End): Promise<void> => {
    if ('licenses' in step && step.licenses && step.outcome !== 'resized') confirmed(one, step.licenses);
    await report.end(one, step);
  };

  /** A list shows the license: no answer is open any more. */
  const confirmed = (one: Case, licenses: readonly License[]): void => {
    const { asked } = one;
    claims.confirmed(asked);
    if (licenses.length < 2) return;
    // A user for whom the run creates a license, and who has several, is its result.
    if (isSent(one) || one.requests.job === 'created') several.set(asked, licenses);
    else ports.warn(severalWarning(asked));
  };

  const sayWait = (): void => {
    if (performer.sending > 0 && !isAlone)
      ports.note('Waiting for the answers of requests under way; the same signal again ends at once');
  };
  ports.signal.addEventListener('abort', sayWait);
  try {
    for (
      let round: Iterable<Case> | undefined = cases;
      round;
      round = breaker.isOver() ? undefined : await nextRound()
    ) {
      for await (const _ of pool(round, isAlone ? 1 : ports.concurrency + ahead, advance)) continue;
      await report.flush();
    }
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    breaker.stop(cause);
  }
  ports.signal.removeEventListener('abort', sayWait);
  for (const asked of rules.wants === 'one license' && !breaker.stopped() ? resent : []) {
    const result = await orWarn(lookUp(ports.licensing(asked.app_code), asked), ports.warn);
    if (result?.shows === 'licenses' && result.licenses.length > 1) several.set(asked, result.licenses);
  }
  for (const [asked, licenses] of several) ports.doubled(asked, licenses);
  for (const one of waiting.values()) {
    // What alone is left of it is another POST: the one before was not carried out.
    const isSettled = isAlone && nextStep(one, queueOf(one), { ...rules, uncounted: 'refuse' }).do === 'create';
    const step = isSettled ? undefined : whereStopped(one, breaker.stopped());
    if (step) await report.end(one, step);
  }
  await report.flush();
}
