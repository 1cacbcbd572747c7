import { Session, type Profiler } from 'node:inspector';
import type { Parser } from './parsers.ts';

/** What our own code did since the last call: whether some of it is not in `known`, to which it is added. */
export interface Coverage {
  reachesNew(known: Set<string>): boolean;
  close(): void;
}

/** V8's own coverage of the modules in `src`. */
export function openCoverage(): Coverage {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return {
    reachesNew(known) {
      const before = known.size;
      // Inside one process the answer comes before `post` returns; the counts begin at 0 again.
      session.post('Profiler.takePreciseCoverage', (_cause, { result }) => {
        for (const { url, scriptId, functions } of result)
          if (url.includes('/src/')) for (const one of functions) known.add(`${scriptId} ${pathThrough(one)}`);
      });
      return known.size > before;
    },
    close() {
      session.post('Profiler.disable');
      session.disconnect();
    },
  };
}

/** V8 leaves out a range that ran as often as what is around it: only all of a function's ranges tell what ran. */
function pathThrough({ ranges }: Profiler.FunctionCoverage): string {
  return ranges.map(({ startOffset, count }) => `${startOffset}:${Math.min(2, count)}`).join(' ');
}

/** Seeded, uniform in [0, below). */
export type Pick = (below: number) => number;

/**
 * Reading the counts takes longer than most texts do: they are read once for many texts, and again for parts of those
 * that reach something.
 */
const sizes = [1024, 64, 4];

/**
 * What is wrong with how the parser takes texts, each with one of them; those that reach new code are kept and changed
 * further.
 */
export async function explore({ seeds, attempt }: Parser, pick: Pick, coverage: Coverage, msec: number) {
  const [kept, wrongs] = [['', ...seeds], new Map<string, string>()];
  const paths = new Map([...sizes, 1].map((size) => [size, new Set<string>()]));
  const end = cpuTime() + msec;
  let runs = 0;
  const tryAll = async (texts: readonly string[], size: number): Promise<boolean> => {
    for (const text of texts) {
      const wrong = await wrongWith(attempt, text);
      if (wrong !== undefined && wrongs.size < 20) wrongs.set(wrong.slice(0, 80), JSON.stringify(text.slice(0, 2000)));
      if (cpuTime() > end) break;
    }
    if (!coverage.reachesNew(paths.get(size) ?? new Set())) return false;
    const smaller = sizes.find((other) => other < size) ?? 1;
    if (size === 1) kept.push(...texts.filter((text) => text.length < 5000));
    else for (let at = 0; at < texts.length; at += smaller) await tryAll(texts.slice(at, at + smaller), smaller);
    return true;
  };
  for (let size = 4; cpuTime() < end;) {
    const batch = Array.from({ length: size }, (_, at) => (runs === 0 && seeds[at]) || changed(kept, pick));
    runs += size;
    const isNew = await tryAll(batch, size);
    size = isNew ? 4 : (sizes.findLast((other) => other > size) ?? size);
  }
  return { report: `${runs} texts, ${kept.length} kept, ${paths.get(1)?.size ?? 0} paths`, wrongs: [...wrongs] };
}

/** Milliseconds of this process: a busy machine shortens no search. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function wrongWith(attempt: Parser['attempt'], text: string): Promise<string | undefined> {
  const before = process.cpuUsage().user;
  const wrong = await Promise.resolve(text)
    .then(attempt)
    .then(() => undefined, String);
  const seconds = (process.cpuUsage().user - before) / 1e6;
  return wrong ?? (seconds > 2 ? `it takes ${seconds} s` : undefined);
}

const odd = [
  '\u0000',
  '\r\n',
  '\t',
  '\u2028',
  '\u200b',
  '\ufeff',
  '\ud800',
  '😀',
  'é',
  '__proto__',
  '9007199254740993',
  '1e999',
  '-0',
  '\\',
  '"',
  "'",
];
const signs = [
  ...odd,
  ...Array.from('{}[]<>();,:=/-+.#*&%0123456789TZ'),
  '</p>',
  '<td>',
  '&#0;',
  '\\u0000',
  'null',
  'true',
];

function changed(kept: readonly string[], pick: Pick): string {
  const any = (texts: readonly string[]): string => texts[pick(texts.length)] ?? '';
  let text = any(kept);
  for (let changes = 1 + pick(4); changes > 0; changes -= 1) {
    const at = pick(text.length + 1);
    const end = Math.min(text.length, at + pick(9));
    const other = any(kept);
    const from = pick(other.length + 1);
    const put = [
      () => '',
      () => any(signs),
      () => text.slice(at, end).repeat(pick(3) === 0 ? 200 : 2),
      () => other.slice(from, from + pick(40)),
      () => String.fromCharCode(pick(128)),
    ][pick(5)];
    text = text.slice(0, at) + (put?.() ?? '') + text.slice(pick(2) === 0 ? at : end);
  }
  return text.slice(0, 20_000);
}
