import type { Milliseconds } from '../../core/duration.ts';
import type { Clock } from '../../core/system.ts';
import type { LicenseRecord } from '../records.ts';

/**
 * A list that shows each change only some time after it was made, as a replica of a database does.
 * @param span how long a change stays unseen; 0: each is seen at once
 */
export function createLag(clock: Clock, span: Milliseconds) {
  const recent = new Map<
    string,
    readonly { readonly time: Milliseconds; readonly before: LicenseRecord | undefined }[]
  >();
  const unseen = (code: string) => (recent.get(code) ?? []).filter(({ time }) => clock.now() - time < span);
  return {
    /** A license was created (`before` undefined) or changed just now. */
    note(code: string, before: LicenseRecord | undefined): void {
      if (span > 0) recent.set(code, [...unseen(code), { time: clock.now(), before }]);
    },
    /** The licenses as the list shows them now. */
    visible(licenses: readonly LicenseRecord[]): readonly LicenseRecord[] {
      if (span === 0) return licenses;
      return licenses.flatMap((license) => {
        const [version] = unseen(license.license_code);
        return version ? (version.before ?? []) : license;
      });
    },
  };
}
