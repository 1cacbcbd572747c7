import type { AnyCommand } from '../commands/command.ts';
import type { GlobalValues } from '../commands/context.ts';
import {
  globalOptions,
  negatedTwinOf,
  ownFormats,
  twinOf,
  withoutTwin,
  type GlobalOption,
} from '../commands/environment.ts';
import { Failure, usage } from '../core/failure.ts';
import { namesIn } from '../core/table-names.ts';
import { isWindows, variable, type Environment } from '../core/system.ts';
import { rowOf } from '../output/formats.ts';
import { collect, flagOf, readField, type Field } from '../schema/field.ts';
import type { Messages } from './messages.ts';
import type { Redactor } from './redactor.ts';
import type { Summary } from './summary.ts';
import type { Host } from './host.ts';

/** The options of every command, as this run has them. */
export interface Options extends GlobalValues {
  /** Which of them were typed, and are not their twins in the environment. */
  readonly typed: ReadonlySet<GlobalOption>;
}

/** What a command runs with. */
export interface Running {
  readonly host: Host;
  readonly options: Options;
  readonly messages: Messages;
  readonly redactor: Redactor;
  readonly summary: Summary | undefined;
  /** Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
}

/** Texts as they were typed, by name. */
export type Texts = Readonly<Record<string, unknown>>;

/**
 * The typed values of a command from what was typed; all problems of the line are reported at once.
 * @throws Failure usage
 */
export function readValues(definition: AnyCommand, words: Texts, options: Texts): Record<string, unknown> {
  const args = Object.entries(definition.args ?? {}).map(([name, field]) => ({
    name,
    field,
    label: name,
    text: words[name],
  }));
  const flags = Object.entries(definition.options ?? {}).map(([name, field]) => {
    const flag = flagOf(name, field);
    return { name, field, label: `--${flag}`, text: options[camel(flag)] };
  });
  const read = collect([...args, ...flags], ({ name, field, label, text }) => {
    if (isAbsent(text)) {
      if (!field.required) return [];
      const choices = field.kind === 'string' && field.choices ? `: ${field.choices.join(', ')}` : '';
      throw usage(`${label} is required${choices}`, `See chatelaine ${definition.name} --help.`);
    }
    return [[name, readOne(label, field, text)] as const];
  });
  return Object.fromEntries(read.flat());
}

/** commander keeps `--size-allowance` as `sizeAllowance`. */
function camel(flag: string): string {
  return flag.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}

function isAbsent(text: unknown): boolean {
  return text === undefined || (Array.isArray(text) && text.length === 0);
}

function readOne(label: string, field: Field, text: unknown): unknown {
  if (typeof text === 'boolean') return text;
  const isPath = /^(FILE|DIR|PATH)$/.test(field.placeholder ?? '') || (field.kind === 'string' && field.file === true);
  const fault = isWindows && isPath && !Array.isArray(text) ? windowsFault(String(text)) : undefined;
  if (fault !== undefined) throw usage(`${label}: ${fault}`, 'Give another name; nothing was written.');
  if (Array.isArray(text)) return collect(text, (item) => readField(label, field, String(item)));
  return readField(label, field, String(text));
}

/** Why Windows has no file of that name, or one that its own programs can neither open nor remove; undefined where it may have one. */
export function windowsFault(path: string): string | undefined {
  const names = path.replace(/^(\\\\[?.]\\)?([a-z]:)?/i, '').split(/[\\/]/);
  for (const name of names) {
    const [sign] = /[<>:"|?*]/.exec(name) ?? [];
    if (sign !== undefined) return `a name on Windows may not hold ${sign} (nor any of < > : " | ? *)`;
    if (/^(con|prn|aux|nul|com\d|lpt\d) *(\.|$)/i.test(name)) return `'${name}' is a device on Windows, not a file`;
    if (/[^.][. ]+$/.test(name)) return `'${name}': a name on Windows may not end with a dot or a blank`;
  }
  return undefined;
}

/**
 * The global options: what was typed, else the twin in the environment (docs/architecture.md, One command from argv to bytes).
 * @throws Failure usage
 */
export function readGlobals(
  typed: Texts,
  env: Environment,
  { options: own = {}, ...command }: Pick<AnyCommand, 'options' | 'format' | 'dryRun' | 'show'>,
): Options {
  const output = { ...globalOptions.output, choices: [...globalOptions.output.choices, ...ownFormats(command)] };
  const read = collect(Object.entries<Field>({ ...globalOptions, output }), ([name, field]) => {
    if (name in own) return typed[camel(`no-${name}`)] === true ? [[name, false] as const] : [];
    const text = typed[camel(flagOf(name, field))];
    const value = isAbsent(text) ? twin(name, field, env) : readOne(`--${flagOf(name, field)}`, field, text);
    return value === undefined ? [] : [[name, value] as const];
  });
  const values = Object.fromEntries(read.flat()) as GlobalValues;
  const asJson =
    values.json === true &&
    typed['output'] === undefined &&
    (typed['json'] === true || variable(env, twinOf('output')) === undefined);
  const isTyped = (name: GlobalOption): boolean =>
    !(name in own) && !isAbsent(typed[camel(flagOf(name, globalOptions[name]))]);
  return {
    ...values,
    ...(asJson ? { output: 'json' as const } : {}),
    typed: new Set(namesIn(globalOptions).filter(isTyped)),
  };
}

function twin(name: string, field: Field, env: Environment): unknown {
  if (withoutTwin.has(name)) return undefined;
  const negated = field.kind === 'boolean' && field.negatable ? variable(env, negatedTwinOf(name)) : undefined;
  if (negated !== undefined) return !switchOf(negatedTwinOf(name), negated);
  const text = variable(env, twinOf(name));
  const choices: readonly string[] = 'choices' in field ? (field.choices ?? []) : [];
  // A format of other commands: the environment holds for all commands, so this one ignores it.
  const isOfOthers = name === 'output' && rowOf(text) !== undefined && !choices.some((choice) => choice === text);
  if (text === undefined || isOfOthers) return undefined;
  return field.kind === 'boolean' ? switchOf(twinOf(name), text) : readField(twinOf(name), field, text);
}

function switchOf(label: string, text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new Failure('usage', `${label}: '${text}' is neither true nor false`);
}
