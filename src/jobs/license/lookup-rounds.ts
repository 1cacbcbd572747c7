import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Queue } from '../../store/queue.ts';
import { noRequests } from '../../store/request-history.ts';
import { after, caseOf, isAnswered, nextStep, type Case } from './case.ts';
import { waitInWords } from './case-words.ts';
import type { KnownLicense } from './list-users.ts';
import { endsRun, type CircuitBreaker } from './circuit-breaker.ts';
import type { Ports } from './perform.ts';
import { listRoster } from './plan.ts';
import { idle, type LookUpStep } from './step.ts';

/**
 * The lookups of those who wait: at once for whom that is due, with those that other runs had; then one sleep, and one
 * list for all that are left.
 */
export function lookupRounds(ports: Ports, breaker: CircuitBreaker, waiting: Map<LicenseFields, Case>) {
  const { rules, claims, queues, isAlone, elapsed } = ports;
  let slept = 0;
  /** Of the servers, as of the last round: what other runs have asked for is a matter of time. */
  const known = new Map<number, Queue>();
  const queueOf = ({ asked, posted }: Case): Queue => (posted === undefined && known.get(asked.app_code)) || idle;
  const isDue = (due: LookUpStep['due']): boolean => typeof due === 'string' || due <= Math.max(elapsed(), slept);
  const lookupOf = (one: Case): LookUpStep => {
    const step = nextStep(one, queueOf(one), rules);
    return step.do === 'look up' ? step : { do: 'look up', due: 'now' };
  };

  /** Undefined: nobody waits any more. */
  const nextRound = async (): Promise<Iterable<Case> | undefined> => {
    const all = [...waiting.values()];
    const isAsked = all.some(({ posted, requests }) => posted === undefined && requests.posted !== undefined);
    for (const [app_code, queue] of isAsked ? queues : []) known.set(app_code, await queue.look());
    const held = all.every(isAnswered) ? await claims.othersDone(all.map(({ asked }) => asked)) : [];
    const due = all.filter((one) => isDue(lookupOf(one).due));
    if (due.length + held.length > 0) return list(due, held);
    if (all.length === 0) return undefined;
    slept = all.reduce((latest, one) => Math.max(latest, Number(lookupOf(one).due)), 0);
    ports.note(waitInWords(all, slept - elapsed()));
    await ports.sleep(slept - elapsed());
    return isAlone ? waited(all, (one) => one) : list(all, []);
  };

  /** Takes them out, so that memory holds no case that has ended. */
  const waited = function* (due: Case[], changed: (one: Case) => Case): Generator<Case> {
    due.reverse();
    for (let one = due.pop(); one; one = due.pop()) {
      waiting.delete(one.asked);
      yield changed(one);
    }
  };

  /** One list for all of them; each is decided when it is reached, since then the memory of a long run peaks. */
  const list = async (due: Case[], held: readonly LicenseFields[]): Promise<Iterable<Case>> => {
    let [since, until] = [-Infinity, 0];
    for (const one of due) {
      const { deciding } = lookupOf(one);
      since = Math.max(since, deciding?.since ?? since);
      until = Math.max(until, deciding?.until ?? until);
    }
    const rows = [...due.map(({ asked }) => asked), ...held];
    try {
      const deciding = since > -Infinity ? { since, until } : undefined;
      const looking = { ...ports, deciding, known: knownOf(due) };
      const { listedAt, seenOf } = await listRoster(rows, looking);
      const seen = (one: Case): Case => after(one, { event: 'looked up', seen: seenOf(one.asked) });
      if (held.length === 0) return waited(due, seen);
      const others = held.map((row) => seen(caseOf(row, noRequests)));
      const missing = others.flatMap(({ asked, seen: { result } = {} }) =>
        result?.shows === 'licenses' ? [] : [asked],
      );
      claims.listed({ listedAt, missing });
      return [...waited(due, seen), ...others];
    } catch (cause) {
      if (!(cause instanceof Failure) || endsRun(cause, ports)) throw cause;
      const posts = due.filter(({ posted }) => posted !== undefined);
      if (posts.length < rows.length) breaker.stop(cause);
      const unread = { by: 'filter', result: { shows: 'no answer', failure: cause } } as const;
      return waited(posts, (one) => after(one, { event: 'looked up', seen: unread }));
    }
  };

  return { isDue, queueOf, nextRound };
}

/** What these were answered: a list that shows the same need not hold a copy. */
function knownOf(cases: readonly Case[]): (app_code: number) => KnownLicense {
  return (app_code) => {
    const own = cases.filter(({ asked }) => asked.app_code === app_code);
    const licenses = new Map(
      own.map(({ asked, creation }) => [
        asked.remote_user,
        creation?.state === 'answered' ? creation.license : undefined,
      ]),
    );
    return (user) => licenses.get(user);
  };
}
