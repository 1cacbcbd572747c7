import { Failure, usage } from '../../core/failure.ts';

export interface Fault {
  readonly reason: string;
  /** The reason without the row's own values: rows with one rule are grouped. */
  readonly rule?: string;
  readonly hint?: string | undefined;
}

export function joined(faults: readonly Fault[]): Fault {
  return {
    reason: faults.map(({ reason }) => reason).join('; '),
    rule: faults.map(({ reason, rule = reason }) => rule).join('; '),
    hint: faults.find(({ hint }) => hint !== undefined)?.hint,
  };
}

/** A failure of one value; `text` is the value. Anything but a usage failure is thrown on. */
export function faultOf(cause: unknown, text: string): Fault {
  if (!(cause instanceof Failure) || cause.kind !== 'usage') throw cause;
  const reason = cause.message;
  const rule = reason
    .replace(`'${text}'`, 'the value')
    .replace(`: ${text} `, ': the value ')
    .replace(/\d+ char/, 'char');
  return { reason, rule, hint: cause.details.hint };
}

export type BadRows = ReturnType<typeof badRowsOf>;

/** How places of a file are named: in a JSON array by the number of the row. */
export interface Place {
  readonly file: string;
  readonly unit: 'line' | 'row';
}

/** A file with more bad rows is most likely none of the kind, and is not read to its end. */
const maxBad = 10_000;

/** Rows that are named one by one, with their reason; the others only by line. */
const maxNamed = 20;

interface BadRow {
  readonly line: number;
  readonly reason: string;
  readonly rule: string;
}

export function badRowsOf(place: Place) {
  /** The first ones of the file, in its order. */
  const named: BadRow[] = [];
  const linesOf = new Map<string, number[]>();
  const hints = new Set<string>();
  let count = 0;
  const failed = (more: readonly string[] = []): Failure => {
    const { file, unit } = place;
    const first = named.map(({ line, reason }) => `${file}:${unit === 'line' ? '' : ' row '}${line}: ${reason}`);
    return usage([...first, ...groupLines(linesOf, named, place), ...more], [...hints].join(' ') || undefined);
  };
  return {
    /** Each rule's lines come in their order. @throws Failure usage, naming them all, where there are too many */
    add(line: number, { reason, rule = reason, hint }: Fault): void {
      if (count >= maxBad)
        throw failed([`${place.file}: more than ${maxBad} bad rows; not read beyond ${place.unit} ${line}`]);
      count += 1;
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
    /** All of them as one failure, which names each; undefined where there is none. */
    failure: (): Failure | undefined => (count === 0 ? undefined : failed()),
  };
}

function groupLines(linesOf: ReadonlyMap<string, number[]>, named: readonly BadRow[], { file, unit }: Place): string[] {
  return [...linesOf].flatMap(([rule, lines]) => {
    const shown = new Set(named.filter((row) => row.rule === rule).map(({ line }) => line));
    const left = lines.filter((line) => !shown.has(line));
    if (left.length === 0) return [];
    return [`${file}: ${left.length === 1 ? unit : `${unit}s`} ${ranges(left)}: ${rule}`];
  });
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
