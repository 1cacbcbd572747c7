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

/** Rows that are named one by one, with their reason; the others only by line. */
const maxNamed = 20;

/** A file with more is most likely not a roster, and is not read to its end. */
const maxBadRows = 10_000;

/** `unit`: how places of the file are named, in a JSON array by the number of the row. */
export function badRowsOf(file: string, unit: 'line' | 'row') {
  const bad: (Fault & { readonly line: number })[] = [];
  const failed = (more: readonly string[] = []): Failure => {
    bad.sort((one, other) => one.line - other.line);
    const named = bad.slice(0, maxNamed);
    const linesOf = new Map<string, number[]>();
    for (const { line, reason, rule = reason } of bad.slice(maxNamed))
      if (!linesOf.get(rule)?.push(line)) linesOf.set(rule, [line]);
    const first = named.map(({ line, reason }) => `${file}:${unit === 'line' ? '' : ' row '}${line}: ${reason}`);
    const others = [...linesOf].map(
      ([rule, lines]) => `${file}: ${lines.length === 1 ? unit : `${unit}s`} ${ranges(lines)}: ${rule}`,
    );
    const hints = new Set(named.flatMap(({ hint }) => hint ?? []));
    return usage([...first, ...others, ...more], [...hints].join('\n') || undefined);
  };
  return {
    unit,
    /** @throws Failure usage, naming them all, where there are too many */
    add(line: number, fault: Fault): void {
      if (bad.length >= maxBadRows)
        throw failed([`${file}: more than ${maxBadRows} bad rows; not read beyond ${unit} ${line}`]);
      bad.push({ ...fault, line });
    },
    failure: (): Failure | undefined => (bad.length === 0 ? undefined : failed()),
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
