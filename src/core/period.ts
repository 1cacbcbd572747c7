import type { Milliseconds } from './duration.ts';

export const periods = ['day', 'week', 'month', 'year'] as const;

export type Period = (typeof periods)[number];

/** The first moment of the local period that a moment is in; a week begins on Monday. */
export function startOf(moment: Milliseconds, period: Period | 'quarter'): Milliseconds {
  const date = new Date(moment);
  const [year, month, day] = [date.getFullYear(), date.getMonth(), date.getDate()];
  if (period === 'week') return new Date(year, month, day - ((date.getDay() + 6) % 7)).getTime();
  if (period === 'quarter') return new Date(year, month - (month % 3), 1).getTime();
  return new Date(year, period === 'year' ? 0 : month, period === 'day' ? day : 1).getTime();
}

/** The start of the next period: half a period behind the end of this one, whatever its length, is inside it. */
export function startOfNext(start: Milliseconds, period: Period): Milliseconds {
  return startOf(start + { day: 1.5, week: 10.5, month: 45, year: 548 }[period] * 86_400_000, period);
}
