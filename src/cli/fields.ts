import type { AnyCommand } from '../commands/command.ts';
import { twinOf } from '../commands/environment.ts';
import { type Failure, usage } from '../core/failure.ts';
import { asObject, cellsOf } from '../output/columns.ts';
import { countByOf } from '../output/sort.ts';
import { singly } from '../output/json-rows.ts';
import type { Presentation } from '../output/presentation.ts';
import { suggestion } from '../schema/nearest.ts';
import type { Options } from './values.ts';

/** A check of the names asked for; `fromFile` are the fields that the input file adds. @throws Failure usage */
export type FieldCheck = (fromFile: readonly string[]) => void;

/** The names of `--fields`. */
export function fieldsIn(fields: string | undefined): readonly string[] {
  return fields?.split(',').map((name) => name.trim()) ?? [];
}

/**
 * The check of `--fields` and `--sort` against a command's closed list before anything is sent; only the answer tells
 * where a server may send any field. `others`: fields such as those of a planned request.
 */
export function fieldCheck(command: AnyCommand, options: Options, others: readonly string[]): FieldCheck {
  return (fromFile) => {
    const strange = strangeNames(command, options, [...fromFile, ...others]);
    const own = [...new Set([...(command.show?.columns ?? []), ...(command.fields ?? []), ...fromFile])];
    if (strange.length > 0 && command.show?.others !== 'any') throw noFields(strange, own, options);
  };
}

/** Names of `--fields` and `--sort` that the command does not know. */
function strangeNames(
  { show, fields: beside = [] }: AnyCommand,
  { fields, sort, count_by }: Options,
  others: readonly string[],
): readonly string[] {
  const counted = count_by === undefined ? [] : [countByOf(count_by).field];
  const asked = new Set([...fieldsIn(fields), ...(sort === undefined ? [] : [sort.replace(/^-/, '')]), ...counted]);
  const known = [...(show?.columns ?? []), ...beside, ...others];
  return [...asked].filter((name) => !known.includes(name));
}

function noFields(strange: readonly string[], known: readonly string[], options: Options): Failure {
  const near = strange.flatMap((name) => suggestion(name, known) ?? []);
  return usage(
    strange.map((name) => `There is no field '${name}' in the result.`),
    [...near, `${whereFrom(options)}Its fields are ${known.join(', ')}.`].join(' '),
  );
}

/** Names the variables, which hold for all commands and are easily forgotten. */
function whereFrom({ fields, sort, count_by, typed }: Options): string {
  const given = { fields, sort, count_by };
  const set = (['fields', 'sort', 'count_by'] as const).filter((look) => given[look] !== undefined && !typed.has(look));
  return set.length === 0 ? '' : `See ${set.map(twinOf).join(' and ')} in the environment. `;
}

/** What is printed of a command whose rows have the fields that a server gives them. */
interface OpenRows {
  /** Presents one value: whole where it lacks a field, since a write's may hold a key that exists nowhere else. */
  one(row: unknown, presentation: Presentation): Presentation;
  /** The rows of a read, as soon as each field that was asked for was in one. */
  many(rows: AsyncIterable<unknown>): AsyncIterable<unknown>;
}

/** Undefined where every name is known without the answer. */
export function openRows(command: AnyCommand, options: Options, warn: (text: string) => void): OpenRows | undefined {
  const strange = command.show?.others === 'any' ? strangeNames(command, options, []) : [];
  if (strange.length === 0) return undefined;
  const { show } = command;
  const lacking = (row: unknown, names: readonly string[]): readonly string[] =>
    names.filter((name) => cellsOf(row, [name], show)[0] === undefined);
  const knownIn = (row: unknown) => [...new Set([...(show?.columns ?? []), ...Object.keys(asObject(row, show) ?? {})])];
  return {
    one(row, presentation) {
      const missing = lacking(row, strange);
      if (missing.length === 0) return presentation;
      const failure = noFields(missing, knownIn(row), options);
      if (command.dryRun === undefined) throw failure;
      warn(`${failure.message} It is shown whole.`);
      return { ...presentation, fields: undefined };
    },
    async *many(rows) {
      const held: unknown[] = [];
      let missing = strange;
      for await (const row of singly(rows)) {
        if (missing.length === 0) yield row;
        else {
          held.push(row);
          missing = lacking(row, missing);
          if (missing.length === 0) yield* held.splice(0);
        }
      }
      if (held.length > 0) throw noFields(missing, knownIn(held[0]), options);
    },
  };
}
