import type { Milliseconds } from '../../core/duration.ts';
import type { Clock } from '../../core/system.ts';
import type { LicenseRecord } from '../records.ts';
import type { MotionName } from './shapes/list-shapes.ts';

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

/** The places of licenses in lists that move. Each second reading finds the list still, so that it can succeed. */
export function createMotion() {
  /** Negative: in front of all others, the lowest first; positive: behind them. */
  const places = new Map<string, number>();
  let readings = 0;
  let hidden: string | undefined;
  return {
    /** The licenses as this page finds them. */
    arranged(licenses: readonly LicenseRecord[], motion: MotionName, page: number): readonly LicenseRecord[] {
      const placeOf = ({ license_code }: LicenseRecord): number => places.get(license_code) ?? 0;
      const rows = licenses.toSorted((one, other) => placeOf(one) - placeOf(other));
      if (page > 1) return rows.filter(({ license_code }) => license_code !== hidden);
      hidden = undefined;
      readings += 1;
      const moved = motion === 'front' ? rows.at(-1) : rows[0];
      if (readings % 2 === 0 || !moved) return rows;
      if (motion === 'hidden') hidden = moved.license_code;
      else places.set(moved.license_code, motion === 'front' ? -readings : readings);
      return rows;
    },
  };
}
