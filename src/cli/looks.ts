import type { AnyCommand } from '../commands/command.ts';
import { usage } from '../core/failure.ts';
import { alternatives, rowOf, wholeFormats } from '../schema/formats.ts';
import type { Options } from './accounts.ts';

/**
 * The options without the looks that do not apply to what the command prints. The environment holds for all commands, so its own are
 * ignored.
 * @throws Failure usage where one of them was typed
 */
export function looksFor(command: AnyCommand, options: Options): Options {
  if (command.show?.text) return looksOfText(command, options);
  return command.show?.alwaysQuiet ? looksWithoutColumns(command, options) : options;
}

/** A text has no order; columns only where the command names their fields; and a filter only where it is JSON. */
function looksOfText({ name, show, fields: own }: AnyCommand, options: Options): Options {
  const { jq, fields, sort: _ignored, ...others } = options;
  const applies = { jq: show?.filterable === true, fields: own !== undefined, sort: false, output: true };
  const strange = options.typedLooks.find((look) => !applies[look]);
  if (strange !== undefined)
    throw usage(
      `${name} prints its text unchanged: --${strange} does not apply`,
      show?.filterable ? 'Use --jq EXPR on JSON.' : 'Leave it out.',
    );
  return {
    ...others,
    ...(applies.jq && jq !== undefined && { jq }),
    ...(applies.fields && fields !== undefined && { fields }),
  };
}

/** A text without a header is printed, unless the whole value is asked for. */
function looksWithoutColumns({ name }: AnyCommand, options: Options): Options {
  const { fields, output, jq, typedLooks } = options;
  const isWhole = jq !== undefined || output === 'curl' || rowOf(output)?.whole;
  const strange = typedLooks.find((look) => look === 'fields' || (look === 'output' && !isWhole));
  if (strange !== undefined)
    throw usage(
      `${name} prints text without columns: --${strange} ${(strange === 'fields' ? fields : output) ?? ''} does not apply`,
      `Leave it out, or choose -o ${alternatives(wholeFormats)} for all fields.`,
    );
  const { fields: _ignored, ...others } = options;
  return others;
}
