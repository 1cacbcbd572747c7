import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { realClock } from '../../src/cli/clock.ts';
import { Failure } from '../../src/core/failure.ts';
import type { Clock, Environment, System } from '../../src/core/system.ts';
import type { Claims } from '../../src/store/claims.ts';
import { localQueue } from '../../src/store/lock/local-queue.ts';
import { runName } from '../../src/store/lock/request-record.ts';
import { systemIn } from './system.ts';

export interface Place {
  readonly folder: string;
  readonly system: System;
  readonly clock: Clock;
}

/** A computer whose home is an empty folder of its own, removed after the test. */
export function place(env: Environment = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), 'chatelaine-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, system: systemIn(folder, env), clock: realClock };
}

/** What a run of that server gives its claims on this computer. */
export async function runOf(origin: string, host: Pick<Place, 'system' | 'clock'>) {
  return { settle: 5000, by: runName(origin, 1), queue: await localQueue(origin, host) };
}

/** Claims that hold nobody after the test: while they do, their file is open. */
export function givenBack(claims: Claims): Claims {
  const taken = new Set<string>();
  // A test may have damaged the file.
  onTestFinished(() => claims.release([...taken]).catch(() => undefined));
  const noted = (users: readonly string[]): readonly string[] => {
    for (const user of users) taken.add(user);
    return users;
  };
  return {
    ...claims,
    take: (users) => claims.take(noted(users)),
    takeFree: (users) => claims.takeFree(noted(users)),
  };
}

/** How a failure reads: its kind, message and hint. */
export interface Told {
  readonly kind: string;
  readonly message: string;
  readonly hint: string | undefined;
}

/** The failure that the work ends with; fails the test when it ends otherwise. */
export async function failureOf(work: () => unknown): Promise<Told> {
  try {
    await work();
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    return { kind: cause.kind, message: cause.message, hint: cause.details.hint };
  }
  throw new Error('the work did not fail');
}
