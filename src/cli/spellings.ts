import { globalOptions } from '../commands/environment.ts';
import { flagOf, isNegatable, type Field, type Fields } from '../schema/field.ts';
import type { TypedOption } from './values.ts';

/** A way to type an option, or an argument by its name at the API. */
export interface Spelling {
  readonly word: string;
  readonly short?: string | undefined;
  readonly flag: string;
  readonly takes: boolean;
  /** Where the value of an argument goes that is typed by its name: before the other words, or behind them. */
  readonly argument?: 'first' | 'last';
}

/** A line in parts, as far as it can be read. */
export interface LineParts {
  readonly words: readonly string[];
  readonly typed: readonly TypedOption[];
  /** Arguments under their names at the API: those before the other words, and those behind them. */
  readonly first: readonly string[];
  readonly last: readonly string[];
  readonly asks: 'help' | 'version' | undefined;
  /** The first option that the table does not have, and what follows it. */
  readonly unknown: readonly string[];
  /** An option without its value, and the option that was typed in its place. */
  readonly lacking: readonly [option: string, next?: string | undefined] | undefined;
}

/** The API's names of arguments; where a command has several names, the first is that of its first word. */
const argumentNames: Readonly<Record<string, readonly string[]>> = {
  license_code: ['license-code'],
  mac_address: ['mac-address'],
  channel: ['stream-id'],
  topic: ['topic-name'],
  fragment: ['fragment'],
  new_name: ['name'],
  snippet: ['saved-snippet-id'],
};

/** The API's switches that have other names here. */
const switchNames: readonly (readonly [word: string, option: string, on: string, off: string])[] = [
  ['apply-markdown', 'raw_content', 'no-raw-content', 'raw-content'],
  ['is-pinned', 'pin', 'pin', 'hide'],
];

/** Every way to type the options of a line, with dashes: by our flag, or by the API's name. */
export function spellingsOf(fields: Fields, args: readonly string[]): ReadonlyMap<string, Spelling> {
  const globals: Fields = globalOptions;
  const names = args.flatMap((argument) => argumentNames[argument] ?? []);
  const all: Spelling[] = [
    ...Object.entries(fields).flatMap(([name, field]) => spellingsOfField(name, field)),
    // Also `--no-input` beside a command's own `--input FILE`.
    ...Object.keys(fields).flatMap((name) => (globals[name]?.kind === 'boolean' ? switchOf(`no-${name}`) : [])),
    ...switchNames.flatMap(([word, option, on, off]) =>
      option in fields ? [switchOf(word, on), switchOf(`no-${word}`, off)] : [],
    ),
    ...names.map((word, at): Spelling => ({ word, flag: word, takes: true, argument: at === 0 ? 'first' : 'last' })),
    { ...switchOf('help'), short: 'h' },
    { ...switchOf('version'), short: 'V' },
  ];
  // Of two spellings of one word the first counts: a field's own name goes before the API's.
  return new Map(all.reverse().map((one) => [one.word, one]));
}

function spellingsOfField(name: string, field: Field): Spelling[] {
  const flag = flagOf(name, field);
  const words = [...new Set([flag, name.replaceAll('_', '-')])];
  const on = words.map((word): Spelling => ({ word, flag, takes: field.kind !== 'boolean' }));
  const off = isNegatable(field) ? words.map((word) => switchOf(`no-${word}`, `no-${flag}`)) : [];
  return [{ ...switchOf(flag), ...on[0], short: field.short }, ...on, ...off];
}

function switchOf(word: string, flag = word): Spelling {
  return { word, flag, takes: false };
}

/** A word of a known option as commander reads it: with dashes, a switch without `=true` or `=false`. */
export function plainWord(word: string, { word: name, takes }: Spelling): string {
  const [behind = ''] = /=[^]*/.exec(word) ?? [];
  if (!takes && behind === '=false' && !name.startsWith('no-')) return `--no-${name}`;
  return `--${name}${!takes && behind === '=true' ? '' : behind}`;
}
