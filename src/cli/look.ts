import type { GlobalValues } from '../commands/context.ts';
import type { Look, Sink } from '../output/show.ts';
import { colorLevel } from '../output/style.ts';
import type { World } from './world.ts';

/** How the result of a command looks: what was asked for, and what standard output is. */
export function lookOf(options: GlobalValues, world: World): Look {
  const terminal = world.stdout.isTTY === true;
  return {
    format: options.output ?? (terminal ? 'table' : 'tsv'),
    fields: options.fields?.split(',').map((name) => name.trim()),
    sort: options.sort,
    header: options.header ?? true,
    csvSafe: options.csv_safe ?? false,
    quiet: options.quiet ?? false,
    color: hasColor(options, world, terminal),
    terminal,
    width: world.stdout.columns ?? 0,
  };
}

/** Whether colour may be written to a stream of this machine. */
export function hasColor({ color }: GlobalValues, { machine }: World, terminal: boolean): boolean {
  return colorLevel({ when: color ?? 'auto', terminal, env: machine.env }) > 0;
}

/** Standard output as a place for results. A write that nobody reads is given up a moment after the signal aborts. */
export function openSink({ stdout, alarm }: World, signal: AbortSignal): Sink {
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        let cancel = (): void => undefined;
        const stop = (): void => {
          cancel = alarm(moment, () => reject(signal.reason as Error));
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
        stdout.write(text, (error) => {
          signal.removeEventListener('abort', stop);
          cancel();
          if (error) reject(error);
          else resolve();
        });
      }),
  };
}

/** Enough for a reader that reads at all. */
const moment = 100;
