import type { LicenseRecord } from '../records.ts';

/** How licenses of a list change places while its pages are read. */
export const motions = {
  front: 'after page 1 the last license moves to the front, as where the list is sorted by the last change',
  end: 'after page 1 its first license moves to the end',
  hidden: 'the first license is on page 1, and not in the list while the other pages are read',
} as const;

export type MotionName = keyof typeof motions;

/** The places of licenses in lists that move. Each second reading of a list finds it still, so that whoever reads again can succeed. */
export interface Motion {
  /** The licenses as this page finds them. */
  arranged(licenses: readonly LicenseRecord[], motion: MotionName, page: number): readonly LicenseRecord[];
}

export function createMotion(): Motion {
  /** Negative: in front of all others, the lowest first; positive: behind them. */
  const places = new Map<string, number>();
  let [moves, readings] = [0, 0];
  let hidden: string | undefined;
  const move = (license: LicenseRecord | undefined, motion: MotionName): void => {
    moves += 1;
    if (license && motion === 'hidden') hidden = license.license_code;
    else if (license) places.set(license.license_code, motion === 'front' ? -moves : moves);
  };
  return {
    arranged(licenses, motion, page) {
      const placeOf = ({ license_code }: LicenseRecord): number => places.get(license_code) ?? 0;
      const rows = licenses.toSorted((one, other) => placeOf(one) - placeOf(other));
      if (page > 1) return rows.filter(({ license_code }) => license_code !== hidden);
      hidden = undefined;
      readings += 1;
      if (readings % 2 === 1) move(motion === 'front' ? rows.at(-1) : rows[0], motion);
      return rows;
    },
  };
}
