import { failures, nameOf, success } from '../core/failure.ts';
import { namesOf } from '../output/columns.ts';
import { flagOf, type Field, type Fields } from '../schema/field.ts';
import { namesIn } from '../core/table-names.ts';
import { globalOptions, ownFormats, twinsOf } from './environment.ts';
import { command } from './command.ts';
import type { CommandSurface } from './surface.ts';

export default command({
  about: [
    'With -o json: each command with its arguments, options, formats, fields and examples; the options of every command with the ' +
      'variables that set them, and the exit codes. Nothing is sent. chatelaine-stability(7) says what scripts may rely on.',
  ],
  examples: ['chatelaine commands -o json', 'chatelaine commands --jq ".commands[].name"'],

  async run(_values, context) {
    const { nouns, commands } = await context.program.surface();
    return {
      groups: Object.entries(nouns).map(([name, summary]) => ({ name, summary })),
      commands: commands.map(describeCommand),
      options: optionRows(globalOptions),
      exit_codes: [
        success,
        ...namesIn(failures).map((kind) => ({
          exit: failures[kind].exit,
          name: nameOf(kind),
          means: failures[kind].means,
        })),
      ],
    };
  },

  fields: ['groups', 'commands', 'options', 'exit_codes'],

  show: { line: ({ commands }) => commands.map(({ name, summary }) => `${name}: ${summary}`).join('\n') },
});

function describeCommand(command: CommandSurface) {
  const { name, summary, args = {}, options = {}, show, fields = [], examples } = command;
  return {
    name,
    summary,
    arguments: Object.entries(args).map(([argument, field]): object => ({ name: argument, ...rulesOf(field) })),
    options: optionRows(options),
    formats: ownFormats(command),
    fields: [...new Set([...namesOf(show ?? {}), ...fields])],
    examples,
  };
}

function optionRows(fields: Fields): object[] {
  return Object.entries(fields)
    .filter(([, { hidden }]) => !hidden)
    .map(([name, field]) => ({
      name,
      option: `--${flagOf(name, field)}`,
      ...(field.short === undefined ? {} : { short: `-${field.short}` }),
      ...rulesOf(field),
      ...(fields === globalOptions ? { environment: twinsOf(name, field) } : {}),
    }));
}

function rulesOf({ flag: _flag, short: _short, rare, ...rules }: Field): object {
  const variables = Object.entries(rules).filter(([name]) => !ofProfiles.has(name));
  return { ...Object.fromEntries(variables), ...(rare !== undefined && { rare: true }) };
}

/** Keys of a field that say nothing about an option's values, and are not listed. */
const ofProfiles: ReadonlySet<string> = new Set(['read', 'environment', 'alone', 'header', 'see']);
