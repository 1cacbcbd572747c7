import type { AnyCommand } from '../commands/command.ts';
import type { GlobalValues, Invocation } from '../commands/context.ts';
import { globalOptions, isGuarded, ownFormats, twinOf, twinsOf, type GlobalOption } from '../commands/environment.ts';
import { Failure, unless, usage } from '../core/failure.ts';
import { commandLine } from '../core/shell-word.ts';
import { namesIn } from '../core/table-names.ts';
import { variable, type Environment } from '../core/system.ts';
import { rowOf } from '../output/formats.ts';
import { collect, flagOf, isNegatable, readField, type Field } from '../schema/field.ts';
import type { Messages, Redactor } from './messages.ts';
import type { Typed } from './typed.ts';
import type { Host } from './host.ts';

export interface RunParts {
  readonly host: Host;
  readonly options: GlobalValues;
  readonly messages: Messages;
  readonly redactor: Redactor;
  readonly typed: Typed;
  readonly signal: AbortSignal;
  readonly again: Invocation['again'];
}

export type Texts = Readonly<Record<string, unknown>>;

export interface TypedOption {
  /** The flag without dashes; of `--no-header` it is `no-header`. */
  readonly flag: string;
  /** Undefined: a switch. */
  readonly text: string | undefined;
}

/** The typed values of a command; reports all problems of the line at once. @throws Failure usage */
export function readValues(command: AnyCommand, words: Texts, typed: readonly TypedOption[]): Record<string, unknown> {
  const { args = {}, options = {} } = command;
  const read = collect(Object.entries<Field>({ ...args, ...options }), ([name, field]) => {
    const isArgument = name in args;
    const label = isArgument ? name : `--${flagOf(name, field)}`;
    const text = isArgument ? words[name] : oneText(label, field, typedFor(name, field, typed));
    if (text === undefined || (Array.isArray(text) && text.length === 0)) {
      if (!field.required) return [];
      const choices = field.kind === 'string' && field.choices ? `: ${field.choices.join(', ')}` : '';
      throw usage(`${label} is required${choices}`, `See chatelaine ${command.name} --help.`);
    }
    return [[name, readOne(label, field, text)] as const];
  });
  return Object.fromEntries(read.flat());
}

/** The values typed for a field, in their order: texts, and true or false for a switch. */
function typedFor(name: string, field: Field, typed: readonly TypedOption[]): (string | boolean)[] {
  const flag = flagOf(name, field);
  return typed.flatMap((one): (string | boolean)[] => {
    if (one.flag === flag && (one.text === undefined) === (field.kind === 'boolean')) return [one.text ?? true];
    return one.flag === `no-${flag}` && isNegatable(field) ? [false] : [];
  });
}

/** Joins the values of a list, and equal values. @throws Failure usage for two values: the first may be a guard */
function oneText(label: string, field: Field, texts: readonly (string | boolean)[]): unknown {
  const values = [...new Set(texts)];
  if (field.many) return values;
  if (field.list && values.length > 0) return values.join(',');
  if (values.length > 1) {
    const words = values.map((value) => (typeof value === 'string' ? `'${value}'` : value ? 'on' : 'off'));
    throw usage(`${label} was given ${values.length} values: ${words.join(', ')}`, 'Give it one value.');
  }
  return values[0];
}

function readOne(label: string, field: Field, text: unknown): unknown {
  if (typeof text === 'boolean') return text;
  if (Array.isArray(text)) return collect(text, (item) => readField(label, field, String(item)));
  return readField(label, field, String(text));
}

type Formatted = Pick<AnyCommand, 'options' | 'dryRun' | 'show'>;

/** Like `collect`, but skips what cannot be read: the readable options decide how the line's failure is shown. */
export const readable: typeof collect = (items, read) =>
  Array.from(items, (item, index) => unless(Failure, () => read(item, index))).filter((value) => value !== undefined);

/** The global options: typed, else their variable. @throws Failure usage */
export function readGlobals(
  typed: readonly TypedOption[],
  env: Environment,
  { options: commandOptions = {}, ...command }: Formatted,
  each = collect,
): GlobalValues {
  const formats = ownFormats(command);
  const output = { ...globalOptions.output, choices: [...globalOptions.output.choices, ...formats] };
  const read = each(Object.entries<Field>({ ...globalOptions, output }), ([name, field]) => {
    if (name in commandOptions) return typed.some(({ flag }) => flag === `no-${name}`) ? [[name, false] as const] : [];
    const label = `--${flagOf(name, field)}`;
    const texts = typedFor(name, field, typed);
    // The last value counts, so a line can change the options of an alias; two profiles are refused.
    const text = oneText(label, field, field.list || name === 'profile' ? texts : texts.slice(-1));
    const value = text === undefined ? twin(name, field, env) : readOne(label, field, text);
    return value === undefined ? [] : [[name, value] as const];
  });
  const isTyped = (name: GlobalOption): boolean =>
    !(name in commandOptions) && typedFor(name, globalOptions[name], typed).length > 0;
  const names = new Set(namesIn(globalOptions).filter(isTyped));
  const values = { ...Object.fromEntries(read.flat()), typed: names } as GlobalValues;
  const format = typed.findLast(({ flag }) => flag === 'output' || flag === 'json')?.flag;
  const asJson =
    values.json === true && (format === undefined ? variable(env, twinOf('output')) === undefined : format === 'json');
  return asJson ? { ...values, output: 'json' } : values;
}

function twin(name: string, field: Field, env: Environment): unknown {
  const [flag = '', opposite = ''] = twinsOf(name, field);
  if (name === 'dry_run') return isGuarded(env, 'CHATELAINE_DRY_RUN') || undefined;
  const negated = variable(env, opposite);
  if (negated !== undefined) return !switchOf(opposite, negated);
  const text = variable(env, flag);
  const choices: readonly string[] = 'choices' in field ? (field.choices ?? []) : [];
  // The environment holds for all commands, so a format of others is ignored.
  const isOfOthers = name === 'output' && rowOf(text) !== undefined && !choices.some((choice) => choice === text);
  if (text === undefined || isOfOthers) return undefined;
  if (field.kind === 'boolean') return switchOf(flag, text);
  return readField(flag, field, text);
}

function switchOf(label: string, text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new Failure('usage', `${label}: '${text}' is neither true nor false`);
}

/** Options that agree to one run only, and are never repeated. */
const ofOneRun: readonly string[] = ['yes', 'confirm', 'send-again', 'adopt'];

/** Writes a line that repeats what was typed. `changed`: options with other values; undefined removes one. */
export function typedLine(
  name: string,
  { words, typed }: { readonly words: Texts; readonly typed: readonly TypedOption[] },
  changed: Parameters<Invocation['again']>[0] = {},
) {
  const given: readonly unknown[] = Object.values(words).flat();
  const args = given.filter((word) => typeof word === 'string');
  const changedOptions = Object.entries(changed).map(([option, text]) => ({ flag: option.replaceAll('_', '-'), text }));
  const drop = new Set([...ofOneRun, ...changedOptions.map(({ flag }) => flag)]);
  const options = [
    ...typed.filter(({ flag }) => !drop.has(flag.replace(/^no-/, ''))).map(({ flag, text = true }) => ({ flag, text })),
    ...changedOptions,
  ].flatMap(({ flag, text }) => {
    if (text === undefined || text === true) return text ? [`--${flag}`] : [];
    return /^-./.test(String(text)) ? [`--${flag}=${text}`] : [`--${flag}`, String(text)];
  });
  return commandLine(name, args.some((word) => /^-./.test(word)) ? [...options, '--', ...args] : [...args, ...options]);
}
