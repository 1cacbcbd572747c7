/** Looks users up: at once, until what was sent is shown, or once more where the history knows of a license. */
import { Failure } from '../../core/failure.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { settledAt } from '../../store/record/writes.ts';
import type { LookupResult } from './application-lookups.ts';
import type { Case, LookUpStep, SeenUser } from './case.ts';
import { waitInWords } from './case-words.ts';
import type { GivePorts } from './give-ports.ts';
import { recall } from './history.ts';
import { nextStep } from './next-step.ts';
import type { LookupPlaces } from './places.ts';

/** A lookup, which settles what was sent before if it is due, or a GET of the answered key. */
export async function performLookup(
  one: Case,
  step: LookUpStep | { readonly do: 'view key'; readonly code: string },
  ports: GivePorts,
): Promise<Case> {
  if (step.do === 'look up')
    return step.when === 'now' ? see(one, whenSettled(one, ports), ports) : untilSettled(one, ports);
  const places = ports.placesOf(one.asked.app_code);
  return { ...one, key: await ports.lookups.viewAnswered(one.asked, step.code, places) };
}

/** At once, and again when what is not shown by then was not processed. */
async function untilSettled(one: Case, ports: GivePorts): Promise<Case> {
  const { elapsed, sleep, say, rules } = ports;
  const early = one.seen ? one : await see(one, whenSettled(one, ports), ports);
  const step = nextStep(early, rules);
  if (step.do !== 'look up' || early.seen?.isSettled) return early;
  const due = whenSettled(early, ports);
  const wait = due - elapsed();
  if (wait > 0) {
    say(waitInWords(one, wait));
    await sleep(wait);
  }
  return see(early, due, ports);
}

/** When what earlier requests made is shown, if they were processed. */
function whenSettled({ recorded, known, sent }: Case, { elapsed, now, rules }: GivePorts): Milliseconds {
  const { pending = [], open } = recorded ?? {};
  const moments = pending.map((write) => settledAt(write, rules.settle));
  if (open) moments.push(open.answered + rules.settle);
  if (sent) moments.push(sent.at + rules.settle);
  if (known) moments.push(elapsed() - Math.max(0, now() - Date.parse(known.time)) + rules.settle);
  return Math.max(-Infinity, ...moments);
}

/** A lookup, which settles what was sent before if it is sent from `due` on; the history may know more. */
export async function see(one: Case, due: Milliseconds, ports: GivePorts, turns?: LookupPlaces): Promise<Case> {
  const { rules, lookups, names, placesOf, state } = ports;
  const { app_code, remote_user } = one.asked;
  const places = placesOf(app_code);
  try {
    const { sentAt, ...result } = await lookups.of(app_code).lookUp(remote_user, names, turns ?? places);
    const isAll = one.sent || one.known || result.shows === 'licenses' || rules.wants === 'another license';
    return isAll ? lookedUp(one, { result, isSettled: sentAt >= due }) : await withHistory(one, result, sentAt, ports);
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const isOptional = rules.wants === 'another license' && !one.sent;
    if (isOptional ? failure.isInterruption : state.isEndedBy(failure)) throw failure;
    if (!isOptional && places.isEndedBy(failure)) state.stop(failure);
    return lookedUp(one, { result: { shows: 'no answer', failure }, isSettled: true });
  }
}

/** The history may know of a license that the lookup does not show. */
async function withHistory(one: Case, result: LookupResult, sentAt: Milliseconds, ports: GivePorts): Promise<Case> {
  const { creations, lookups, placesOf } = ports;
  const { app_code, remote_user } = one.asked;
  const known = await recall(lookedUp(one, { result, isSettled: false }), creations);
  // A server may have stored the name that this computer gave without its domain.
  const isInParts = known.known !== undefined && result.shows === 'nothing';
  const places = placesOf(app_code);
  const shown = isInParts ? await lookups.of(app_code).lookUp(remote_user, 'all forms and parts', places) : result;
  return lookedUp(known, { result: shown, isSettled: sentAt >= whenSettled(known, ports) });
}

function lookedUp(one: Case, seen: Omit<SeenUser, 'by'>): Case {
  return { ...one, seen: { ...seen, by: 'lookup' } };
}
