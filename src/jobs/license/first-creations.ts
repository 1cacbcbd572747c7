import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { textOf, type License } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { OpenFirst } from '../../store/record/writes.ts';
import { limiter } from '../work/pool.ts';
import { answerOf, type Case } from './case.ts';
import { nextStep } from './next-step.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { completeHistory, type LicenseHistory } from './history.ts';
import type { LicenseUser } from './license-user.ts';
import type { Lookups } from './lookups.ts';
import type { Places } from './places.ts';
import type { Rules } from './step.ts';

interface FirstPorts {
  readonly rules: Rules;
  readonly licensing: (app_code: number) => Pick<LicensingApi, 'list'>;
  readonly lookups: Lookups;
  readonly placesOf: (app_code: number) => Places;
  readonly history: LicenseHistory;
  readonly elapsed: () => Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
}

/** `first`: nothing of its kind is proved yet, and it goes alone. */
export type CreationTurn = 'first' | 'any';

/**
 * The first creation of a run, and the first of a name with each unusual sign, is looked up before the second is sent
 * (docs/exactly-once.md, The first one is looked up before the second is sent).
 */
export class FirstCreations {
  readonly #ports: FirstPorts;
  readonly #breaker: CircuitBreaker;
  readonly #oneAtATime = limiter(1);
  /** The signs that lookups of each server have found. */
  readonly #proved = new Map<Places, Set<string>>();
  readonly #checked = new Map<number, Promise<Failure | undefined>>();

  constructor(ports: FirstPorts, breaker: CircuitBreaker) {
    this.#ports = ports;
    this.#breaker = breaker;
  }

  /** The filter shows a license of that name: it reads its signs. */
  found({ app_code, remote_user }: LicenseUser): void {
    const proved = this.#provedOf(app_code);
    for (const sign of signsOf(remote_user)) proved.add(sign);
  }

  /** Sends a creation, alone where nothing of its kind is proved yet. Undefined: the run stopped before. */
  async around(
    asked: LicenseFields,
    send: (turn: CreationTurn) => Promise<Case | undefined>,
  ): Promise<Case | undefined> {
    const places = this.#ports.placesOf(asked.app_code);
    const checking = this.#checked.get(asked.app_code) ?? this.#checkOpen(asked, places);
    this.#checked.set(asked.app_code, checking);
    const failure = await checking;
    if (failure) this.#breaker.stop(failure);
    if (this.#breaker.stopped()) return undefined;
    if (this.#isProved(asked)) return send('any');
    const first = await this.#oneAtATime(async () => {
      if (this.#breaker.stopped()) return { sent: undefined };
      return this.#isProved(asked) ? undefined : { sent: this.#judge(await send('first')) };
    });
    return first ? first.sent : send('any');
  }

  #isProved({ app_code, remote_user }: LicenseUser): boolean {
    const proved = this.#provedOf(app_code);
    if (!proved.has(first)) return false;
    return this.#ports.lookups.isByList(app_code) || [...signsOf(remote_user)].every((sign) => proved.has(sign));
  }

  #provedOf(app_code: number): Set<string> {
    const places = this.#ports.placesOf(app_code);
    const proved = this.#proved.get(places) ?? new Set();
    this.#proved.set(places, proved);
    return proved;
  }

  /** Where no lookup shows what was answered, the run sends nothing more. */
  #judge(sent: Case | undefined): Case | undefined {
    if (!sent) return undefined;
    const step = nextStep(sent, this.#ports.rules);
    const isFound = step.do !== 'end' || !('why' in step);
    if (isFound) {
      this.#provedOf(sent.asked.app_code).add(first);
      this.found(sent.asked);
    } else if (step.outcome === 'unknown' && answerOf(sent)) this.#breaker.stop(notFound(sent));
    return sent;
  }

  /** A first creation of the last day that no lookup has shown bars the next ones until one does. */
  async #checkOpen(asked: LicenseFields, { store }: Places): Promise<Failure | undefined> {
    const { rules, history, elapsed, sleep } = this.#ports;
    for (const open of await store.openFirsts()) {
      if (open.app_code !== asked.app_code) continue;
      const { app_code } = asked;
      const isAgain = [...rules.sendAgain].some((remote_user) => open.isOf({ app_code, remote_user }));
      if (isAgain || (rules.wants === 'another license' && open.isOf(asked))) continue;
      let shown = await this.#lookFor(open, asked);
      const wait = open.answered + rules.settle - elapsed();
      if (!shown && wait > 0) {
        await sleep(wait);
        shown = await this.#lookFor(open, asked);
      }
      if (!shown) return stillOpen(open);
      // Lists may hide it again: the history keeps it.
      const user = { app_code, remote_user: textOf(shown, 'remote_user') ?? asked.remote_user };
      await completeHistory({ ...open, asked: { kind: 'creation' } }, user, shown, history);
      await store.end(open.id, { is: 'shown' });
    }
    return undefined;
  }

  async #lookFor(open: OpenFirst, asked: LicenseUser): Promise<License | undefined> {
    const { licensing, lookups } = this.#ports;
    const { app_code } = asked;
    if (open.isOf(asked)) {
      const result = await lookups.lookUp(asked, 'given');
      return result.shows === 'licenses' ? result.licenses[0] : undefined;
    }
    for await (const license of licensing(app_code).list({ app_code }, 'whole'))
      if (open.isOf({ app_code, remote_user: textOf(license, 'remote_user') ?? '' })) return license;
    return undefined;
  }
}

const first = 'first';

/** Letters and digits beyond ASCII are one sign, and marks that combine are another. */
function signsOf(name: string): ReadonlySet<string> {
  const signs = name.match(/[^\w.@-]/gu) ?? [];
  return new Set(signs.map((sign) => (/[\p{L}\p{N}]/u.test(sign) ? 'letter' : /\p{M}/u.test(sign) ? 'mark' : sign)));
}

function notFound({ asked }: Case): Failure {
  const text = `the server answered the request for '${asked.remote_user}', and no lookup shows the license: nothing more was sent`;
  return new Failure('unknown', text, { hint: sayWhy, retryable: false });
}

function stillOpen({ time, run, key_end = '' }: OpenFirst): Failure {
  const when = new Date(time).toISOString().slice(0, 19);
  const text = `no lookup shows the license (its key ends with ${key_end}) that run ${run} requested at ${when}Z: nothing was sent`;
  return new Failure('unknown', text, { hint: sayWhy, retryable: false });
}

const sayWhy =
  'Check how this server lists licenses: chatelaine license list. If it shows them late, give a longer --settle.';
