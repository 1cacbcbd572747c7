import type { License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { LookedUpNames } from './application-lookups.ts';
import type { Case } from './case.ts';
import type { Creations, LicenseHistory } from './history.ts';
import type { LicenseUser } from './license-user.ts';
import type { Lookups } from './lookups.ts';
import type { Places } from './places.ts';
import type { Rules } from './step.ts';

/** The parts of a run that `give` uses. */
export interface GivePorts {
  readonly rules: Rules;
  readonly concurrency: number;
  /** The spellings that are looked up. */
  readonly names: LookedUpNames;
  readonly licensing: (app_code: number) => LicensingApi;
  readonly lookups: Lookups;
  readonly placesOf: (app_code: number) => Places;
  readonly creations: Creations;
  readonly history: LicenseHistory;
  /** Aborted by Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  readonly now: () => Milliseconds;
  readonly elapsed: () => Milliseconds;
  readonly sleep: (span: Milliseconds) => Promise<void>;
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Tells what a lookup shows before another license is created; rejects where a person does not want it. */
  readonly agree?: ((one: Case) => Promise<void>) | undefined;
  /** A user for whom this run created a license has several. */
  readonly doubled: (user: LicenseUser, licenses: readonly License[]) => void;
}
