/** Looks users up: at once, until what was sent is shown, or once more where the history knows of a license. */
import { Failure } from '../../core/failure.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { settledAt } from '../../store/record/writes.ts';
import type { LookupPlaces, LookupResult } from './application-lookups.ts';
import type { Case, LookUpStep, SeenUser } from './case.ts';
import { waitInWords } from './case-words.ts';
import type { GivePorts } from './give-ports.ts';
import { recall } from './history.ts';
import { nextStep } from './next-step.ts';
import type { Places } from './places.ts';

export class CaseLookups {
  readonly #ports: GivePorts;

  constructor(ports: GivePorts) {
    this.#ports = ports;
  }

  async perform(one: Case, step: LookUpStep | { readonly do: 'view key'; readonly code: string }): Promise<Case> {
    if (step.do === 'look up') return step.when === 'now' ? this.see(one, -Infinity) : this.#untilSettled(one);
    return { ...one, key: await this.#ports.lookups.viewAnswered(one.asked, step.code, this.#placesOf(one)) };
  }

  /** At once, and again when what is not shown by then was not processed. */
  async #untilSettled(one: Case): Promise<Case> {
    const { elapsed, sleep, say, rules } = this.#ports;
    const early = one.seen ? one : await this.see(one, this.#settledAt(one));
    const step = nextStep(early, rules);
    if (step.do !== 'look up' || early.seen?.isSettled) return early;
    const due = this.#settledAt(early);
    const wait = due - elapsed();
    if (wait > 0) {
      say(waitInWords(one, wait));
      await sleep(wait);
    }
    return this.see(early, due);
  }

  /** When what earlier requests made is shown, if they were processed. */
  #settledAt({ recorded, known, sent }: Case): Milliseconds {
    const { elapsed, now, rules } = this.#ports;
    const { pending = [], open } = recorded ?? {};
    const moments = pending.map((write) => settledAt(write, rules.settle));
    if (open) moments.push(open.answered + rules.settle);
    if (sent) moments.push(sent.at + rules.settle);
    if (known) moments.push(elapsed() - Math.max(0, now() - Date.parse(known.time)) + rules.settle);
    return Math.max(-Infinity, ...moments);
  }

  /** A lookup, which settles what was sent before if it is sent from `due` on; the history may know more. */
  async see(one: Case, due: Milliseconds, places: LookupPlaces = this.#placesOf(one)): Promise<Case> {
    const { rules, lookups, names } = this.#ports;
    try {
      const { sentAt, ...result } = await lookups.lookUp(one.asked, names, places);
      const isAll = one.sent || one.known || result.shows === 'licenses' || rules.wants === 'another license';
      return isAll ? lookedUp(one, { result, isSettled: sentAt >= due }) : await this.#withHistory(one, result, sentAt);
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      const isOptional = rules.wants === 'another license' && !one.sent;
      if (isOptional ? failure.isInterruption : this.#ports.state.isEndedBy(failure)) throw failure;
      if (!isOptional && this.#placesOf(one).isEndedBy(failure)) this.#ports.state.stop(failure);
      return lookedUp(one, { result: { shows: 'no answer', failure }, isSettled: true });
    }
  }

  #placesOf({ asked }: Case): Places {
    return this.#ports.placesOf(asked.app_code);
  }

  /** The history may know of a license that the lookup does not show. */
  async #withHistory(one: Case, result: LookupResult, sentAt: Milliseconds): Promise<Case> {
    const { creations, lookups } = this.#ports;
    const { asked } = one;
    const known = await recall(lookedUp(one, { result, isSettled: false }), creations);
    // A server may have stored the name that this computer gave without its domain.
    const isInParts = known.known !== undefined && result.shows === 'nothing';
    const shown = isInParts ? await lookups.lookUp(asked, 'all forms and parts', this.#placesOf(one)) : result;
    return lookedUp(known, { result: shown, isSettled: sentAt >= this.#settledAt(known) });
  }
}

function lookedUp(one: Case, seen: Omit<SeenUser, 'by'>): Case {
  return { ...one, seen: { ...seen, by: 'lookup' } };
}
