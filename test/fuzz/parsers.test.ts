import { expect, test } from 'vitest';
import { isWhole } from '../helpers/extent.ts';
import { parsers, type Parser } from './parsers.ts';

/** FUZZ_SECONDS: CPU time for all parsers together; `node scripts/fuzz.js parsers` sets more. */
const msec = (Number(process.env['FUZZ_SECONDS'] ?? (isWhole ? 8 : 0.4)) * 1000) / Object.keys(parsers).length;
let state = Number(process.env['FUZZ_SEED'] ?? 1);

/** Seeded, uniform in [0, below). */
function pick(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

test.each(Object.entries(parsers))(
  '%s: no text ends in a bug',
  { timeout: 2 * msec + 180_000 },
  async (_name, { seeds, attempt }) => {
    const wrongs = new Map<string, string>();
    // CPU time: a busy machine shortens no search.
    const end = cpuTime() + msec;
    for (let runs = 0; runs < seeds.length || cpuTime() < end; runs += 1) {
      const text = seeds[runs] ?? changed(seeds);
      const wrong = await wrongWith(attempt, text);
      if (wrong !== undefined && wrongs.size < 20) wrongs.set(wrong.slice(0, 80), JSON.stringify(text.slice(0, 2000)));
    }
    expect([...wrongs]).toEqual([]);
  },
);

/** Milliseconds of this process. */
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

function changed(kept: readonly string[]): string {
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
