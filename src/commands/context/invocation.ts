import type { Format } from '../../schema/formats.ts';
import type { globalOptions } from '../../schema/environment.ts';
import type { Values } from '../../schema/field.ts';
import type { CommandSurface } from '../surface.ts';

export interface GlobalValues extends Omit<Values<typeof globalOptions>, 'output'> {
  /** A format of every command, or one that this command offers. */
  readonly output?: Format | undefined;
}

/** The run itself: the options of every command, and what ends it early. */
export interface Invocation {
  readonly options: GlobalValues;
  /** Ctrl-C, SIGTERM and the deadline, each with its Failure as reason. */
  readonly signal: AbortSignal;
  /** Checks `--fields` and `--sort` against the command's fields and those of its file. @throws Failure usage */
  checkFields(fromFile: readonly string[]): void;
  /** Every command, as it describes itself. */
  surface(): Promise<{
    readonly nouns: Readonly<Record<string, string>>;
    readonly commands: readonly CommandSurface[];
  }>;
}
