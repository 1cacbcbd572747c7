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

/** Standard output as a place for results. */
export function openSink({ stdout }: World): Sink {
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
  };
}
