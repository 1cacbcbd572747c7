import { Refusal } from './refusal.ts';

/** A narrow that is well formed and means nothing (facts page, 1.3: errors). */
export function badNarrow(desc: string): Refusal {
  return new Refusal(`Invalid narrow operator: ${desc}`, { code: 'BAD_NARROW', extra: { desc } });
}
