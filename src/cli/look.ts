import type { GlobalValues } from '../commands/context.ts';
import { variable } from '../core/world.ts';
import type { Look, Show, Sink } from '../output/show.ts';
import { rowOf, type Format } from '../schema/formats.ts';
import { colorLevel } from '../output/style.ts';
import { abortReason } from '../core/abort-reason.ts';
import { namesIn } from './fields.ts';
import type { Messages } from './messages.ts';
import type { Output, World } from './world.ts';

/** How the result of a command looks: what was asked for, and what standard output is. */
export function lookOf(options: GlobalValues, world: World, show: Show<unknown> | undefined): Look {
  return {
    format: formatOf(options, world.stdout, show),
    fields: options.fields === undefined ? undefined : namesIn(options.fields),
    sort: options.sort,
    header: options.header ?? true,
    csvSafe: options.csv_safe ?? false,
    quiet: options.quiet ?? false,
    color: hasColor(options, world, world.stdout),
    terminal: world.stdout.isTTY === true,
    width: world.stdout.columns ?? 0,
    timeZone: timeZoneOf(world),
  };
}

/** A result that does not offer the command's own format, such as the requests of a dry run, has its usual one. */
function formatOf(
  { output, fields }: GlobalValues,
  stdout: Pick<Output, 'isTTY'>,
  show: Show<unknown> | undefined,
): Format {
  if (output !== undefined && (rowOf(output)?.general || show?.formats?.some((own) => own === output))) return output;
  if (!stdout.isTTY) return 'tsv';
  return fields === undefined ? (show?.terminalFormat ?? 'table') : 'table';
}

/** The zone of TZ; undefined, which is the system's own, where TZ is unset or is no name that the platform knows. */
function timeZoneOf({ machine }: World): string | undefined {
  const timeZone = variable(machine.env, 'TZ')?.replace(/^:/, '');
  try {
    return timeZone && new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch (cause) {
    if (cause instanceof RangeError) return undefined;
    throw cause;
  }
}

/** Whether colour may be written to a stream of this machine. */
export function hasColor({ color }: GlobalValues, { machine }: World, stream: Pick<Output, 'isTTY'>): boolean {
  return colorLevel({ when: color ?? 'auto', terminal: stream.isTTY === true, env: machine.env }) > 0;
}

/** Standard output as a place for results. A write that nobody reads is given up a moment after the signal aborts. */
export function openSink({ stdout, alarm }: World, signal: AbortSignal): Sink {
  return {
    write: (piece) =>
      new Promise((resolve, reject) => {
        let cancel = (): void => undefined;
        const stop = (): void => {
          cancel = alarm(moment, () => reject(abortReason(signal)));
        };
        if (signal.aborted) stop();
        else signal.addEventListener('abort', stop, { once: true });
        stdout.write(piece, (error) => {
          signal.removeEventListener('abort', stop);
          cancel();
          if (error) reject(error);
          else resolve();
        });
      }),
  };
}

/** A sink that takes the line of progress away before it writes, where both are on a terminal: else a row would continue its line. */
export function below({ status }: Pick<Messages, 'status'>, sink: Sink, { isTTY }: Pick<Output, 'isTTY'>): Sink {
  if (!isTTY) return sink;
  return {
    write(text) {
      status(undefined);
      return sink.write(text);
    },
  };
}

/** Enough for a reader that reads at all. */
const moment = 100;
