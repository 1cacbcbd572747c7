import { Refusal } from './refusal.ts';

/** A narrow that is well formed and means nothing (docs/apis.md, Messages). */
export function badNarrow(desc: string): Refusal {
  return new Refusal(`Invalid narrow operator: ${desc}`, { code: 'BAD_NARROW', extra: { desc } });
}
