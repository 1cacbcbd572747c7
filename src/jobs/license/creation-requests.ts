/**
 * Sends creations, each recorded before, and settles those without a response. The first of a run, and the first of a
 * name with each unusual sign, is looked up before the second is sent (docs/exactly-once.md, The first one is looked up
 * before the second is sent).
 */
import type { Creation } from '../../api/licensing/license-writes.ts';
import { hasKeyEnd, identityOf, textOf, type License } from '../../api/licensing/license.ts';
import type { Attempt } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { unsettled, type AskedWrite, type LicenseUser, type OpenFirst } from '../../store/record/writes.ts';
import { limiter } from '../../core/batch.ts';
import { commandLine } from '../../core/shell-word.ts';
import { performLookup, see } from './case-lookups.ts';
import { answerOf, madeBy, posted, type Case } from './case.ts';
import { waitInWords } from './case-words.ts';
import type { GivePorts } from './give-ports.ts';
import { completeHistory } from './history.ts';
import { nextStep } from './next-step.ts';
import type { Unanswered, WriteSight } from './pending-writes.ts';
import type { Places, Sent } from './places.ts';

export class CreationRequests {
  readonly #ports: GivePorts;
  readonly #oneAtATime = limiter(1);
  /** For each server the unusual signs of names that a lookup has found; no entry before the first was found. */
  readonly #proved = new Map<Places, Set<string>>();
  readonly #checked = new Map<number, Promise<void>>();

  constructor(ports: GivePorts) {
    this.#ports = ports;
  }

  /** Sends the creation, once the first one was found. The case is unchanged if the run stopped. @throws a refusal */
  async create(one: Case, before: Case['before']): Promise<Case> {
    const { app_code } = one.asked;
    const checking = this.#checked.get(app_code) ?? this.#checkOpen(one.asked);
    this.#checked.set(app_code, checking);
    await checking;
    if (this.#isProved(one.asked)) return this.#send(one, before, 'any');
    const first = await this.#oneAtATime(async () =>
      this.#isProved(one.asked) ? undefined : this.#first(one, before),
    );
    return first ?? this.#send(one, before, 'any');
  }

  /** Sends a first creation and looks it up. If it was answered but is not found, the run sends nothing more. */
  async #first(one: Case, before: Case['before']): Promise<Case> {
    const { rules, placesOf, lookups } = this.#ports;
    const { app_code, remote_user } = one.asked;
    let sent = await this.#send(one, before, 'first');
    if (sent === one) return one;
    try {
      while (answerOf(sent) && !this.#ports.state.stopped) {
        const step = nextStep(sent, rules);
        if (step.do !== 'look up' && step.do !== 'view key') break;
        sent = await performLookup(sent, step, this.#ports);
      }
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      // An answered license is reported whatever ends the run.
      this.#ports.state.stop(cause);
    }
    const step = nextStep(sent, rules);
    const isFound = step.do === 'resize' || (step.do === 'end' && !('why' in step || 'unread' in step));
    if (isFound) {
      if (!('storedAs' in step)) lookups.of(app_code).kept += remote_user;
      const places = placesOf(app_code);
      this.#proved.set(places, new Set([...(this.#proved.get(places) ?? []), ...signsOf(remote_user)]));
    } else if (step.do === 'end' && step.outcome === 'unknown' && answerOf(sent)) {
      const text = `the request for '${remote_user}' succeeded, but no lookup shows the license: nothing more was sent`;
      this.#ports.state.stop(new Failure('unknown', text, { hint: sayWhy, retryable: false }));
    }
    return sent;
  }

  #isProved({ app_code, remote_user }: LicenseUser): boolean {
    const proved = this.#proved.get(this.#ports.placesOf(app_code));
    if (!proved) return false;
    return this.#ports.lookups.of(app_code).isByList || [...signsOf(remote_user)].every((sign) => proved.has(sign));
  }

  /** Stops the run if an earlier run's first creation, younger than a day, is still not shown by any lookup. */
  async #checkOpen(asked: LicenseFields): Promise<void> {
    const { rules, history, elapsed, sleep, placesOf } = this.#ports;
    const { app_code } = asked;
    const { store } = placesOf(app_code);
    for (const open of await store.openFirsts()) {
      if (open.app_code !== app_code) continue;
      const isAgain = [...rules.sendAgain].some((remote_user) => open.isOf({ app_code, remote_user }));
      if (isAgain || (rules.wants === 'another license' && open.isOf(asked))) continue;
      let shown = await this.#lookFor(open, app_code);
      const wait = open.answered + rules.settle - elapsed();
      if (!shown && wait > 0) {
        await sleep(wait);
        shown = await this.#lookFor(open, app_code);
      }
      if (!shown) {
        this.#ports.state.stop(stillOpen(open));
        return;
      }
      if (await completeHistory(open, shown.user, shown.license, history)) await store.end(open.id, { is: 'shown' });
    }
  }

  /**
   * Takes the name from the list, as the record has only hashes: the requested one, or the one that a run has given the
   * license since. A lookup must then show more licenses than before.
   */
  async #lookFor(open: OpenFirst, app_code: number): Promise<{ user: LicenseUser; license: License } | undefined> {
    const { licensing, lookups, history } = this.#ports;
    const past = await history.past('remote_user', `"license_code_end":"${open.key_end ?? ''}"`);
    for await (const row of licensing(app_code).list({ app_code }, 'part')) {
      const name = textOf(row, 'remote_user') ?? '';
      const given = past.find((one) => one.remote_user === name && hasKeyEnd(row, open.key_end));
      const user = { app_code, remote_user: given?.remote_user_before ?? name };
      if (!open.isOf(user)) continue;
      const found = await lookups.of(app_code).lookUp(name, 'given');
      const licenses = found.shows === 'licenses' ? found.licenses : [];
      const license = licenses.length > open.licenses ? madeBy(open, licenses) : undefined;
      return license && { user, license };
    }
    return undefined;
  }

  /** Records and sends a POST. One that an interruption cut off may have been sent: it stays pending. */
  async #send(one: Case, before: Case['before'], turn: 'first' | 'any'): Promise<Case> {
    const { placesOf, rules, signal, elapsed, say, concurrency } = this.#ports;
    const { asked, unanswered } = one;
    if (this.#ports.state.stopped) return one;
    const places = placesOf(asked.app_code);
    if (!one.sent) await this.#ports.warnOfFormer?.(asked);
    for (const { id } of unsettled(one.recorded?.pending)) places.pending.end(id, { is: 'not processed' });
    const { app_code, size_allowance } = asked;
    const known = { size_allowance, licenses: before?.size, unanswered, ...(turn === 'first' && { isFirst: true }) };
    const write: AskedWrite = { kind: 'creation', app_code, settle: rules.settle, ...known };
    const { value, lost, id } = await places.send([asked], write, (attempt) => this.#request(asked, before, attempt));
    if (!value) return one;
    const sent = posted(one, { id, at: elapsed(), creation: value }, before);
    const answer = answerOf(sent);
    if (answer) this.#ports.answered?.(answer);
    if (!lost) return sent;
    if (signal.aborted || nextStep(sent, rules).do === 'end') {
      places.leave();
      return sent;
    }
    if (concurrency === 1) say(waitInWords(sent, rules.settle));
    return this.#settle(sent, lost);
  }

  async #request(asked: LicenseFields, before: Case['before'], attempt: Attempt): Promise<Sent<Creation | undefined>> {
    const { licensing, signal, state } = this.#ports;
    if (state.stopped) return { value: undefined, end: 'not sent' };
    try {
      const creation = await licensing(asked.app_code).create(asked, attempt);
      if (isOld(creation, before)) throw new Failure('rejected', 'the server returned a license that was there before');
      if (creation.state === 'unanswered') return { value: creation, end: 'no answer' };
      const { status, license } = creation;
      return { value: creation, end: { is: 'answered', status, key_end: license?.key?.slice(-4) } };
    } catch (cause) {
      if (!(cause instanceof Failure) || cause === signal.reason) throw cause;
      if (!signal.aborted && !cause.isInterruption) throw cause;
      state.stop(cause);
      const failure = new Failure('unknown', 'the request had no response');
      return { value: { state: 'unanswered', failure }, end: 'no answer' };
    }
  }

  /** Looks for the license of a POST without a response until it is known whether the POST was processed. */
  async #settle(sent: Case, lost: Unanswered): Promise<Case> {
    const { placesOf, elapsed, signal, rules } = this.#ports;
    const places = placesOf(sent.asked.app_code);
    let seen = sent;
    const look = async (): Promise<WriteSight> => {
      const sentAt = elapsed();
      seen = await see(sent, Infinity, this.#ports, { read: places.look, look: places.look });
      return sightOf(seen, sentAt);
    };
    try {
      if ((await places.settle(lost, look)) === 'shown') {
        places.pending.end(lost.id, { is: 'shown' });
        // After the due time, a run that took this user over from a lost ledger may have created the license.
        const isOurs = elapsed() < lost.ended + rules.settle || (await places.store.holdsUsers());
        return isOurs ? seen : { ...seen, before: undefined };
      }
      if (!seen.seen) return seen;
      const settled = { ...seen, seen: { ...seen.seen, isSettled: true } };
      const isRepeated = nextStep(settled, rules).do === 'create';
      // A POST that is not repeated stays in the record: later runs count it against `--retries`.
      places.pending.end(lost.id, isRepeated ? { is: 'not processed' } : { is: 'no answer', n: 0 });
      return settled;
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause;
      this.#ports.state.stop(cause);
      if (signal.aborted || cause.isInterruption) return sent;
      const result = { shows: 'no answer', failure: cause } as const;
      return { ...sent, seen: { by: 'lookup', isSettled: true, result } };
    }
  }
}

/** Whether the server returned a license in place of creating one: its key may be another user's. */
function isOld(creation: Creation, before: Case['before']): boolean {
  const key = creation.state === 'answered' ? creation.license?.key : undefined;
  return key !== undefined && [...(before ?? [])].some((identity) => identity.startsWith(`${key}\n`));
}

/** What a lookup shows of a POST without an answer. A new similar name counts: the server may have changed the name. */
function sightOf({ seen, before }: Case, sentAt: number): WriteSight {
  const result = seen?.result;
  if (result?.shows === 'no answer') return { is: 'no answer', failure: result.failure };
  const licenses = result && 'licenses' in result ? result.licenses : [];
  const isNew = licenses.some((license) => !before?.has(identityOf(license)));
  return isNew ? { is: 'shown' } : { is: 'not shown', sentAt };
}

/** The unusual signs of a name: all letters and digits beyond ASCII count as one, all combining marks as another. */
function signsOf(name: string): ReadonlySet<string> {
  const signs = name.match(/[^\w.@-]/gu) ?? [];
  return new Set(signs.map((sign) => (/[\p{L}\p{N}]/u.test(sign) ? 'letter' : /\p{M}/u.test(sign) ? 'mark' : sign)));
}

function stillOpen({ time, run, key_end = '' }: OpenFirst): Failure {
  const when = new Date(time).toISOString().slice(0, 19);
  const text = `no lookup shows the license (its key ends with ${key_end}) that run ${run} requested at ${when}Z: nothing was sent`;
  const hint = `${late}, or request it with --send-again. Its user: ${commandLine('license history', [], { run })}`;
  return new Failure('unknown', text, { hint, retryable: false });
}

const late = 'Give a longer --settle if the server lists late';
const sayWhy = `${late}. Its list: chatelaine license list`;
