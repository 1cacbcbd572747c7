import type { JsonRows } from '../output/json-rows.ts';
import type { Show } from '../output/presentation.ts';
import type { Fields, Values } from '../schema/field.ts';
import type { Context, GlobalValues } from './context.ts';
import type { CommandSurface } from './surface.ts';

/** The row that a command's result is made of. */
type Row<R> =
  R extends AsyncGenerator<infer T>
    ? Single<T>
    : R extends Promise<readonly (infer T)[]>
      ? T
      : R extends Promise<infer T>
        ? T
        : never;

type Single<T> = T extends JsonRows<infer R> ? R : T;

type Described = 'about' | 'input' | 'rules' | 'shared' | 'examples' | 'dryRun' | 'result' | 'format' | 'fields';

export interface Command<A extends Fields, O extends Fields, R> extends Pick<CommandSurface, Described> {
  readonly args?: A;
  readonly options?: O;
  /** The option with which a file adds fields: `run` then passes them to `checkFields` before it sends anything. */
  readonly fieldsFromFile?: keyof O & string;
  /** In place of the usual values of global options that are not typed or set. */
  readonly defaults?: Pick<GlobalValues, 'retries' | 'timeout'>;
  /** Returns the result, or yields rows and may throw a Failure. Never prints, exits, or reads `process`. */
  readonly run: (values: Values<A> & Values<O>, context: Context) => R;
  /** Whether a row is printed; absent: every one is. `--summary` counts all. */
  readonly isPrinted?: (row: Row<R>, values: Values<A> & Values<O>, options: GlobalValues) => boolean;
  readonly show?: Show<Row<R>>;
}

/** A command with its types erased: what the table of commands and the program deal with. */
export interface AnyCommand extends CommandSurface {
  readonly fieldsFromFile?: string;
  readonly defaults?: Pick<GlobalValues, 'retries' | 'timeout'>;
  readonly run: (values: Readonly<Record<string, unknown>>, context: Context) => unknown;
  readonly isPrinted?: (row: unknown, values: Readonly<Record<string, unknown>>, options: GlobalValues) => boolean;
}

/** What a command's module holds: its name and summary are in the table of commands. */
export type NamelessCommand = Omit<AnyCommand, 'name' | 'summary'>;

/** A command is a value; this function exists for inference. */
export function command<const A extends Fields, const O extends Fields, R>(
  definition: Command<A, O, R>,
): NamelessCommand {
  return definition as unknown as NamelessCommand;
}
