import type { AnyCommand } from '../commands/command.ts';
import { flagOf, type Field, type Fields } from '../schema/field.ts';

/** One line of a list in help and manual: what is typed, and what it means. */
export interface HelpEntry {
  readonly term: string;
  readonly text: string;
}

/** The command line's form, as in `chatelaine license view [CODE] [OPTION…]`. */
export function synopsis(command: AnyCommand): string {
  const args = Object.entries(command.args ?? {}).map(([name, field]) => {
    const word = (field.placeholder ?? name.toUpperCase()) + (field.many ? '…' : '');
    return field.required ? word : `[${word}]`;
  });
  const required = Object.entries(command.options ?? {})
    .filter(([, field]) => field.required)
    .map(([name, field]) => `--${flagOf(name, field)} ${placeholderOf(name, field)}`);
  return ['chatelaine', command.name, ...args, ...required, '[OPTION…]'].join(' ');
}

export function argumentEntries(fields: Fields): HelpEntry[] {
  return Object.entries(fields).map(([name, field]) => ({
    term: field.placeholder ?? name.toUpperCase(),
    text: field.help + notes(field.many && 'one or more', levelNote(field)),
  }));
}

export function optionEntries(fields: Fields): HelpEntry[] {
  return Object.entries(fields)
    .filter(([, field]) => !field.hidden)
    .map(([name, field]) => ({ term: optionTerm(name, field), text: optionText(field) }));
}

/** The options that no table has: they print a text and end. */
export const textOptions: readonly HelpEntry[] = [
  { term: '-h, --help', text: 'Help of the command' },
  { term: '-V, --version', text: 'The version' },
];

function optionTerm(name: string, field: Field): string {
  const flag = flagOf(name, field);
  const short = field.short === undefined ? '' : `-${field.short}, `;
  if (field.kind === 'string' && field.negatable) return `--${flag} ${placeholderOf(name, field)}, --no-${flag}`;
  if (field.kind !== 'boolean') return `${short}--${flag} ${placeholderOf(name, field)}`;
  return field.negatable ? `${short}--[no-]${flag}` : `${short}--${flag}`;
}

function placeholderOf(name: string, field: Field): string {
  return field.placeholder ?? (flagOf(name, field).split('-').at(-1) ?? name).toUpperCase();
}

function optionText(field: Field): string {
  return field.help + notes(field.required && 'required', field.many && 'repeatable', levelNote(field));
}

function levelNote({ level }: Field): string | undefined {
  return level === undefined ? undefined : `from feature level ${level}`;
}

/** What is known besides, in one pair of brackets. */
function notes(...all: readonly (string | false | undefined)[]): string {
  const known = all.filter((note) => typeof note === 'string');
  return known.length > 0 ? ` (${known.join(', ')})` : '';
}
