import { parseDuration, type Milliseconds } from '../core/duration.ts';
import { Failure, labelled, usage } from '../core/failure.ts';
import { parseJson } from '../core/json.ts';
import { suggestion } from './nearest.ts';

interface Shape {
  /** Meaning and unit, one sentence without a full stop: help, manual and `settings describe` show it. */
  readonly help: string;
  readonly required?: boolean;
  /** May be given several times (option) or as several words (argument); the value is an array. */
  readonly many?: boolean;
  /** An option whose text is a list with commas: typed several times, the texts are one list. */
  readonly list?: boolean;
  /** An option for which `-` is the one line of standard input. */
  readonly stdin?: boolean;
  /** The flag's name without dashes where it differs from the field's name with `_` as `-`. */
  readonly flag?: string;
  readonly short?: string;
  /** Not shown in help and manual. */
  readonly hidden?: boolean;
  /** Another command that has the option too, and whose help explains it. */
  readonly see?: string;
  /** Few need the option: the help of its command shows only its name, and this guide explains it. */
  readonly rare?: Guide;
  /** The placeholder of the value in help, such as `FILE`. */
  readonly placeholder?: string;
  /** The feature level of the chat server that brought the field (docs/apis.md, Feature levels). */
  readonly level?: number;
  /** Offers of completion beside the choices: these words, or the names of the stored profiles. */
  readonly suggest?: 'profiles' | readonly string[];
}

/** `chatelaine help GUIDE` explains the options that few need. */
type Guide = 'fetching' | 'never-two' | 'sheets';

interface StringShape extends Shape {
  readonly kind: 'string';
  readonly choices?: readonly string[];
  /** The length in characters has to be below this. */
  readonly below?: number;
  readonly ascii?: boolean;
  readonly nonempty?: boolean;
  /** No blank at either end. */
  readonly trimmed?: boolean;
  /** Converts the text to its own form, such as a URL without a slash at its end. @throws Failure usage or config */
  readonly read?: (text: string) => string;
  /** A path: as an argument, `-` stays for the command, which reads standard input whole. */
  readonly file?: boolean;
  /** As an option: `--no-NAME` exists too, whose value is `false`. */
  readonly negatable?: boolean;
}

interface IntegerShape extends Shape {
  readonly kind: 'integer';
  readonly min?: number;
  readonly max?: number;
  /** Names of the values, in lower case joined by dashes; the number is the wire value. */
  readonly names?: Readonly<Record<string, number>>;
}

interface BooleanShape extends Shape {
  readonly kind: 'boolean';
  readonly negatable?: boolean;
}

interface OtherShape extends Shape {
  /** `secret` is never read from the command line; `json` is any JSON text; `duration` is read as milliseconds. */
  readonly kind: 'duration' | 'json' | 'secret';
  /** The shortest duration, in milliseconds. */
  readonly min?: number;
}

export type Field = StringShape | IntegerShape | BooleanShape | OtherShape;
export type Fields = Readonly<Record<string, Field>>;

interface Kinds {
  readonly string: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly duration: Milliseconds;
  readonly json: unknown;
  readonly secret: unknown;
}

type One<F extends Field> =
  | (F extends { kind: 'string'; choices: readonly (infer C)[] } ? C : Kinds[F['kind']])
  | (F extends { kind: 'string'; negatable: true } ? false : never);

type Value<F extends Field> = F extends { many: true } ? readonly One<F>[] : One<F>;

type RequiredNames<T extends Fields> = { [K in keyof T]: T[K] extends { required: true } ? K : never }[keyof T];

export type Values<T extends Fields> = { readonly [K in RequiredNames<T>]: Value<T[K]> } & {
  readonly [K in Exclude<keyof T, RequiredNames<T>>]?: Value<T[K]>;
};

type Ruled<T extends Fields, R> = { readonly [K in keyof T]: Omit<T[K], keyof R> & R };

export const textField = (placeholder: string, help: string) =>
  ({ kind: 'string', nonempty: true, placeholder, help }) as const;

/** A file or folder that is written. */
export const outputField = (placeholder: string, help: string) =>
  ({ ...textField(placeholder, help), read: refuseInput }) as const;

/** @throws Failure usage for `-` */
function refuseInput(path: string): string {
  if (path === '-') throw usage("'-' names no file to write", 'It is standard input. Give a name.');
  return path;
}

export const countField = (placeholder: string, help: string) =>
  ({ kind: 'integer', min: 1, placeholder, help }) as const;

export const choiceField = <const C extends readonly string[]>(choices: C, placeholder: string, help: string) =>
  ({ kind: 'string', choices, placeholder, help }) as const;

/** An argument; `-` is standard input, which the command reads whole. */
export const fileArgument = (placeholder: string, help: string) =>
  ({ kind: 'string', file: true, required: true, placeholder, help }) as const;

/** A switch; `level` is the feature level that brought it. */
export const flagField = (help: string, level?: number) =>
  ({ kind: 'boolean', help, ...(level === undefined ? {} : { level }) }) as const;

/** Words in a sentence: `json, ndjson or yaml`. */
export function alternatives(words: readonly string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

/** The same fields, none of them required: a filter, or a partial edit. */
export function optional<const T extends Fields>(fields: T) {
  return withEach(fields, { required: false });
}

export function withEach<const T extends Fields, const R extends Partial<Shape>>(fields: T, rules: R): Ruled<T, R> {
  const ruled = Object.entries(fields).map(([name, field]) => [name, { ...field, ...rules }] as const);
  return Object.fromEntries<unknown>(ruled) as Ruled<T, R>;
}

/** Reads the values of a table's fields; undefined: no value. `read` refuses a required field without a value. */
export function valuesOf<const T extends Fields>(fields: T, read: (name: string, field: Field) => unknown): Values<T> {
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = read(name, field);
    if (value !== undefined) values[name] = value;
  }
  return values as Values<T>;
}

/** `--no-NAME` is an option too: every switch may be taken back. */
export function isNegatable(field: Field): boolean {
  return field.kind === 'boolean' || (field.kind === 'string' && field.negatable === true);
}

export function flagOf(name: string, field: Field): string {
  return field.flag ?? name.replaceAll('_', '-');
}

/** Validates a text against a field, for every value. `label` is the name as typed. @throws Failure usage */
export function readField<const F extends Field>(label: string, field: F, text: string): One<F>;
export function readField(label: string, field: Field, text: string): unknown {
  // A NUL character is possible in standard input, but not in the names of files and in HTTP.
  if (text.includes('\0')) throw usage(`${label}: a NUL character is not allowed`);
  switch (field.kind) {
    case 'string':
      return readString(label, field, text);
    case 'integer':
      return readInteger(label, field, text);
    case 'boolean':
      if (text === 'true') return true;
      if (text === 'false') return false;
      throw usage(`${label}: '${text}' is not a boolean`, 'Write true or false.');
    case 'duration': {
      const span = labelled(label, () => parseDuration(text));
      if (span < (field.min ?? 0)) throw usage(`${label}: ${text} is too short`);
      return span;
    }
    case 'json':
      try {
        return parseJson(text);
      } catch {
        // The platform's own message quotes a piece of the text, which may be a piece of a key.
        throw usage(`${label}: not valid JSON`);
      }
    case 'secret':
      throw usage(
        `${label}: a secret is never read from the command line`,
        'Give the bare name to be prompted for it, or --from FILE.',
      );
  }
}

function readString(label: string, field: StringShape, text: string): string {
  if (field.nonempty && text === '') throw usage(`${label}: must not be empty`);
  if (field.trimmed && text !== text.trim())
    throw usage(`${label}: begins or ends with a space`, 'Servers may cut it off, and would not find the user again.');
  const foreign = field.ascii ? /\P{ASCII}/u.exec(text)?.[0] : undefined;
  if (foreign !== undefined)
    throw usage(
      `${label}: '${foreign}' in '${text}': only ASCII characters are allowed`,
      'Write it in ASCII, such as ue for ü; keep the real name in your own records, or in another column (--keep-columns).',
    );
  if (field.below !== undefined && text.length >= field.below)
    throw usage(`${label}: ${text.length} characters; must be below ${field.below}`);
  const chosen = field.choices?.find((choice) => spelling(choice) === spelling(text));
  if (chosen !== undefined) return chosen;
  if (field.choices)
    throw usage(`${label}: '${text}' is not one of ${field.choices.join(', ')}`, suggestion(text, field.choices));
  const { read } = field;
  return read && text !== '' ? labelled(label, () => read(text)) : text;
}

/** Names of choices may be typed with dashes or underscores, in either case. */
function spelling(word: string): string {
  return word.toLowerCase().replaceAll('-', '_');
}

function readInteger(label: string, field: IntegerShape, text: string): number {
  const name = text.toLowerCase().replaceAll('_', '-');
  const named = field.names && Object.hasOwn(field.names, name) ? field.names[name] : undefined;
  if (named !== undefined) return named;
  const choices = namedValues(field).map(({ name: word, value }) => `${value} ${word}`);
  if (!/^-?(0|[1-9]\d*)$/.test(text)) {
    const rule =
      choices.length > 0 ? `is not one of ${choices.join(', ')}` : `is not a whole number${rangeOf(field, ', ')}`;
    throw usage(`${label}: '${text}' ${rule}`, field.names && suggestion(text, Object.keys(field.names)));
  }
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw usage(`${label}: ${text} is beyond ±(2^53−1)`);
  if (field.names && !Object.values(field.names).includes(number))
    throw usage(`${label}: ${text} is not one of ${choices.join(', ')}`);
  if (number < (field.min ?? -Infinity) || number > (field.max ?? Infinity))
    throw usage(`${label}: ${text} is out of range; must be ${rangeOf(field)}`);
  return Object.is(number, -0) ? 0 : number;
}

/** The values that have names, each with its first one. */
export function namedValues({ names = {} }: Pick<IntegerShape, 'names'>) {
  const rows = Object.entries(names).map(([name, value]) => ({ value, name }));
  return rows.filter(({ value }, at) => rows.findIndex((row) => row.value === value) === at);
}

function rangeOf({ min, max }: IntegerShape, before = ''): string {
  if (min === undefined && max === undefined) return '';
  if (min !== undefined && max !== undefined) return `${before}${min} to ${max}`;
  return before + (min === undefined ? `at most ${max ?? ''}` : `at least ${min}`);
}

/** One `NAME=VALUE` of the command line, read: the wire name and the typed value. */
export interface Assignment {
  readonly name: string;
  readonly field: Field;
  readonly value: unknown;
}

/** Reads every item. @throws Failure usage with a line for each of the first 20 bad items, and how many are left */
export function collect<I, T>(items: readonly I[], read: (item: I, index: number) => T): T[] {
  const problems: Failure[] = [];
  const values = items.flatMap((item, index) => {
    try {
      return [read(item, index)];
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind !== 'usage') throw cause;
      problems.push(cause);
      return [];
    }
  });
  if (problems.length === 0) return values;
  const named = problems.slice(0, 20);
  const hints = new Set(named.flatMap(({ details }) => details.hint ?? []));
  const others = problems.length > named.length ? [`${problems.length - named.length} more`] : [];
  throw usage([...named.map(({ message }) => message), ...others], [...hints].join('\n') || undefined);
}
