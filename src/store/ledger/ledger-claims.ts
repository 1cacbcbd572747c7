import { createHash } from 'node:crypto';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock } from '../../core/world.ts';
import { rememberedFor, type ClaimOptions, type SharedClaims, type TakenUsers } from '../claims.ts';
import { ledgerVersion } from './ledger-steps.ts';
import type { Database, QueryLimits } from './postgres.ts';
import { onElapsed, takenFrom } from './taken-users.ts';

export interface LedgerClaimOptions extends ClaimOptions {
  /** The longest time of one POST. */
  readonly requestLimit: Milliseconds;
}

/** One connection to a ledger, with the number of its session; null before the first claim. The applications of a run share it. */
export interface LedgerConnection {
  readonly database: Database;
  session: number | null;
}

/** Whose claims they are, and where. */
export interface ClaimingSession {
  readonly connection: LedgerConnection;
  /** The licensing server with the code of the application. */
  readonly target: string;
  readonly host: string;
  readonly pid: number;
  readonly clock: Clock;
}

/** The users of one statement. */
const portion = 5000;
/** The longest time of the statement before a POST, and from then to the POST: what it records allows for that. */
const sendingLimit: Milliseconds = 5000;
/** How long users are given back for after Ctrl-C or the deadline. */
const releaseGrace: Milliseconds = 1000;
const longestWait: Milliseconds = 300_000;
const longestPause: Milliseconds = 400;

/** Claims in a ledger, held by the session of its connection (docs/exactly-once.md, The shared ledger). */
export function sharedClaims(session: ClaimingSession, options: LedgerClaimOptions): SharedClaims {
  const { connection, target, clock } = session;
  const { database } = connection;
  let lost: Failure | undefined;
  const hashes = (users: readonly string[]): Buffer[] => users.map((user) => hashOf(target, user));

  /** A statement that fails leaves open what the ledger holds: nothing more is created by this run. */
  const call = async (text: string, values: readonly unknown[], limits?: Partial<QueryLimits>): Promise<unknown> => {
    try {
      const [row] = await database.query(text, values, { signal: options.signal, ...limits });
      return row?.['answer'];
    } catch (cause) {
      if (cause instanceof Failure && cause !== options.signal.reason) lost ??= cause;
      throw cause;
    }
  };

  const takePortion = async (users: readonly string[]): Promise<TakenUsers> => {
    const { host, pid } = session;
    const values = [ledgerVersion, connection.session, host, pid, rememberedFor(options.settle), target, hashes(users)];
    const text = 'SELECT chatelaine.take($1, $2, $3, $4, $5, $6, $7::bytea[]) AS answer';
    const taken = takenFrom(await call(text, values), users);
    connection.session = taken.session;
    return taken;
  };

  const takeFree = async (users: readonly string[]): Promise<TakenUsers> => {
    const posted = new Map<string, Milliseconds>();
    const held: string[] = [];
    let holder: string | undefined;
    let now = NaN;
    const wanted = [...new Set(users)];
    for (let start = 0; start < Math.max(1, wanted.length); start += portion) {
      const taken = await takePortion(wanted.slice(start, start + portion));
      for (const [user, time] of taken.posted) posted.set(user, time);
      held.push(...taken.held);
      holder ??= taken.holder;
      now = taken.now;
    }
    return { now, posted, answers: new Map(), held, holder };
  };

  const release: SharedClaims['release'] = async (users) => {
    if (connection.session === null) return;
    for (let start = 0; start < users.length; start += portion) {
      const some = users.slice(start, start + portion);
      const wereSent = some.map(({ posted }) => posted !== undefined);
      const names = hashes(some.map(({ remote_user }) => remote_user));
      await call(
        'SELECT chatelaine.release($1, $2, $3::bytea[], $4::boolean[])',
        [ledgerVersion, connection.session, names, wereSent],
        {
          grace: releaseGrace,
        },
      );
    }
  };

  /** Users that are recorded, each for one POST, with the moment before the statement that did so. */
  const recorded = new Map<string, ClockReading>();

  const sending = gathered(async (users) => {
    const before = { now: clock.now(), elapsed: clock.elapsed() };
    const bound = options.requestLimit + sendingLimit;
    const values = [ledgerVersion, connection.session, bound, hashes(users)];
    await call('SELECT chatelaine.sending($1, $2, $3, $4::bytea[])', values, { limit: sendingLimit });
    for (const user of users) recorded.set(user, before);
  });

  const lostNow = (): Failure | undefined => lost ?? database.lost();

  const known = { takeFree, release, lost: lostNow, answered: keptByTheFile };

  return {
    ...known,
    async posting(user, soon = () => []) {
      const failure = lostNow();
      if (failure) throw failure;
      if (!isWithin(sendingLimit, clock, recorded.get(user))) await sending(user, soon);
      recorded.delete(user);
    },
    async take(users) {
      let end = clock.elapsed() + longestWait;
      for (let round = 0, most = Infinity; ; round += 1) {
        const taken = await takeFree(users);
        const { held, holder = 'another run' } = taken;
        if (held.length === 0) return onElapsed(clock, taken);
        const others = new Set(held);
        // A process that holds users waits for none: two that want each other's would block each other.
        await release(users.filter((user) => !others.has(user)).map((remote_user) => ({ remote_user })));
        if (round === 0) options.note(`waiting for ${holder}, which is creating licenses of the same users`);
        if (held.length < most) end = clock.elapsed() + longestWait;
        most = Math.min(most, held.length);
        if (clock.elapsed() > end) throw stillHeld(holder);
        await clock.sleep(Math.min(40 * (round + 1), longestPause) * (0.5 + clock.random()), options.signal);
      }
    },
  };
}

/** The schema keeps no answers yet: the file of claims of this machine does. */
const keptByTheFile: SharedClaims['answered'] = () => Promise.resolve();

/** A moment on both clocks of the machine. */
type ClockReading = Readonly<Record<'now' | 'elapsed', Milliseconds>>;

/** Whether the span has not passed since, on either clock: one can be set back, the other stops while the machine sleeps. */
function isWithin(span: Milliseconds, clock: Clock, since: ClockReading | undefined): boolean {
  if (!since) return false;
  const [now, elapsed] = [clock.now() - since.now, clock.elapsed() - since.elapsed];
  return now >= 0 && now < span && elapsed < span;
}

/** Users are known to the database as hashes alone, which it hashes again with its salt. */
function hashOf(target: string, user: string): Buffer {
  return createHash('sha256').update(`${target}\0${user}`).digest();
}

/**
 * Calls that come while a statement is in progress are gathered into the next. Who else is soon to be recorded is asked right before
 * that statement: users who were given back meanwhile would make it fail.
 */
function gathered(
  send: (users: readonly string[]) => Promise<void>,
): (user: string, soon: () => readonly string[]) => Promise<void> {
  let gathering: { readonly users: Map<string, () => readonly string[]>; readonly sent: Promise<void> } | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return (user, soon) => {
    if (gathering) gathering.users.set(user, soon);
    else {
      const users = new Map([[user, soon]]);
      const sent = last.then(async () => {
        gathering = undefined;
        await send([...new Set([...users].flatMap(([one, others]) => [one, ...others()]))]);
      });
      gathering = { users, sent };
      last = sent.catch(() => undefined);
    }
    return gathering.sent;
  };
}

function stillHeld(holder: string): Failure {
  return new Failure('unavailable', `${holder} is creating licenses of the same users`, {
    hint: 'Run the command again when it has ended; chatelaine ledger status shows who holds what.',
  });
}
