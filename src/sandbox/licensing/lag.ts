import type { Milliseconds } from '../../core/duration.ts';
import type { Clock } from '../../core/world.ts';
import type { LicenseRecord } from '../records.ts';

/** A list that shows each change only some time after it was made, as a replica of a database does. */
export interface Lag {
  /** A license was created (`before` undefined) or changed just now. */
  note(license_code: string, before: LicenseRecord | undefined): void;
  /** The licenses as the list shows them now. */
  visible(licenses: readonly LicenseRecord[]): readonly LicenseRecord[];
}

interface Version {
  /** When `before` was replaced. */
  readonly time: Milliseconds;
  readonly before: LicenseRecord | undefined;
}

/** @param span how long a change stays unseen; 0: each is seen at once */
export function createLag(clock: Clock, span: Milliseconds): Lag {
  const recent = new Map<string, readonly Version[]>();
  const unseen = (code: string): Version | undefined => recent.get(code)?.find(({ time }) => clock.now() - time < span);
  return {
    note(code, before) {
      if (span === 0) return;
      const rest = (recent.get(code) ?? []).filter(({ time }) => clock.now() - time < span);
      recent.set(code, [...rest, { time: clock.now(), before }]);
    },
    visible(licenses) {
      if (span === 0) return licenses;
      return licenses.flatMap((license) => {
        const version = unseen(license.license_code);
        return version ? (version.before ?? []) : license;
      });
    },
  };
}
