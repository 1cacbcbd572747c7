import { hash } from 'node:crypto';
import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { Clock } from '../../core/system.ts';
import type { ClaimOptions } from '../claims.ts';
import { ledgerVersion, refuseOtherVersion } from './ledger-steps.ts';
import { stateOf, type Database, type QueryLimits } from './postgres.ts';

export interface LedgerClaimOptions extends ClaimOptions {
  readonly settle: Milliseconds;
  readonly requestLimit: Milliseconds;
}

/** The longest time of a statement that a POST or a known key waits for, and from that statement to the POST. */
export const shortLimit: Milliseconds = 5000;

/** One connection to a ledger, with the session that holds claims; all applications of a run share it. */
export type LedgerSession = Awaited<ReturnType<typeof openSession>>;

interface OpeningSession extends LedgerClaimOptions {
  readonly host: string;
  readonly pid: number;
  readonly clock: Clock;
}

const longestWait: Milliseconds = 300_000;
const longestPause: Milliseconds = 2000;

/** @throws Failure unavailable, auth or config; the signal's reason */
export async function openSession(connect: () => Promise<Database>, opening: OpeningSession) {
  const { host, pid, clock, settle, remember, signal } = opening;
  const database = await whileFull(connect, opening);
  const rows = (text: string, values: readonly unknown[] = []) => database.query(text, values, { signal });
  const values = [ledgerVersion, host, pid, remember];
  const open = () => rows('SELECT chatelaine.open($1, $2, $3, $4) AS answer', values);
  const [row] = await repeated(open, clock).catch(async (cause: unknown) => {
    if (stateOf(cause) === unknownFunction) await refuseOtherVersion(rows);
    throw cause;
  });
  const { session, salt, now, restored } = isObject(row?.['answer']) ? row['answer'] : {};
  const key = Buffer.from(String(salt), 'hex');
  const asked = Number(restored ?? -Infinity) + opening.requestLimit + shortLimit;
  const wait = asked + settle - Number(now);
  if (wait > 0)
    opening.note(
      `the ledger is new or was restored, or a replica took over: no license is created in the next ${formatDuration(Math.ceil(wait / 1000) * 1000)}`,
    );
  let lost: Failure | undefined;
  return {
    /** A ledger that was restored or failed over may lack POSTs that end before that, by its clock. */
    askedUntil: wait > 0 ? asked : undefined,
    /** Calls a function of the ledger. @throws Failure unavailable; the signal's reason: the statement still runs */
    async call(name: string, values: readonly unknown[], limits: QueryLimits): Promise<unknown> {
      const all = [ledgerVersion, session, ...values];
      const text = `SELECT chatelaine.${name}(${all.map((_value, index) => `$${index + 1}`).join(', ')}) AS answer`;
      try {
        const [answer] = await repeated(() => database.query(text, all, limits), clock);
        return answer?.['answer'];
      } catch (cause) {
        if (!(cause instanceof Failure) || cause === limits.signal.reason) throw cause;
        // A statement that fails leaves open what the ledger holds: nothing more is created by this run.
        lost ??= inTheMiddle(cause);
        throw lost;
      }
    },
    whoIs: (target: string, user: string) => whoIs(key, target, user),
    /** Why the session is lost; undefined while it is not. */
    lost: (): Failure | undefined => lost ?? database.lost(),
  };
}

/** The name of a user in the ledger: a log of the database shows nothing that can be tested without the salt. */
export function whoIs(salt: Buffer, target: string, user: string): Buffer {
  return hash('sha256', Buffer.concat([salt, hash('sha256', `${target}\0${user}`, 'buffer')]), 'buffer');
}

/** Each run has a connection of its own: where the server takes no more, one is free when another run ends. */
async function whileFull(connect: () => Promise<Database>, { clock, signal, note }: OpeningSession): Promise<Database> {
  const end = clock.elapsed() + longestWait;
  for (let round = 0; ; round += 1) {
    try {
      return await connect();
    } catch (cause) {
      if (!(cause instanceof Failure) || stateOf(cause) !== noConnectionLeft || clock.elapsed() > end) throw cause;
      if (round === 0) note(`${cause.message}; waiting for a free one`);
      await clock.sleep(Math.min(200 * (round + 1), longestPause) * (0.5 + clock.random()), signal);
    }
  }
}

const unknownFunction = '42883';
const noConnectionLeft = '53300';
/** A deadlock, and a conflict under the isolation of the role: the transaction was undone as a whole. */
const undone: readonly (string | undefined)[] = ['40P01', '40001'];
const mostRepeats = 10;

async function repeated<T>(send: () => Promise<T>, clock: Clock): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await send();
    } catch (cause) {
      if (repeats === mostRepeats || !undone.includes(stateOf(cause))) throw cause;
      await clock.sleep(20 * (repeats + 1) * clock.random());
    }
  }
}

/** In the middle of a run, what is wrong with the ledger is no reason to say that nothing was sent. */
function inTheMiddle(cause: Failure): Failure {
  if (cause.kind !== 'config' && cause.kind !== 'auth') return cause;
  const hint = `${cause.details.hint ?? ''} Then run the same command again: it resumes.`.trimStart();
  return cause.as('unavailable', cause.message, { hint });
}
