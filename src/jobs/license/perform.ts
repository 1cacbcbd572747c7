import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import { keyOf, sizeOf, type License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { after, answeredLicense, answerOf, type Case, type SeenUser } from './case.ts';
import { nextStep } from './next-step.ts';
import { waitInWords } from './case-words.ts';
import { changeLicense } from './change-license.ts';
import { closeShown } from './close-earlier.ts';
import { endsRun, type CircuitBreaker } from './circuit-breaker.ts';
import { FirstCreations, type CreationTurn } from './first-creations.ts';
import { recall } from './history.ts';
import type { Licenses } from './license-user.ts';
import type { ListedUsers } from './lookups.ts';
import { pauseAfter } from './pending.ts';
import type { Unanswered, WriteSight } from './pending-writes.ts';
import type { GivePorts } from './give-ports.ts';
import { sendCreation } from './send-creation.ts';
import { sightOf, withHint } from './sight.ts';
import type { LookUpStep, Step } from './step.ts';

export type Performed = Extract<Step, { readonly do: 'look up' | 'ask' | 'create' | 'resize' }>;

/** Carries steps out. Undefined: the run stopped before. */
export class Performer {
  readonly #ports: GivePorts;
  readonly #breaker: CircuitBreaker;
  readonly #report: { answered(row: LicenseFields, creation: AnsweredCreation): void };
  readonly #firsts: FirstCreations;
  #sending = 0;

  constructor(
    ports: GivePorts,
    breaker: CircuitBreaker,
    report: { answered(row: LicenseFields, creation: AnsweredCreation): void },
  ) {
    this.#ports = ports;
    this.#breaker = breaker;
    this.#report = report;
    this.#firsts = new FirstCreations(ports, breaker);
  }

  get isSending(): boolean {
    return this.#sending > 0;
  }

  async perform(one: Case, step: Performed): Promise<Case | undefined> {
    if (step.do === 'look up') return this.#lookUp(one, step);
    if (step.do === 'create') return this.#create(one, step.before);
    if (step.do === 'resize') return this.#resize(one, step.license, step.licenses);
    const { agree, creations, lookups, placesOf } = this.#ports;
    const { asked } = one;
    const recorded = await placesOf(asked.app_code).store.known(asked);
    await agree?.({ ...(await recall(one, creations, lookups)), recorded });
    // No question is asked under a lock; what the lookup shows is looked up again under it.
    return after(one, { event: 'agreed' });
  }

  /** One list for these users. @throws Failure of a list that is not answered */
  list(cases: readonly Case[]): Promise<ListedUsers> {
    return this.#ports.lookups.list(cases.map(({ asked }) => asked));
  }

  async #lookUp(one: Case, { when }: LookUpStep): Promise<Case> {
    if (when === 'now') return this.see(one, -Infinity);
    const { elapsed, sleep, note, lookups, rules } = this.#ports;
    const due = this.#settledAt(one);
    for (let count = one.seen ? 1 : 0; ; count += 1) {
      const isWaiting = count > 0 && due > elapsed();
      if (isWaiting && count === 1) note(waitInWords([one], due - elapsed()));
      const pause = lookups.isByList(one.asked.app_code) ? Infinity : pauseAfter(count, rules.settle);
      if (isWaiting) await sleep(Math.min(pause, due - elapsed()));
      const seen = await this.see(one, due);
      const step = nextStep(seen, rules);
      if (step.do !== 'look up' || seen.seen?.isSettled || seen.seen?.result.shows === 'no answer') return seen;
    }
  }

  /** When what earlier requests made is shown, if they were processed. */
  #settledAt({ recorded, known, sent }: Case): Milliseconds {
    const { elapsed, now, rules } = this.#ports;
    const { pending = [], open } = recorded ?? {};
    const moments = pending.map(({ ended, n, asked }) => ended + n * Math.max(rules.settle, asked.settle));
    if (open) moments.push(open.answered + rules.settle);
    if (sent) moments.push(sent.at + rules.settle);
    if (known) moments.push(elapsed() - Math.max(0, now() - Date.parse(known.time)) + rules.settle);
    return Math.max(-Infinity, ...moments);
  }

  /** A lookup, which settles what was sent before if it is sent from `due` on; the history may know more. */
  async see(one: Case, due: Milliseconds): Promise<Case> {
    const { rules, creations, lookups, names } = this.#ports;
    const lookedUp = (sentAt: Milliseconds, result: SeenUser['result']): Case =>
      after(one, { event: 'looked up', seen: { by: 'lookup', isSettled: sentAt >= due, result } });
    try {
      const places = this.#ports.placesOf(one.asked.app_code);
      const { sentAt, by, ...result } = await places.read(() => lookups.lookUp(one.asked, names));
      this.#breaker.answered();
      if (by === 'filter' && result.shows === 'licenses') this.#firsts.found(one.asked);
      const seen = lookedUp(sentAt, withHint(one, result));
      if (one.sent || one.known || result.shows === 'licenses' || rules.wants === 'another license') return seen;
      const recalled = await recall(seen, creations, lookups);
      if (recalled.known && result.shows === 'nothing') {
        // A server may have stored the name that this computer gave without its domain.
        const parts = await places.read(() => lookups.lookUp(one.asked, 'all forms and parts'));
        if (parts.shows === 'near') return { ...recalled, seen: lookedUp(parts.sentAt, parts).seen };
      }
      const early: SeenUser = { by: 'lookup', isSettled: false, result };
      return sentAt >= this.#settledAt(recalled) ? recalled : { ...recalled, seen: early };
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      const isOptional = rules.wants === 'another license' && !one.sent;
      if (isOptional ? failure.isInterruption : endsRun(failure, this.#ports.signal)) throw failure;
      if (failure.kind === 'unavailable') this.#breaker.failed(failure);
      return lookedUp(Infinity, { shows: 'no answer', failure });
    }
  }

  /** Asks for the license of the answered key, where no lookup shows it. */
  async viewAnswered(one: Case): Promise<Case> {
    const key = answeredLicense(one)?.key;
    const isShown = nextStep(one, this.#ports.rules).do !== 'end' || one.seen?.result.shows === 'licenses';
    if (key === undefined || isShown) return one;
    return after(one, { event: 'key viewed', key: await this.#ports.lookups.viewAnswered(one.asked, key) });
  }

  async #create(one: Case, before: Case['before']): Promise<Case | undefined> {
    return this.#firsts.around(one.asked, async (turn) => {
      const sent = await this.#post(one, before, turn);
      return turn === 'first' && sent && answerOf(sent) && !this.#breaker.stopped() ? this.#confirmFirst(sent) : sent;
    });
  }

  /** The first creation is looked for at once, and again after `--settle`. */
  async #confirmFirst(sent: Case): Promise<Case> {
    const { rules, sleep, elapsed } = this.#ports;
    try {
      const early = await this.see(sent, Infinity);
      if (nextStep(early, rules).do !== 'look up') return early;
      const due = this.#settledAt(sent);
      this.#ports.note(waitInWords([sent], Math.max(0, due - elapsed())));
      await sleep(Math.max(0, due - elapsed()));
      return await this.viewAnswered(await this.see(sent, -Infinity));
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      // An answered license is reported whatever ends the run.
      this.#breaker.stop(cause);
      return sent;
    }
  }

  /** A request that an interruption cut may have been sent: it is pending for later runs. */
  async #post(one: Case, before: Case['before'], turn: CreationTurn): Promise<Case | undefined> {
    const { placesOf, rules, signal, elapsed, note } = this.#ports;
    const { asked } = one;
    if (this.#breaker.stopped()) return undefined;
    for (const { id } of one.recorded?.pending ?? [])
      await placesOf(asked.app_code).store.end(id, { is: 'not carried out' });
    this.#sending += 1;
    try {
      const write = {
        size_allowance: asked.size_allowance,
        licenses: before?.size,
        unanswered: one.unanswered,
        isFirst: turn === 'first',
      };
      const { value, lost, id } = await sendCreation(asked, write, this.#ports, this.#breaker);
      const sent = after(one, { event: 'posted', sent: { id, at: elapsed(), creation: value }, before });
      if (value !== 'interrupted' && value.state === 'answered') {
        this.#breaker.answered();
        this.#report.answered(asked, value);
      }
      if (!lost || signal.aborted || nextStep(sent, rules).do === 'end') return sent;
      if (this.#ports.concurrency === 1) note(waitInWords([sent], rules.settle));
      return await this.#settle(sent, lost);
    } finally {
      this.#sending -= 1;
    }
  }

  /** Looks for what a POST without a response made, until that is known. */
  async #settle(sent: Case, lost: Unanswered): Promise<Case> {
    const { placesOf, elapsed, signal } = this.#ports;
    let seen = sent;
    const look = async (): Promise<WriteSight> => {
      const sentAt = elapsed();
      seen = await this.see(sent, Infinity);
      return sightOf(seen, sentAt);
    };
    try {
      const places = placesOf(sent.asked.app_code);
      if ((await places.settle(lost, look)) === 'shown' || !seen.seen) return seen;
      const settled = { ...seen, seen: { ...seen.seen, isSettled: true } };
      const isRepeated = nextStep(settled, this.#ports.rules).do === 'create';
      // Later runs count it among those without a response.
      await places.end(lost.id, isRepeated ? { is: 'not carried out' } : { is: 'no answer', n: 0 });
      return settled;
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#breaker.stop(cause);
      if (signal.aborted || cause.isInterruption) return sent;
      const result = { shows: 'no answer', failure: cause } as const;
      return after(sent, { event: 'looked up', seen: { by: 'lookup', isSettled: true, result } });
    }
  }

  async #resize(one: Case, listed: License, licenses: Licenses): Promise<Case | undefined> {
    const { licensing, placesOf, rules } = this.#ports;
    const { asked } = one;
    const api = licensing(asked.app_code);
    if (this.#breaker.stopped()) return undefined;
    const [key, size_before] = [keyOf(listed), sizeOf(listed)];
    const found = rules.differs && (await placesOf(asked.app_code).read(() => api.view(key, listed)));
    if (found && sizeOf(found) !== size_before)
      throw new Failure('rejected', `changed meanwhile: somebody resized it to ${sizeOf(found) ?? '?'}`);
    await closeShown(one, licenses, this.#ports);
    const change = { users: [asked], found: listed, fields: { size_allowance: asked.size_allowance } };
    const { history, signal } = this.#ports;
    const ports = { api, places: placesOf(asked.app_code), history, signal, ...rules };
    const license = await changeLicense(change, ports);
    this.#breaker.answered();
    return after(one, { event: 'resized', license, listed });
  }
}
