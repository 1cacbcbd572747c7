import type { GlobalValues, Progress } from '../commands/context.ts';
import { formatDuration } from '../core/duration.ts';
import type { World } from './world.ts';

const redrawEvery = 100;
const lineEvery = 5000;
const barWidth = 24;

/** How far a job is, on stderr: one line redrawn on a terminal, a line every 5 s elsewhere, nothing with `--quiet`. */
export function openProgress(world: World, { quiet }: GlobalValues, label: string, total: number): Progress {
  const { stderr, clock } = world;
  if (quiet || total === 0) return { step: () => undefined, end: () => undefined };
  const isTerminal = stderr.isTTY === true && world.machine.env['TERM'] !== 'dumb';
  const started = clock.now();
  let last = started;
  let done = 0;
  let isDrawn = false;

  const text = (): string => {
    const elapsed = Math.max(1, clock.now() - started);
    const rate = (done * 1000) / elapsed;
    const left = rate > 0 && done < total ? `, ${formatDuration(Math.round((total - done) / rate) * 1000)} left` : '';
    return `${label} ${done}/${total}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s${left}`;
  };
  return {
    step() {
      done += 1;
      const now = clock.now();
      if (now - last < (isTerminal ? redrawEvery : lineEvery)) return;
      last = now;
      stderr.write(isTerminal ? `\r\u001b[K${fitted(bar(done / total), text(), stderr.columns ?? 80)}` : `${text()}\n`);
      isDrawn = isTerminal;
    },
    end() {
      if (isDrawn) stderr.write('\r\u001b[K');
    },
  };
}

function bar(part: number): string {
  const filled = Math.round(part * barWidth);
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] `;
}

/** A line that wraps could not be taken back; a terminal without a width gets the words alone. */
function fitted(picture: string, words: string, columns: number): string {
  const line = columns > picture.length + words.length ? picture + words : words;
  return columns > 1 ? line.slice(0, columns - 1) : line;
}
