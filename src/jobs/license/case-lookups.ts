/** Looks users up: at once, again when an earlier request is due, and more widely where the history has a license. */
import { Failure } from '../../core/failure.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { settledAt } from '../../store/record/writes.ts';
import type { Case, LookUpStep, SeenUser } from './case.ts';
import { waitInWords } from './case-words.ts';
import type { GivePorts } from './give-ports.ts';
import { recall } from './history.ts';
import { nextStep } from './next-step.ts';
import type { LookupPlaces } from './places.ts';

/** Performs a step: a lookup, which settles earlier requests if they are due, or a GET of the answered key. */
export async function performLookup(
  one: Case,
  step: LookUpStep | { readonly do: 'view key'; readonly code: string },
  ports: GivePorts,
): Promise<Case> {
  if (step.do === 'look up')
    return step.when === 'now' ? see(one, whenSettled(one, ports), ports) : untilSettled(one, ports);
  const places = ports.placesOf(one.asked.app_code);
  return { ...one, key: await ports.lookups.viewKey(one.asked, step.code, places) };
}

/** Looks up at once, and again at the time when a request that is not shown is known not to have been processed. */
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

/** The time from which on a lookup shows the effects of all earlier requests that were processed. */
function whenSettled({ recorded, known, sent }: Case, { elapsed, now, rules }: GivePorts): Milliseconds {
  const { pending = [], open } = recorded ?? {};
  const moments = pending.map((write) => settledAt(write, rules.settle));
  if (open) moments.push(open.answered + rules.settle);
  if (sent) moments.push(sent.at + rules.settle);
  if (known) moments.push(elapsed() - Math.max(0, now() - Date.parse(known.time)) + rules.settle);
  return Math.max(-Infinity, ...moments);
}

/** Looks the user up, and asks the history if no license is shown. From `due` on this settles earlier requests. */
export async function see(one: Case, due: Milliseconds, ports: GivePorts, turns?: LookupPlaces): Promise<Case> {
  const { rules, lookups, placesOf, state, creations } = ports;
  const { app_code, remote_user } = one.asked;
  const places = placesOf(app_code);
  try {
    const { sentAt, ...result } = await lookups.of(app_code).lookUp(remote_user, 'all forms', turns ?? places);
    const isAll = one.sent || one.known || result.shows === 'licenses' || rules.wants === 'another license';
    if (isAll) return lookedUp(one, { result, isSettled: sentAt >= due });
    const recalled = await recall(lookedUp(one, { result, isSettled: false }), creations);
    // The server may have stored the name without its domain, so these parts of the name are looked up too.
    const isInParts = recalled.known !== undefined && result.shows === 'nothing';
    const shown = isInParts ? await lookups.of(app_code).lookUp(remote_user, 'all forms and parts', places) : result;
    return lookedUp(recalled, { result: shown, isSettled: sentAt >= whenSettled(recalled, ports) });
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const isOptional = rules.wants === 'another license' && !one.sent;
    if (isOptional ? failure.isInterruption : state.isEndedBy(failure)) throw failure;
    if (!isOptional && places.isEndedBy(failure)) state.stop(failure);
    return lookedUp(one, { result: { shows: 'no answer', failure }, isSettled: true });
  }
}

function lookedUp(one: Case, seen: Omit<SeenUser, 'by'>): Case {
  return { ...one, seen: { ...seen, by: 'lookup' } };
}
