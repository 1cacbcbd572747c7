import { isWhole, planLines, type PlannedChange } from './plan.ts';
import { fit, plainLines } from './plain.ts';
import type { Formatter, Presentation } from './presentation.ts';

/** The plan of a dry run on a terminal, as its question would show it. */
export function planFormatter({ show, terminal, width }: Presentation): Formatter {
  const changes: PlannedChange[] = [];
  const row = (value: unknown): string => {
    changes.push(...(show.outcome?.plan?.(value) ?? []));
    return '';
  };
  const end = (): string => {
    const lines = planLines(changes);
    const left = isWhole(changes) ? [] : ['-o table shows all of them'];
    const text = [...lines, ...left, ''].join('\n');
    if (changes.length === 0) return '';
    return terminal ? fit(plainLines(text), width) : text;
  };
  return { one: (value) => row(value) + end(), row, end };
}
