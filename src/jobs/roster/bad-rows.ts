import { usage, type Failure } from '../../core/failure.ts';

/** The rows of a file that cannot be used. */
export interface BadRows {
  /** `rule` is the reason without the row's own values: rows with one rule are grouped. Each rule's lines come in their order. */
  add(line: number, reason: string, rule: string, hint?: string): void;
  /** All of them as one failure, which names each; undefined where there is none. */
  failure(place: Place): Failure | undefined;
}

/** How places of a file are named: in a JSON array by the number of the row. */
export interface Place {
  readonly file: string;
  readonly unit: 'line' | 'row';
}

/** Rows that are named one by one, with their reason; the others only by line. */
const maxNamed = 20;

interface BadRow {
  readonly line: number;
  readonly reason: string;
  readonly rule: string;
}

/** None so far. */
export function badRowsOf(): BadRows {
  /** The first ones of the file, in its order. */
  const named: BadRow[] = [];
  const linesOf = new Map<string, number[]>();
  const hints = new Set<string>();
  return {
    add(line, reason, rule, hint) {
      const lines = linesOf.get(rule);
      if (lines) lines.push(line);
      else linesOf.set(rule, [line]);
      const last = named[maxNamed - 1];
      if (last && last.line < line) return;
      const at = named.findIndex((earlier) => earlier.line > line);
      named.splice(at < 0 ? named.length : at, 0, { line, reason, rule });
      named.length = Math.min(named.length, maxNamed);
      if (hint !== undefined) hints.add(hint);
    },
    failure({ file, unit }) {
      if (named.length === 0) return undefined;
      const first = named.map(({ line, reason }) =>
        unit === 'line' ? `${file}:${line}: ${reason}` : `${file}: row ${line}: ${reason}`,
      );
      const others = [...linesOf].flatMap(([rule, lines]) => {
        const shown = new Set(named.filter((row) => row.rule === rule).map(({ line }) => line));
        const left = lines.filter((line) => !shown.has(line));
        const units = left.length === 1 ? unit : `${unit}s`;
        return left.length === 0 ? [] : [`${file}: ${units} ${ranges(left)}: ${rule}`];
      });
      return usage([...first, ...others], hints.size > 0 ? [...hints].join(' ') : undefined);
    },
  };
}

/** Ascending numbers as in `3-5, 9`. */
function ranges(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
