import { sep } from 'node:path';
import type { Milliseconds } from './duration.ts';
import { Failure } from './failure.ts';

/** Time and chance, as things that a test can hold. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): Milliseconds;
  /** Milliseconds of real time since some moment of this process: nobody sets it forward or back, as `now`. */
  elapsed(): Milliseconds;
  /** Rejects with the signal's reason as soon as the signal aborts. */
  sleep(span: Milliseconds, signal?: AbortSignal): Promise<void>;
  /** Uniform in [0, 1). */
  random(): number;
}

/** Calls `ring` once after a span of real time, which no test's clock holds; what it returns cancels that. */
export type Alarm = (span: Milliseconds, ring: () => void) => () => void;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Windows' rules for files hold, for code without a System: a rename, the quoting of a hint. */
export const isWindows = sep === '\\';

/** The computer as the program knows it; only `cli` reads it from `process`. */
export interface System {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly temporary: string;
  /** A folder of this computer alone, which a restart does not empty. */
  readonly local: string;
  readonly hostname: string;
  /** The name of the user whose process it is, where the system knows one. */
  readonly user?: string | undefined;
  /** Undefined where the system has no user ids. */
  readonly uid: number | undefined;
  readonly pid: number;
  /** process.kill: signal 0 only probes (throws ESRCH, or EPERM for another user's); a negative id means the group. */
  readonly kill: (pid: number, signal: NodeJS.Signals | 0) => void;
  /** Calls `work` when the process ends by itself; for few listeners, since Node warns of eleven. */
  readonly atExit: (work: () => void) => void;
}

/** The environment for a program or expression of others. */
export function withoutKeys(env: Environment): Environment {
  const isHidden = (name: string): boolean => /^CHATELAINE_.*(KEY|PASSWORD|SECRET|TOKEN)/i.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isHidden(name)));
}

/** The value of a variable; an empty one counts as unset. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** The value of a variable of a credential. @throws Failure config where it is set and empty: CI lacks the secret */
export function variableWithText(env: Environment, name: string): string | undefined {
  const value = env[name];
  if (value !== '') return value;
  throw new Failure('config', `${name} is set and empty`, { hint: 'Set its value, or unset it.' });
}
