import type { JsonRows } from '../output/json-rows.ts';
import type { Show } from '../output/presentation.ts';
import type { Fields, Values } from '../schema/field.ts';
import type { Context } from './context.ts';
import type { CommandSurface } from './surface.ts';

type Row<R> =
  R extends AsyncGenerator<infer T> ? Single<T> : R extends Promise<readonly (infer T)[] | infer T> ? T : never;

type Single<T> = T extends JsonRows<infer R> ? R : T;

/** Returns the result, or yields rows and may throw a Failure. Never prints, exits, or reads `process`. */
type Run<A extends Fields, O extends Fields, R> = (values: Values<A> & Values<O>, context: Context) => R;

type Command<A extends Fields, O extends Fields, R> = Pick<
  CommandSurface,
  'about' | 'input' | 'rules' | 'examples' | 'dryRun' | 'result' | 'fields'
> & {
  readonly args?: A;
  readonly options?: O;
  readonly show?: Show<Row<R>>;
} & ({ readonly run: Run<A, O, R> } | { readonly rows: Run<A, O, R> });

/** A command with its types erased, as the table of commands and the program use it. */
export interface AnyCommand extends CommandSurface {
  readonly run: (values: Readonly<Record<string, unknown>>, context: Context) => unknown;
}

/** The value that a command's module exports; the table of commands adds its name and summary. */
export type NamelessCommand = Omit<AnyCommand, 'name' | 'summary'>;

/** Infers the types of a command's values and rows where it is written, and erases them for the table. */
export function command<const A extends Fields, const O extends Fields, R>(given: Command<A, O, R>): NamelessCommand {
  const isList = 'rows' in given;
  return { ...given, isList, run: isList ? given.rows : given.run } as unknown as NamelessCommand;
}
