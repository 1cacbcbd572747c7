import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { isOpenAnswer, type BusyUsers, type OpenAnswer, type TakenUsers } from '../claims.ts';

/** Reads what `chatelaine.take` answers; `users` are the names behind those of the ledger, in base64. @throws Failure unavailable where it is something else */
export function takenFrom(answer: unknown, users: ReadonlyMap<string, string>): TakenUsers {
  const { now, past, held, holder } = isObject(answer) ? answer : {};
  if (typeof now !== 'number' || !Array.isArray(past) || !Array.isArray(held)) throw notClaims();
  const nameOf = (who: unknown): string => users.get(String(who)) ?? '';
  const rows = past.map((row: unknown): readonly unknown[] => (Array.isArray(row) ? row : []));
  const posted = new Map<string, Milliseconds>();
  const answers = new Map<string, OpenAnswer>();
  for (const [who, time, open] of rows) {
    if (typeof time === 'number') posted.set(nameOf(who), time);
    if (isOpenAnswer(open)) answers.set(nameOf(who), open);
    else if (open !== null) throw notClaims();
  }
  return {
    now,
    posted,
    answers,
    held: held.map(nameOf),
    holder: holderIn(holder),
  };
}

/** Reads what `chatelaine.busy` answers. @throws Failure unavailable where it is something else */
export function busyIn(answer: unknown): BusyUsers & { readonly now: Milliseconds } {
  const { now, count, holder } = isObject(answer) ? answer : {};
  if (typeof now !== 'number' || typeof count !== 'number') throw notClaims();
  return { now, count, holder: holderIn(holder) };
}

function holderIn(holder: unknown): string | undefined {
  return isObject(holder) ? `process ${String(holder['pid'])} on ${String(holder['host'])}` : undefined;
}

function notClaims(): Failure {
  return new Failure('unavailable', 'the ledger answered with something else than claims');
}
