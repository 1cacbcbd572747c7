import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { realClock } from '../../src/cli/clock.ts';
import { Failure } from '../../src/core/failure.ts';
import type { Clock, Environment, System } from '../../src/core/system.ts';
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
