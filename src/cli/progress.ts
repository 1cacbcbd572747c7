import type { Progress } from '../jobs/work/work-messages.ts';
import { formatDuration } from '../core/duration.ts';
import type { RunParts } from './values.ts';

const redrawEvery = 100;
const lineEvery = 5000;

type ProgressParts = Pick<RunParts, 'host' | 'messages'> & { readonly options: Pick<RunParts['options'], 'output'> };

/** A redrawn line on a terminal, elsewhere a line every 5 s and a last one. */
export function openProgress({ host, options, messages }: ProgressParts, label: string, total: number): Progress {
  const { stdout, stderr, clock } = host;
  const isTerminal = stderr.isTTY === true && host.system.env['TERM'] !== 'dumb';
  // Rows that come one by one on the same terminal are progress enough.
  const rowsAreShown = stdout.isTTY === true && options.output !== undefined && options.output !== 'table';
  if (total === 0 || rowsAreShown) return { step: () => undefined, upTo: () => undefined, end: () => undefined };
  const started = clock.now();
  let last = started;
  let done = 0;
  let lastCount: number | undefined;

  const text = (): string => {
    const elapsed = Math.max(1, clock.now() - started);
    const rate = (done * 1000) / elapsed;
    // Before that, the rate says nothing of the rest.
    const isSound = elapsed >= 5000 && done >= total * 0.03 && done < total;
    const remaining = isSound ? `, ${formatDuration(Math.ceil((total - done) / rate) * 1000)} left` : '';
    return `${label} ${done}/${total}, ${rate.toFixed(rate < 10 ? 1 : 0)}/s${remaining}`;
  };
  const upTo = (count: number): void => {
    done = Math.min(count, total);
    const now = clock.now();
    if (now - last < (isTerminal ? redrawEvery : lineEvery)) return;
    last = now;
    lastCount = done;
    // A line that wraps could not be taken back; a terminal may have no width.
    if (isTerminal) messages.status(text().slice(0, (stderr.columns || 80) - 1));
    else messages.say(text());
  };
  return {
    step: () => upTo(done + 1),
    upTo,
    end() {
      if (isTerminal) messages.status(undefined);
      // The last line that stays is the true one.
      else if (lastCount !== undefined && lastCount !== done) messages.say(text());
      lastCount = undefined;
    },
  };
}
