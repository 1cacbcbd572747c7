import type { AnyCommand } from '../commands/command.ts';
import { usage } from '../core/failure.ts';
import { twinOf } from '../schema/environment.ts';
import type { Options } from './accounts.ts';

/** A check of the names that were asked for; `fromFile` are the fields that the command's input file adds. @throws Failure usage */
export type FieldCheck = (fromFile: readonly string[]) => void;

/**
 * The check of `--fields` and `--sort` against the closed list of a command; it is the only one, and comes before anything is sent.
 * `others` are fields that are no error either, such as those of a planned request.
 * @throws Failure usage for fields of a format that has none
 */
export function fieldCheck(command: AnyCommand, options: Options, others: readonly string[]): FieldCheck {
  const { show, fields: beside } = command;
  if (options.output === 'text' && options.fields !== undefined)
    throw usage('-o text shows conversations, which have no fields', 'Leave out --fields, or use -o table.');
  const sorted = options.sort === undefined ? [] : [options.sort.replace(/^-/, '')];
  const asked = [...new Set([...namesIn(options.fields), ...sorted])];
  return (fromFile) => {
    const own = [...new Set([...(show?.columns ?? []), ...(beside ?? []), ...fromFile])];
    const strange = asked.filter((name) => !own.includes(name) && !others.includes(name));
    if (strange.length === 0) return;
    throw usage(
      strange.map((name) => `There is no field '${name}' in the result.`),
      `${whereFrom(options)}Its fields are ${own.join(', ')}.${show?.others ? ' Other fields that a server sends: -o json, or --jq.' : ''}`,
    );
  };
}

/** Names the variables, which hold for all commands and are easily forgotten. */
function whereFrom({ fields, sort, typedLooks }: Options): string {
  const given = { fields, sort };
  const set = (['fields', 'sort'] as const).filter((look) => given[look] !== undefined && !typedLooks.includes(look));
  return set.length === 0 ? '' : `See ${set.map(twinOf).join(' and ')} in the environment. `;
}

/** The names of `--fields`. */
export function namesIn(fields: string | undefined): readonly string[] {
  return fields?.split(',').map((name) => name.trim()) ?? [];
}
