import type { AnyCommand } from '../commands/command.ts';
import { nouns, type CommandEntry } from '../commands/index.ts';
import { globalOptions } from '../spec/environment.ts';
import { flagOf, type Field, type Fields } from '../spec/field.ts';

/** One line of a list in help and manual: what is typed, and what it means. */
export interface Entry {
  readonly term: string;
  readonly text: string;
}

/** Text of `chatelaine --help`. */
export function programHelp(table: readonly CommandEntry[]): string {
  return sections([
    ['', ['chatelaine: license keys and team chat from one command line']],
    ['Usage', ['chatelaine COMMAND [OPTION…]']],
    ['Commands', entryLines(table.map(({ name, summary }) => ({ term: name, text: summary })))],
    ['Options of every command', entryLines(optionEntries(globalOptions))],
    [
      'Try it',
      ['chatelaine --sandbox license create --remote-user ada --size-allowance 4', 'chatelaine COMMAND --help'],
    ],
  ]);
}

/** Text of `chatelaine NOUN --help`. */
export function nounHelp(noun: string, table: readonly CommandEntry[]): string {
  const own = table.filter(({ name }) => name.startsWith(`${noun} `));
  return sections([
    ['', [nouns[noun] ?? noun]],
    ['Usage', [`chatelaine ${noun} COMMAND [OPTION…]`]],
    ['Commands', entryLines(own.map(({ name, summary }) => ({ term: name, text: summary })))],
    ['More', [`chatelaine ${noun} COMMAND --help`]],
  ]);
}

/** Text of `chatelaine NOUN VERB --help`. */
export function commandHelp(command: AnyCommand): string {
  const args = argumentEntries(command.args ?? {});
  const options = optionEntries(command.options ?? {});
  return sections([
    ['', [command.summary, ...(command.about ?? []).flatMap((paragraph) => ['', ...wrap(paragraph, 100)])]],
    ['Usage', [synopsis(command)]],
    ...(args.length > 0 ? [['Arguments', entryLines(args)] as const] : []),
    ...(options.length > 0 ? [['Options', entryLines(options)] as const] : []),
    ['Examples', command.examples],
    ['More', [`Options of every command (-o FORMAT, --profile NAME, --sandbox, …): chatelaine --help`]],
  ]);
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

export function argumentEntries(fields: Fields): Entry[] {
  return Object.entries(fields).map(([name, field]) => ({
    term: field.placeholder ?? name.toUpperCase(),
    text: field.help,
  }));
}

export function optionEntries(fields: Fields): Entry[] {
  return Object.entries(fields)
    .filter(([, field]) => !field.hidden)
    .map(([name, field]) => ({ term: optionTerm(name, field), text: optionText(field) }));
}

function optionTerm(name: string, field: Field): string {
  const flag = flagOf(name, field);
  const short = field.short === undefined ? '' : `-${field.short}, `;
  if (field.kind !== 'boolean') return `${short}--${flag} ${placeholderOf(name, field)}`;
  return field.negatable ? `${short}--${flag}, --no-${flag}` : `${short}--${flag}`;
}

function placeholderOf(name: string, field: Field): string {
  return field.placeholder ?? (flagOf(name, field).split('-').at(-1) ?? name).toUpperCase();
}

function optionText(field: Field): string {
  const required = field.required ? ' (required)' : '';
  const many = field.many ? ' (repeatable)' : '';
  const level = field.level === undefined ? '' : ` (from feature level ${field.level})`;
  return `${field.help}${required}${many}${level}`;
}

const termWidth = 30;
const textWidth = 88;

function entryLines(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ term, text }) => {
    const [first = '', ...rest] = wrap(text, textWidth);
    const indent = ' '.repeat(termWidth + 2);
    if (term.length > termWidth) return [term, indent + first, ...rest.map((line) => indent + line)];
    return [`${term.padEnd(termWidth)}  ${first}`, ...rest.map((line) => indent + line)];
  });
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

function sections(parts: readonly (readonly [title: string, lines: readonly string[]])[]): string {
  const texts = parts.map(([title, lines]) =>
    title === '' ? lines.join('\n') : `${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );
  return `${texts.join('\n\n')}\n`;
}
