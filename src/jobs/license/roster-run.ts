/** Gives one user a license, or applies the plan of a roster and yields the results in the order of its rows. */
import type { AnsweredCreation } from '../../api/licensing/license-writes.ts';
import type { License } from '../../api/licensing/license.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { KnownWrites } from '../../store/record/writes.ts';
import { resultsInOrder } from '../work/pool.ts';
import type { Progress, WorkMessages } from '../work/work-messages.ts';
import { answerOf, caseOf, type Case, type End } from './case.ts';
import { Giving } from './give.ts';
import type { GivePorts } from './give-ports.ts';
import { recordedOf, type Plan } from './plan.ts';
import { concludeCase, RowOutcomes, type RowEnd, type RowResult } from './row-results.ts';

/** `failure`: the command throws it after it has printed the license. */
type GivenLicense = RowResult & { readonly license: License; readonly failure: Failure | undefined };

/**
 * Gives the user one license of the requested size, or another license (`rules.wants`). Giving one license is safe to
 * repeat, and safe beside other runs on this machine, or on all machines that share a ledger.
 * @throws Failure incomplete, rejected where the list forbids creation; unknown where a POST cannot be confirmed
 */
export async function giveLicense(asked: LicenseFields, ports: GivePorts): Promise<GivenLicense> {
  const { signal, warn, state } = ports;
  let ended: RowEnd | undefined;
  let unread: Failure | undefined;
  const giving = new Giving(ports, async (last, end) => {
    ended = await concludeCase(last, end, ports);
    if ('unread' in end) unread = end.unread;
  });
  await giving.run([caseOf(asked)]);
  const { stopped } = state;
  const license = ended?.result.license;
  if (!ended || license?.key === undefined)
    throw ended?.failure ?? stopped ?? new Error('neither a license nor a failure');
  if (unread && !unread.isInterruption)
    warn(`according to the server the license was created, but this could not be confirmed: ${unread.message}`);
  // The license is known by now: a signal that arrives only afterwards is no failure of the command.
  const afterwards = signal.aborted || unread ? undefined : stopped;
  const interruption = unread?.isInterruption ? unread : undefined;
  return { ...ended.result, license, failure: ended.failure ?? interruption ?? afterwards };
}

interface Applying extends GivePorts {
  readonly progress: WorkMessages['progress'];
  /** Prints the counts below the rows. */
  readonly conclude: (text: string) => void;
  readonly where: string;
  readonly again: string;
}

/**
 * Gives the user of each row one license of the requested size, never two, and yields results in the order of rows. A
 * slow reader does not slow the work down. When the reader stops, rows in progress end and no other row begins.
 * @throws Failure auth at once; unknown where a row may have its license; incomplete where rows failed or are left
 */
export async function* applyRoster({ rows }: Plan, applying: Applying): AsyncGenerator<RowResult> {
  const { state } = applying;
  const outcomes = new RowOutcomes(applying, rows.length);
  const unchanged = rows.filter(({ status }) => status === 'unchanged');
  const recorded = await recordedOf(unchanged, applying);
  /** Counts the rows that need no more work. */
  const progress = applying.progress('licenses', rows.length);
  const report = new RosterReport(applying, progress);
  const ports = { ...applying, answered: (creation: AnsweredCreation) => report.answered(creation) };
  const giving = new Giving(ports, (one, end) => report.end(one, end));
  const working = giving.run(casesOf(rows, recorded)).finally(() => report.ready.close());
  // `working` is awaited below; an error before that must not end the process as an unhandled rejection.
  working.catch(() => undefined);
  try {
    for (const { row } of rows) {
      const ended = await report.ready.take(row);
      if (!ended) continue;
      outcomes.add(ended);
      yield ended.result;
    }
  } finally {
    state.abandon();
    await working;
    report.warnOfAccepted();
    progress.end();
  }
  const { stopped } = state;
  const failure = outcomes.failureOf(stopped);
  // The message of any other failure contains the counts.
  if (!failure || failure === stopped) applying.conclude(outcomes.summary);
  if (failure) throw failure;
}

function* casesOf(rows: Plan['rows'], recorded: ReadonlyMap<LicenseFields, KnownWrites>): Generator<Case> {
  for (const { row, seen, status } of rows) {
    // The list for the plan was read before the lock, so it is only a hint.
    const one = caseOf(row, { ...seen, by: 'hint', isSettled: false });
    const known = status === 'unchanged' ? recorded.get(row) : undefined;
    // An earlier change may still be processed, so the row is looked up. Other records are closed without a lock.
    const isChanging = known?.pending.some(({ asked }) => asked.kind === 'change') ?? false;
    yield isChanging ? caseOf(row) : { ...one, recorded: known };
  }
}

class RosterReport {
  readonly ready = resultsInOrder<LicenseFields, RowEnd>();
  readonly #ports: GivePorts;
  readonly #progress: Progress;
  /** How many users have each answered key. */
  readonly #keys = new Map<string, 'one' | 'several'>();
  readonly #accepted: (Failure | undefined)[] = [];

  constructor(ports: GivePorts, progress: Progress) {
    this.#ports = ports;
    this.#progress = progress;
  }

  answered({ license }: AnsweredCreation): void {
    const key = license?.key;
    if (key !== undefined) this.#keys.set(key, this.#keys.has(key) ? 'several' : 'one');
    // An answered row counts as done: one list at the end of the run confirms all of them.
    this.#progress.step();
  }

  async end(ended: Case, end: End): Promise<void> {
    const one = this.#withOwnKey(ended);
    const concluded = await concludeCase(one, end, this.#ports);
    const isUnread = !('why' in end) && !end.licenses;
    if (isUnread && concluded.result.status === 'created') this.#accepted.push(end.unread);
    if (!answerOf(one)) this.#progress.step();
    this.ready.put(one.asked, concluded);
  }

  /** Marks the answered key as unusable if several users have it. */
  #withOwnKey(one: Case): Case {
    const creation = answerOf(one);
    if (!one.sent || !creation || this.#keys.get(creation.license?.key ?? '') !== 'several') return one;
    return { ...one, sent: { ...one.sent, creation: { ...creation, license_is: 'of several users' } } };
  }

  warnOfAccepted(): void {
    const [why] = this.#accepted;
    const count = this.#accepted.length;
    if (count === 0) return;
    const said = `${count} ${count === 1 ? 'license was' : 'licenses were'} created according to the server`;
    const isTried = why && !why.isInterruption;
    const unread = isTried ? `no list confirmed it: ${why.message}` : 'no list was read yet: the next run confirms it';
    this.#ports.warn(`${said}; ${unread}`);
  }
}
