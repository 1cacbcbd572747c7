/**
 * Gives each user one license of the asked size, or one more: `ensure`, `create` and `apply` in one loop. What happens
 * next is decided by `nextStep`.
 */
import { identityOf, keyOf, sizeOf, type License } from '../../api/licensing/license.ts';
import { Failure, orWarn } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { unsettled, type PendingWrite, type UserLock } from '../../store/record/writes.ts';
import { pool } from '../work/pool.ts';
import { performLookup, see } from './case-lookups.ts';
import { answerOf, countIn, locked, madeBy, posted, type Case, type End, type Step } from './case.ts';
import { sayBefore, severalWarning } from './case-words.ts';
import { changeLicense } from './change-license.ts';
import { CreationRequests } from './creation-requests.ts';
import { fatalKinds, type GivePorts } from './give-ports.ts';
import { completeHistory, recall } from './history.ts';
import type { Licenses } from './license-user.ts';
import { throwOfListed } from './lookups.ts';
import { nextStep, whereRefused, whereStopped } from './next-step.ts';

/** Where the complete list is the lookup, this many rows for each place are locked together and share one list. */
const rowsOfList = 16;

/** `now` puts off users whom others have locked, `wait` waits for them, `confirm` looks up users who were answered. */
type Phase = 'now' | 'wait' | 'confirm';

export class Giving {
  readonly #ports: GivePorts;
  readonly #creations: CreationRequests;
  readonly #report: (one: Case, end: End) => Promise<void>;
  /** Cases whose users another run, or another row, has locked: they come last. */
  readonly #locked: Case[] = [];
  /** Cases for which a request was sent, and whose license no list has shown yet. */
  readonly #waiting = new Map<LicenseFields, Case>();
  /** Why the list that confirms answered requests could not be read. */
  #unread: Failure | undefined;
  /** Users to whom more than one POST was sent: an earlier one may be processed late. */
  readonly #resent = new Set<LicenseFields>();

  constructor(ports: GivePorts, report: (one: Case, end: End) => Promise<void>) {
    this.#ports = ports;
    this.#report = report;
    this.#creations = new CreationRequests(ports);
  }

  /** Carries each case to its end. A Failure that ends the run early is kept in `state`, and not thrown. */
  async run(cases: Iterable<Case>): Promise<void> {
    const { signal, say } = this.#ports;
    const sayWait = (): void => {
      if (signal.reason instanceof Failure && signal.reason.isInterruption)
        say('Ending: requests under way are waited for; the same signal again ends at once');
    };
    signal.addEventListener('abort', sayWait);
    try {
      await this.#each(cases, 'now');
      await this.#each(this.#locked, 'wait');
      await this.#confirmAll();
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#ports.state.stop(cause);
    } finally {
      signal.removeEventListener('abort', sayWait);
    }
    await this.#end();
  }

  async #each(cases: Iterable<Case>, phase: Phase): Promise<void> {
    const { concurrency, lookups, state } = this.#ports;
    const size = () => (phase === 'confirm' || lookups.isByList ? rowsOfList : 1) * concurrency;
    const give = async (one: Case): Promise<void> => (state.isOver ? undefined : this.#give(one, phase));
    for await (const _ of pool(cases, size, give)) continue;
  }

  /** Carries one case to its end, or until it only needs the list at the end of the run. */
  async #give(begun: Case, phase: Phase): Promise<void> {
    const { rules, placesOf } = this.#ports;
    const places = placesOf(begun.asked.app_code);
    let one = begun;
    let step = nextStep(one, rules);
    let lock: UserLock | undefined;
    try {
      for (; step.do !== 'end'; step = nextStep(one, rules)) {
        const isGathered = step.do === 'look up' && step.when === 'with others' && phase !== 'confirm';
        if (isGathered || this.#ports.state.isOver) {
          if (one.sent) this.#waiting.set(one.asked, one);
          return;
        }
        if (step.do === 'lock') {
          await places.pending.ready();
          lock = phase === 'now' ? await places.store.lockNow([one.asked]) : await places.store.lock([one.asked]);
          if (!lock) {
            this.#locked.push(one);
            return;
          }
          one = locked(one, await places.store.known(one.asked));
        } else if (step.do === 'resize') {
          step = await this.#resize(one, step.license, step.licenses);
          break;
        } else one = await this.#perform(one, step);
      }
      await this.#ended(one, step);
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      await this.#failed(one, cause, step);
    } finally {
      void lock?.release();
    }
  }

  async #perform(one: Case, step: Exclude<Step, End | { readonly do: 'lock' | 'resize' }>): Promise<Case> {
    switch (step.do) {
      case 'look up':
      case 'view key':
        return performLookup(one, step, this.#ports);
      case 'ask': {
        const { agree, creations, placesOf, warn } = this.#ports;
        const recorded = await placesOf(one.asked.app_code).store.known(one.asked);
        await sayBefore({ ...(await recall(one, creations)), recorded }, warn, agree);
        // A question is never asked under a lock, so the user is looked up once more under the lock afterwards.
        return { ...one, agreedOn: countIn(one.seen?.result) };
      }
      case 'create':
        if (one.sent) this.#resent.add(one.asked);
        return this.#creations.create(one, step.before).catch((cause: unknown) => this.#seeRefused(one, step, cause));
    }
  }

  /** A gateway that repeats a request returns the refusal of the second one: a lookup shows what the first has made. */
  async #seeRefused(one: Case, { before }: Pick<Case, 'before'>, cause: unknown): Promise<Case> {
    if (!(cause instanceof Failure) || cause.kind !== 'rejected' || !before) throw cause;
    const { placesOf, elapsed } = this.#ports;
    const { seen } = await see(one, Infinity, this.#ports);
    const licenses = seen?.result.shows === 'licenses' ? seen.result.licenses : [];
    if (licenses.every((license) => before.has(identityOf(license)))) throw cause;
    const id = placesOf(one.asked.app_code).store.newId();
    const sent = { id, at: elapsed(), creation: { state: 'unanswered', failure: cause } } as const;
    return { ...posted(one, sent, before), seen };
  }

  async #resize(one: Case, listed: License, licenses: Licenses): Promise<End> {
    const { licensing, lookups, placesOf, rules, history, signal, warn } = this.#ports;
    const { asked } = one;
    if (licenses.length > 1 && !one.sent) warn(severalWarning(asked));
    const api = licensing(asked.app_code);
    const places = placesOf(asked.app_code);
    const failure = await lookups.whyOther(asked, listed);
    if (failure) throw failure;
    const found = rules.differs && (await places.read(() => api.view(keyOf(listed), listed)));
    if (found && sizeOf(found) !== sizeOf(listed))
      throw new Failure('rejected', `changed meanwhile: somebody resized it to ${sizeOf(found) ?? '?'}`);
    await this.#closeShown(one, licenses);
    const change = { api, users: [asked], found: listed, fields: { size_allowance: asked.size_allowance } };
    const license = await changeLicense(change, { places, history, signal }).catch(throwOfListed);
    return { do: 'end', outcome: 'resized', license, licenses: [listed] };
  }

  /** Ends the case with a failure, and the run as well if the failure is not about this case alone. */
  async #failed(one: Case, failure: Failure, step: Step): Promise<void> {
    const { placesOf, state } = this.#ports;
    const isEnd = state.isEndedBy(failure) || placesOf(one.asked.app_code).isEndedBy(failure);
    if (isEnd) state.stop(failure);
    // A case without a POST reports the refused key, or the configuration error, that ends the run, and a lost change.
    const listed = step.do === 'resize' ? step.license : undefined;
    const isTold = !isEnd || fatalKinds.has(failure.kind) || (listed && failure.kind === 'unknown');
    if (isEnd && one.sent) this.#waiting.set(one.asked, one);
    else if (isTold) await this.#ended(one, whereRefused(one, failure, listed));
  }

  async #ended(one: Case, end: End): Promise<void> {
    const { rules, several, warn } = this.#ports;
    const licenses = 'licenses' in end && end.outcome !== 'resized' ? end.licenses : undefined;
    const expected = rules.wants === 'one license' ? 1 : (one.before?.size ?? Infinity) + 1;
    if (licenses && licenses.length > expected) {
      // Several licenses of a user for whom this run created one decide its exit code; others are a warning.
      if (one.sent) several.set(one.asked, licenses);
      else warn(severalWarning(one.asked));
    }
    if (licenses) await this.#closeShown(one, licenses);
    this.#waiting.delete(one.asked);
    await this.#reportEnd(one, end);
  }

  /** Reports a case after the answer is on disk; the record forgets a request once the history has its license. */
  async #reportEnd(one: Case, end: End): Promise<void> {
    const { store, pending } = this.#ports.placesOf(one.asked.app_code);
    if (one.sent) await store.recorded(one.sent.id);
    await this.#report(one, end);
    if (one.sent && 'licenses' in end && end.licenses) pending.end(one.sent.id, { is: 'shown' });
  }

  /** Records how writes for the user ended, also of earlier runs: a list shows them, or they were not processed. */
  async #closeShown({ asked, recorded, seen, sent }: Case, licenses: readonly License[]): Promise<void> {
    const { placesOf, history } = this.#ports;
    const places = placesOf(asked.app_code);
    const { pending, open } = recorded ?? {};
    for (const write of unsettled(pending)) {
      const shown = licenses.find((license) => isMadeBy(write, license, licenses));
      if (!shown && !seen?.isSettled) continue;
      const made = write.asked.kind === 'creation' ? shown : undefined;
      if (made && !(await completeHistory(write, asked, made, history))) continue;
      places.pending.end(write.id, { is: shown ? 'shown' : 'not processed' });
    }
    if (!open || sent) return;
    const shown = madeBy(open, licenses);
    if (shown && !(await completeHistory(open, asked, shown, history))) return;
    places.pending.end(open.id, { is: 'shown' });
  }

  /** Confirms answered requests by one list; users whom it lacks are looked up, and again after `--settle`. */
  async #confirmAll(): Promise<void> {
    const waiting = this.#waiting;
    const users = [...waiting.values()].flatMap((one) => (answerOf(one) ? [one.asked] : []));
    if (this.#ports.state.isOver || users.length === 0) return;
    const listing = users.length > 1 ? this.#ports.lookups.list(users) : undefined;
    const resultOf = await listing?.catch((cause: unknown) => {
      if (!(cause instanceof Failure) || this.#ports.state.isEndedBy(cause)) throw cause;
      this.#unread = cause;
    });
    if (this.#unread) return;
    // A generator, not an array: cases that have ended are freed while a large run goes on.
    const seenIn = function* (): Generator<Case> {
      for (const one of waiting.values()) {
        if (!answerOf(one)) continue;
        const result = resultOf?.(one.asked);
        yield result?.shows === 'licenses' ? { ...one, seen: { by: 'lookup', isSettled: false, result } } : one;
      }
    };
    await this.#each(seenIn(), 'confirm');
  }

  /** Looks once more at users who were sent several POSTs, then reports the cases that the run left waiting. */
  async #end(): Promise<void> {
    const { rules, lookups, warn, several } = this.#ports;
    const isChecked = rules.wants === 'one license' && !this.#ports.state.stopped;
    for (const asked of isChecked ? this.#resent : []) {
      const result = await orWarn(lookups.of(asked.app_code).lookUp(asked.remote_user, 'given'), warn);
      if (result?.shows === 'licenses' && result.licenses.length > 1) several.set(asked, result.licenses);
    }
    for (const one of this.#waiting.values())
      await this.#reportEnd(one, whereStopped(one, this.#ports.state.stopped ?? this.#unread));
  }
}

/** Whether a listed license shows that this write was processed. */
function isMadeBy({ asked }: PendingWrite, license: License, licenses: readonly License[]): boolean {
  const { kind, size_allowance: size, key_end, licenses: before = 0 } = asked;
  if (kind === 'creation') return licenses.length > before;
  // A list may show a new name late: a rename without a size is settled by time alone.
  return size !== undefined && license.key?.slice(-4) === key_end && sizeOf(license) === size;
}
