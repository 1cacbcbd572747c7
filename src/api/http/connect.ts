import { formatDuration, type Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { attemptOnce, type Attempt } from './attempt.ts';
import type { Answer } from './answer.ts';
import type { Call, Connection, Send } from './call.ts';
import { guard, wireRequest, type Request } from './request.ts';
import { backoff, holdBack, longestHold, nextStep, retryAfter } from './retry.ts';

/**
 * What every call of both services goes through: one call in, status and parsed body out, repeated as `retry.ts` says.
 * The function it returns throws Failure config (read-only profile, unverified TLS), unavailable, unknown (an unconfirmed request,
 * which the caller settles and never sends again), or the signal's reason.
 */
export function connect(connection: Connection): Send {
  return async (call) => {
    const request = wireRequest(connection, call);
    guard(connection, request, call);
    const slowness = watchSlowness(connection);
    try {
      return await repeatUntilDone(connection, call, request, slowness);
    } finally {
      slowness.end();
    }
  };
}

async function repeatUntilDone(
  connection: Connection,
  call: Call,
  request: Request,
  slowness: Slowness,
): Promise<Answer> {
  const { clock, signal } = connection;
  const holds: Milliseconds[] = [];
  let afterUnconfirmed = false;
  for (let retries = 0; ;) {
    await passGate(connection, request, call);
    const attempt = await attemptOnce(connection, call, request, retries + holds.length + 1);
    const step = nextStep(call.repeat, attempt.ending, attempt.answer ? 'an answer' : 'no answer');
    if (step === 'end') return answerOf(attempt, { afterUnconfirmed });
    if (step === 'leave unconfirmed') throw unconfirmed(request, attempt);
    if (step === 'wait') {
      holds.push(holdBack(askedWait(attempt, clock.now()), holds.length, clock.random()));
      closeGate(connection, request, holds);
      continue;
    }
    if (attempt.ending.request === 'unknown') afterUnconfirmed = true;
    const wait = backoff(retries, clock.random());
    if (retries >= connection.retries || !fitsDeadline(connection, wait))
      return answerOf(attempt, { afterUnconfirmed });
    retries += 1;
    slowness.nextAttempt();
    reportWait(connection, request, wait, `retry ${retries} of ${connection.retries}`);
    await clock.sleep(wait, signal);
  }
}

/** Waits until the server wants requests again, and the caller this one; a wait that is too long is not begun, and nothing is sent. */
async function passGate(connection: Connection, request: Request, { before }: Call): Promise<void> {
  const { clock, signal, gate } = connection;
  const bucket = bucketOf(connection);
  for (let wait = gate.wait(bucket); wait > 0; wait = gate.wait(bucket)) {
    if (!fits(connection, wait)) throw beyondWait(request, wait);
    await clock.sleep(wait, signal);
  }
  await before?.();
}

/** Holds back every worker after a 429. `holds`: the waits that were asked of this call. */
function closeGate(connection: Connection, request: Request, holds: readonly Milliseconds[]): void {
  const wait = holds.at(-1) ?? 0;
  const total = holds.reduce((sum, hold) => sum + hold, 0);
  connection.gate.closeUntil(bucketOf(connection), connection.clock.elapsed() + wait);
  if (connection.retries === 0 || !fits(connection, wait, total)) throw beyondWait(request, wait);
  reportWait(connection, request, wait, 'the server asks to wait (429)');
}

function reportWait({ observe }: Connection, { method, shown: url }: Request, span: Milliseconds, why: string): void {
  observe({ kind: 'wait', method, url, span, why });
}

/** A server counts those without credentials apart. */
function bucketOf({ base, authorization }: Connection): string {
  return `${base} ${authorization === undefined ? 'open' : 'signed in'}`;
}

function askedWait({ answer }: Attempt, now: Milliseconds): Milliseconds | undefined {
  const header = answer?.headers['retry-after'];
  return retryAfter(answer?.body, typeof header === 'string' ? header : undefined, now);
}

/** Without a deadline, `total` is the wait that was asked of this call itself: a worker is not blamed for what held others back. */
function fits(connection: Connection, wait: Milliseconds, total = wait): boolean {
  if (connection.deadline !== undefined) return fitsDeadline(connection, wait);
  return total <= longestHold;
}

function fitsDeadline({ deadline, clock }: Connection, wait: Milliseconds): boolean {
  return deadline === undefined || clock.elapsed() + wait < deadline;
}

/** Rounded up to what `--deadline` takes. */
function beyondWait({ method, shown: url }: Request, wait: Milliseconds): Failure {
  const span = formatDuration(Math.ceil(wait / 1000) * 1000);
  return new Failure('unavailable', `the server asks to wait ${span} before the next request (429)`, {
    hint: `Run the command again after that, or give --deadline more than ${span}.`,
    http: { method, url, status: 429 },
  });
}

function unconfirmed({ method, shown: url }: Request, { answer, failure }: Attempt): Failure {
  const what = failure?.message ?? `the server answered ${answer?.status ?? 0}`;
  return new Failure('unknown', `${what}; the request may or may not have been carried out`, {
    http: { method, url, ...(answer === undefined ? {} : { status: answer.status }) },
    cause: failure,
    retryable: false,
  });
}

/** The answer of the last attempt. @throws its failure */
function answerOf({ answer, failure }: Attempt, { afterUnconfirmed }: Pick<Answer, 'afterUnconfirmed'>): Answer {
  if (failure) throw failure;
  answer.afterUnconfirmed = afterUnconfirmed;
  return answer;
}

/** How long a person waits without asking what happens; longer where nothing failed. */
const patience: Milliseconds = 2000;
const longPatience: Milliseconds = 10_000;

/** Reports that a call waits for its server. */
interface Slowness {
  /** Another attempt begins. */
  nextAttempt(): void;
  /** The call has ended: nothing is reported any longer. */
  end(): void;
}

/** Reports a call without an answer: of a first attempt after ten seconds, of a later one when the call has taken two. */
function watchSlowness({ alarm, observe, retries, base }: Connection): Slowness {
  let [attempt, isSlow, isReported] = [1, false, false];
  const report = (): void => {
    isReported = true;
    observe({ kind: 'slow', host: new URL(base).host, attempt, of: retries + 1 });
  };
  const cancels = [
    alarm(patience, () => {
      isSlow = true;
      if (attempt > 1) report();
    }),
    alarm(longPatience, () => {
      if (!isReported) report();
    }),
  ];
  return {
    nextAttempt() {
      attempt += 1;
      if (isSlow) report();
    },
    end() {
      for (const cancel of cancels) cancel();
      if (isReported) observe({ kind: 'settled' });
    },
  };
}
