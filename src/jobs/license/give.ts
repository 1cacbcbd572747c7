/**
 * Gives each user one license of the asked size, or one more: `ensure`, `create` and `apply` in one loop. What happens
 * next is decided by `nextStep`; `Performer` carries it out.
 */
import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import type { License } from '../../api/licensing/license.ts';
import { Failure, orWarn } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { UserLock } from '../../store/record/writes.ts';
import { pool } from '../work/pool.ts';
import { after, answerOf, type Case } from './case.ts';
import { nextStep, whereStopped } from './next-step.ts';
import { severalWarning, waitInWords } from './case-words.ts';
import { endsRun, type CircuitBreaker } from './circuit-breaker.ts';
import { closeShown } from './close-earlier.ts';
import type { GivePorts } from './give-ports.ts';
import { Performer, type Performed } from './perform.ts';
import type { End } from './step.ts';

export interface GiveReport {
  /** The server answered a POST, whose license no list has shown yet. */
  answered(row: LicenseFields, creation: AnsweredCreation): void;
  end(one: Case, end: End): Promise<void>;
}

/** Carries each case to its end. What ends the run early is in `breaker`; it rejects with no Failure. */
export async function give(cases: Iterable<Case>, ports: GivePorts, breaker: CircuitBreaker, report: GiveReport) {
  const performer = new Performer(ports, breaker, report);
  const giving = new Giving(ports, performer, breaker, report);
  const sayWait = (): void => {
    if (performer.isSending)
      ports.note('Waiting for the responses of requests under way; the same signal again ends at once');
  };
  ports.signal.addEventListener('abort', sayWait);
  try {
    await giving.all(cases);
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    breaker.stop(cause);
  } finally {
    ports.signal.removeEventListener('abort', sayWait);
  }
  await giving.end();
}

/** Users beyond these are confirmed by one list. */
const fewUsers = 20;

class Giving {
  readonly #ports: GivePorts;
  readonly #performer: Performer;
  readonly #breaker: CircuitBreaker;
  readonly #report: GiveReport;
  /** Users whom another run, or another row, has locked: they come last. */
  readonly #locked: Case[] = [];
  /** Users who were sent a request, and whose license no list has shown. */
  readonly #waiting = new Map<LicenseFields, Case>();
  /** Users to whom more than one POST was sent: an earlier one may be processed late. */
  readonly #resent = new Set<LicenseFields>();
  readonly #several = new Map<LicenseFields, readonly License[]>();

  constructor(ports: GivePorts, performer: Performer, breaker: CircuitBreaker, report: GiveReport) {
    this.#ports = ports;
    this.#performer = performer;
    this.#breaker = breaker;
    this.#report = report;
  }

  async all(cases: Iterable<Case>): Promise<void> {
    await this.#each(cases, (one) => this.#give(one, 'now'));
    await this.#each(this.#locked, (one) => this.#give(one, 'wait'));
    if (this.#waiting.size > 0) await this.#confirmAll();
  }

  /** Reports the rest once the run has ended. */
  async end(): Promise<void> {
    const { rules, lookups, warn, doubled } = this.#ports;
    const isChecked = rules.wants === 'one license' && !this.#breaker.stopped();
    for (const asked of isChecked ? this.#resent : []) {
      const result = await orWarn(lookups.lookUp(asked, 'given'), warn);
      if (result?.shows === 'licenses' && result.licenses.length > 1) this.#several.set(asked, result.licenses);
    }
    for (const [asked, licenses] of this.#several) doubled(asked, licenses);
    for (const one of this.#waiting.values()) {
      const step = whereStopped(one, this.#breaker.stopped());
      if (step) await this.#report.end(one, step);
    }
  }

  async #each(cases: Iterable<Case>, work: (one: Case) => Promise<void>): Promise<void> {
    const breaker = this.#breaker;
    const untilOver = function* (): Generator<Case> {
      for (const one of cases) {
        if (breaker.isOver()) return;
        yield one;
      }
    };
    for await (const _ of pool(untilOver(), this.#ports.concurrency, work)) continue;
  }

  /** One user, to the end, or until only a list at the end of the run is missing. */
  async #give(begun: Case, patience: 'now' | 'wait'): Promise<void> {
    const { rules, placesOf } = this.#ports;
    const places = placesOf(begun.asked.app_code);
    const { store } = places;
    const users = [begun.asked];
    let lock: UserLock | undefined;
    try {
      for (let one = begun; ;) {
        const step = nextStep(one, rules);
        if (step.do === 'end') {
          await this.#end(one, step);
          return;
        }
        const isGathered = step.do === 'look up' && step.when === 'with others';
        if (isGathered || this.#breaker.isOver()) {
          this.#wait(one);
          return;
        }
        if (step.do === 'lock') {
          await places.ready();
          lock = patience === 'wait' ? await store.lock(users) : await store.lockNow(users);
          if (!lock) {
            this.#locked.push(one);
            return;
          }
          one = after(one, { event: 'locked', recorded: await store.known(one.asked) });
          continue;
        }
        const next = await this.#act(one, step);
        if (!next) return;
        one = next;
      }
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      await this.#refuse(begun, cause);
    } finally {
      await lock?.release();
    }
  }

  /** A case that was sent a request is reported once the run has ended. */
  #wait(one: Case): void {
    if (one.sent) this.#waiting.set(one.asked, one);
  }

  /** Undefined: it has ended, or waits for the end of the run. */
  async #act(one: Case, step: Performed): Promise<Case | undefined> {
    if (step.do === 'create' && one.sent) this.#resent.add(one.asked);
    if (step.do === 'resize' && step.licenses.length > 1 && !one.sent) this.#ports.warn(severalWarning(one.asked));
    try {
      const next = await this.#performer.perform(one, step);
      if (!next) this.#wait(one);
      return next;
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      await this.#refuse(one, cause, step);
      return undefined;
    }
  }

  /** A failure of one user, or of the run. */
  async #refuse(one: Case, cause: Failure, step?: Performed): Promise<void> {
    const { signal, placesOf } = this.#ports;
    if (cause.kind === 'unavailable') this.#breaker.failed(cause);
    else this.#breaker.answered();
    const isEnd = endsRun(cause, signal) || placesOf(one.asked.app_code).isBrokenBy(cause);
    if (isEnd) this.#breaker.stop(cause);
    // A user without a request that a refused key ends says so.
    if (isEnd && (one.sent || (cause.kind !== 'auth' && cause.kind !== 'config'))) {
      this.#wait(one);
      return;
    }
    const listed = step?.do === 'resize' ? step.license : undefined;
    const event = cause.kind === 'unknown' ? 'unknown' : 'refused';
    const refused = after(one, { event, failure: cause, listed });
    const end = nextStep(refused, this.#ports.rules);
    if (end.do === 'end') await this.#end(refused, end);
  }

  async #end(one: Case, end: End): Promise<void> {
    const licenses = 'licenses' in end && end.outcome !== 'resized' ? end.licenses : undefined;
    const isOne = this.#ports.rules.wants === 'one license';
    const expected = isOne ? 1 : (one.before?.size ?? Infinity) + 1;
    if (licenses && licenses.length > expected) {
      // A user for whom the run creates a license, and who has too many, is its result.
      if (one.sent) this.#several.set(one.asked, licenses);
      else this.#ports.warn(severalWarning(one.asked));
    }
    if (licenses) await closeShown(one, licenses, this.#ports);
    this.#waiting.delete(one.asked);
    await this.#report.end(one, end);
  }

  /** One list confirms what was answered; whom it does not show is looked up, and again after `--settle`. */
  async #confirmAll(): Promise<void> {
    const { rules, elapsed, sleep, note } = this.#ports;
    const answered = (): Case[] => [...this.#waiting.values()].filter((one) => answerOf(one) !== undefined);
    const all = answered();
    if (this.#breaker.isOver() || all.length === 0) return;
    const list = all.length > fewUsers ? await this.#performer.list(all) : undefined;
    await this.#each(all, async (one) => {
      const result = list?.resultOf(one.asked);
      const isShown = result?.shows === 'licenses';
      const seen = { by: 'lookup', isSettled: false, result: result ?? { shows: 'nothing' } } as const;
      await this.#confirm(
        isShown ? after(one, { event: 'looked up', seen }) : await this.#performer.see(one, Infinity),
      );
    });
    const rest = answered();
    if (this.#breaker.isOver() || rest.length === 0) return;
    const due = Math.max(...rest.map(({ sent }) => sent?.at ?? 0)) + rules.settle;
    if (due > elapsed()) {
      note(waitInWords(rest, due - elapsed()));
      await sleep(due - elapsed());
    }
    await this.#each(rest, async (one) => {
      const seen = await this.#performer.see(one, -Infinity);
      await this.#confirm(await this.#performer.viewAnswered(seen));
    });
  }

  /** Ends the case where the lookup shows what was answered, or that it needs another size. */
  async #confirm(seen: Case): Promise<void> {
    for (let one = seen; ;) {
      const step = nextStep(one, this.#ports.rules);
      if (step.do === 'end') {
        await this.#end(one, step);
        return;
      }
      const next = step.do === 'resize' ? await this.#act(one, step) : undefined;
      if (!next) return;
      one = next;
    }
  }
}
