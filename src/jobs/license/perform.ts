import type { Deciding } from '../../api/http/call.ts';
import { identityOf, keyOf, sizeOf, type License } from '../../api/licensing/license.ts';
import type { AnsweredCreation, Creation } from '../../api/licensing/license-writes.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { OriginQueue } from '../../store/queue.ts';
import type { PostEnd } from '../../store/request-history.ts';
import { limiter } from '../work/pool.ts';
import { endsRun, type CircuitBreaker } from './circuit-breaker.ts';
import { after, isPending, nextStep, type Case, type SeenUser } from './case.ts';
import { waitInWords } from './case-words.ts';
import { recall, recordedChange, type Creations, type RecordEvent } from './history.ts';
import { endOf, lookUp, nearIn, nothing, type LicenseUser, type Settling } from './license-user.ts';
import { listAfterPost } from './list-users.ts';
import { requestsOf, type RosterJob } from './roster-job.ts';
import { sendInTurn, settleRequest, type PostSight } from './server-queue.ts';
import type { RosterClaims } from './share-roster.ts';
import { idle, type End, type LookUpStep, type Step, type Rules } from './step.ts';

export interface Ports extends Settling {
  readonly rules: Rules;
  /** Whether the run is about one user: no other POST moves the pages of a list meanwhile. */
  readonly isAlone: boolean;
  readonly concurrency: number;
  readonly licensing: (app_code: number) => LicensingApi;
  readonly job: RosterJob;
  readonly claims: Omit<RosterClaims, 'releaseAll' | 'releaseBut'>;
  readonly creations: Creations;
  /** Of each application: the requests that its server may still carry out, of all runs. */
  readonly queues: ReadonlyMap<number, OriginQueue>;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  /** Tells the history of this computer what was done. */
  readonly record: RecordEvent;
  /** Tells what a lookup shows before another license is created; rejects where a person does not want it. */
  readonly agree?: ((one: Case) => Promise<void>) | undefined;
  /** A user for whom this run created a license has several. */
  readonly doubled: (user: LicenseUser, licenses: readonly License[]) => void;
}

export interface Report {
  /** Records what the server answered. */
  answered(row: LicenseFields, creation: AnsweredCreation): Promise<void>;
  end(one: Case, end: End): Promise<void>;
  flush(): Promise<void>;
}

type Create = Extract<Step, { readonly do: 'create' }>;
export type Performed = Exclude<Step, { readonly do: 'end' | 'wait for others' }>;

/** Carries steps out, each with its lines in the record. Undefined: the run stopped before. */
export class Performer {
  readonly #ports: Ports;
  readonly #breaker: CircuitBreaker;
  readonly #report: Pick<Report, 'answered'>;
  readonly #limit: ReturnType<typeof limiter>;
  /** Rows are claimed in their order, so that they are recorded and sent in it. */
  readonly #inOrder = limiter(1);
  readonly #oneAtATime = limiter(1);
  /** Applications whose list holds what this run creates. */
  readonly #conclusive = new Set<number>();
  sending = 0;
  /** When the run last said what it waits for. */
  #said: Milliseconds = 0;

  constructor(ports: Ports, breaker: CircuitBreaker, report: Pick<Report, 'answered'>) {
    this.#ports = ports;
    this.#breaker = breaker;
    this.#report = report;
    this.#limit = limiter(() => ([...ports.queues.values()].some((queue) => queue.isSlow()) ? 1 : ports.concurrency));
  }

  async perform(one: Case, step: Performed): Promise<Case | undefined> {
    if (step.do === 'look up') return isPending(one) ? this.#watch(one) : this.#lookUp(one, step);
    if (step.do === 'create') return this.#create(one, step);
    if (step.do === 'resize') return this.#resize(one, step.license);
    const { agree, claims, creations, licensing } = this.#ports;
    if (step.do === 'ask') {
      await agree?.(await recall(one, creations, licensing));
      return after(one, { event: 'agreed' });
    }
    if ((await this.#inOrder(() => claims.claim(one.asked))) === 'held') return after(one, { event: 'held' });
    return after(one, { event: 'claimed', requests: requestsOf(one.asked, this.#ports) });
  }

  /** A lookup that fails creates nothing. */
  async #lookUp(one: Case, { due, ...step }: LookUpStep): Promise<Case> {
    const { licensing, rules, elapsed, isAlone } = this.#ports;
    const { asked, seen, posted } = one;
    // One that comes too early to settle a POST may find the license all the same.
    const isEarly = due === 'now' && step.deciding && step.deciding.since > elapsed();
    const deciding = isEarly ? undefined : step.deciding;
    const api = deciding ? licensing(asked.app_code).deciding(deciding) : licensing(asked.app_code);
    const lookedUp = (by: SeenUser['by'], result: SeenUser['result']): Case =>
      after(one, { event: 'looked up', seen: { by, since: deciding?.since, result } });
    try {
      const result = await this.#limit(() => lookUp(api, asked, seen ? nearIn(seen.result) : []));
      this.#breaker.answered();
      // A license that an old answer shows is there.
      const old = deciding && posted === undefined && result.shows === 'incomplete';
      if (old) {
        const found = await this.#limit(() => lookUp(licensing(asked.app_code), asked));
        if (found.shows === 'licenses')
          return after(one, { event: 'looked up', seen: { by: 'filter', result: found } });
      }
      const isMoving = !isAlone && result.unfiltered && result.shows !== 'licenses';
      return lookedUp(isMoving ? 'moving list' : 'filter', result);
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      const isOptional = rules.wants === 'another license' && posted === undefined;
      if (isOptional ? failure.isInterruption : endsRun(failure, this.#ports)) throw failure;
      if (failure.kind === 'unavailable') this.#breaker.failed(failure);
      return lookedUp('filter', { shows: 'no answer', failure });
    }
  }

  /**
   * POSTs go one at a time until a list holds all earlier licenses and a new one; else the run stops
   * (docs/exactly-once.md, A list is a hint).
   */
  async #create(asked: Case, step: Create): Promise<Case | undefined> {
    const { licensing, rules, creations } = this.#ports;
    const one = asked.isAgreed ? asked : await recall(asked, creations, licensing);
    if (nextStep(one, idle, rules).do !== 'create' && one !== asked) return one;
    const { app_code } = one.asked;
    const result = one.seen?.result;
    const earlier = result && 'unfiltered' in result ? result.unfiltered : undefined;
    if (!earlier || rules.wants === 'another license' || this.#conclusive.has(app_code)) return this.#post(one, step);
    return this.#oneAtATime(async () => {
      const sent = await this.#post(one, step);
      if (sent?.posted === undefined || this.#conclusive.has(app_code) || this.#breaker.stopped()) return sent;
      const list = await listAfterPost(licensing(app_code), one.asked, earlier, rules.settle, this.#ports);
      const failure = list instanceof Failure ? list : list.failure;
      if (failure) this.#breaker.stop(failure);
      else this.#conclusive.add(app_code);
      if (list instanceof Failure) return sent;
      const result = list.result ?? { ...nothing, unfiltered: { ...earlier, mayBeCut: failure !== undefined } };
      const seen = { by: 'filter', since: sent.posted + rules.settle, result } as const;
      return after(sent, { event: 'looked up', seen });
    });
  }

  /** A request that an interruption cut may have been sent; before a request it is the signal's own reason. */
  async #post(one: Case, step: Create): Promise<Case | undefined> {
    const { licensing, claims, signal, rules, now, elapsed } = this.#ports;
    const { asked, unanswered } = one;
    const [api, queue] = [licensing(asked.app_code), this.#queueOf(one)];
    let { before } = step;
    /** All runs know of it before its place is free. */
    const pend = async (end: PostEnd): Promise<void> => {
      await claims.ended(asked, end);
      await queue.pend();
    };
    const send = async (): Promise<Case | undefined> => {
      if (this.#breaker.stopped()) return undefined;
      const posted = (creation?: Creation): Case => after(one, { event: 'posted', at: elapsed(), creation, before });
      this.sending += 1;
      try {
        const creation = await api.create(asked, () => claims.posting(asked));
        if (creation.state === 'answered') {
          this.#breaker.answered();
          await this.#report.answered(asked, creation);
        } else await pend(endOf(creation, now(), unanswered + 1));
        return posted(creation);
      } catch (cause) {
        const isUnsent = cause === claims.lost() || cause === signal.reason;
        if (!(cause instanceof Failure) || !(isUnsent || signal.aborted || cause.isInterruption)) throw cause;
        this.#breaker.stop(cause);
        if (isUnsent) return undefined;
        await pend({ event: 'ended', time: now(), unanswered: unanswered + 1 });
        return posted();
      } finally {
        this.sending -= 1;
      }
    };
    const again = async (): Promise<Case | undefined> => {
      const seen = await this.#lookUp(one, { do: 'look up', due: 'now' });
      const next = nextStep(seen, idle, rules);
      if (next.do !== 'create') return seen;
      ({ before } = next);
      return undefined;
    };
    return sendInTurn(queue, { within: this.#limit, send: () => queue.send(send), again });
  }

  /** Looks for a POST of this run without an answer until it is decided; no other is sent to that server meanwhile. */
  async #watch(one: Case): Promise<Case> {
    const { rules, elapsed, sleep, note, isAlone } = this.#ports;
    if (isAlone) note(waitInWords([one], rules.settle));
    const look = (deciding: Deciding): Promise<Case> => {
      const isDue = elapsed() - Math.max(this.#said, one.posted ?? 0) >= 10_000;
      if (isDue) note('waiting for requests without an answer, which the server may still carry out');
      if (isDue) this.#said = elapsed();
      return this.#lookUp(one, { do: 'look up', due: 'with others', deciding });
    };
    const seen = await settleRequest(this.#queueOf(one), look, postSightIn, { ...rules, elapsed, sleep });
    const result = seen.seen?.result;
    if (result?.shows === 'no answer') this.#breaker.stop(result.failure);
    return seen;
  }

  #queueOf({ asked: { app_code } }: Case): OriginQueue {
    const queue = this.#ports.queues.get(app_code);
    if (!queue) throw new Error(`application ${app_code} has no queue`);
    return queue;
  }

  async #resize(one: Case, listed: License): Promise<Case | undefined> {
    const { licensing, record, rules } = this.#ports;
    const { asked } = one;
    const api = licensing(asked.app_code);
    const [key, size_before] = [keyOf(listed), sizeOf(listed)];
    const found = rules.differs && (await this.#limit(() => api.view(key, listed)));
    if (found && sizeOf(found) !== size_before)
      throw new Failure('rejected', `somebody resized it to ${sizeOf(found) ?? '?'} meanwhile`);
    await this.#inOrder(() => undefined);
    const fields = { size_allowance: asked.size_allowance };
    const send = () => recordedChange(listed, fields, record, () => api.update(key, fields, listed));
    const license = await this.#limit(async () => (this.#breaker.stopped() ? undefined : send()));
    if (!license) return undefined;
    this.#breaker.answered();
    return after(one, { event: 'resized', license, listed });
  }
}

/** What a lookup says of a POST without an answer; a similar name is what the server may have made of it. */
function postSightIn({ seen, before }: Case): PostSight {
  const result = seen?.result;
  if (result?.shows === 'no answer') return result.failure.kind === 'unavailable' ? 'no answer' : 'refused';
  const licenses = result && 'licenses' in result ? result.licenses : [];
  return licenses.some((license) => !before?.has(identityOf(license))) ? 'shown' : 'not shown';
}
