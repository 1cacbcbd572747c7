import type { AnyCommand } from '../commands/command.ts';
import { commandTable, nouns, type CommandEntry } from '../commands/index.ts';
import { failures, success } from '../core/failure.ts';
import { globalOptions } from '../commands/environment.ts';
import { wrap } from '../output/plain.ts';
import { licenseRules } from '../schema/license.ts';
import { flagOf, type Field, type Fields } from '../schema/field.ts';

/** The guides that `chatelaine help` names; scripts/manual/pages.ts has their texts, and a few more. */
const guides = 'sheets, ci, never-two, handing-over, undo, exit-codes, environment';

const firstCommands =
  'auth login, license ensure, license apply, license list, license retire, license undo, archive pull, topic delete';

/** Text of `chatelaine --help`, at most `width` characters wide: 24 lines on a terminal of 80 columns. */
export function programHelp(width: number): string {
  const first = firstCommands.split(', ').flatMap((name) => commandTable.find((entry) => entry.name === name) ?? []);
  // Nouns that few people need are in the line of the others.
  const { sandbox: _sandbox, api: _api, ...shown } = nouns;
  const isSingle = (name: string): boolean => !name.includes(' ') && !Object.hasOwn(nouns, name);
  const singleCommands = commandTable.map(({ name }) => name).filter(isSingle);
  const rows = [
    ...Object.entries(shown).map(([term, text]) => ({ term, text })),
    { term: 'others', text: ['sandbox', 'api', ...singleCommands].join(', ') },
    { term: 'guides', text: `help ${guides}` },
  ];
  const head = 'License keys and team chat. --sandbox needs no account; NOUN --help says more.';
  const entries = first.map(({ name, summary }) => ({ term: `chatelaine ${name}`, text: summary }));
  return `${[...wrap(head, width), ...entryLines(entries, width, 26), '', ...entryLines(rows, width, nounWidth)].join('\n')}\n`;
}

/** Every text of help by the words of its command; the program's under ''. */
export async function helpTexts(width: number): Promise<ReadonlyMap<string, string>> {
  const texts = new Map([['', programHelp(width)]]);
  for (const noun of Object.keys(nouns)) texts.set(noun, nounHelp(noun, width));
  for (const { name, load } of commandTable) texts.set(name, commandHelp(await load(), width));
  return texts;
}

const nounWidth = 18;

const exits = Object.values({ success, ...failures }).map(({ exit, means: text }) => ({ term: String(exit), text }));

export function optionsHelp(width: number): string {
  return sections([
    ['Options of every command', entryLines([...optionEntries(globalOptions), ...textOptions], width)],
    ['', wrap(twins, width)],
    ['Exit codes', entryLines(exits, width, 3)],
    ['More', ['chatelaine help exit-codes (what to do after each of them), man chatelaine']],
  ]);
}

export function nounHelp(noun: string, width: number): string {
  const nounCommands = commandTable.filter(({ name }) => name.startsWith(`${noun} `));
  const [first] = nounCommands;
  return sections([
    ['', wrap(nouns[noun] ?? noun, width)],
    ...(noun === 'license' ? [['', wrap(licenseRules, width)] as const] : []),
    ['Usage', [`chatelaine ${noun} COMMAND [OPTION…]`]],
    ['Commands', entryLines(nounCommands.map(commandEntry), width)],
    ['More', [`chatelaine ${first?.name ?? noun} --help`, 'chatelaine --help']],
  ]);
}

export function commandHelp(command: AnyCommand, width: number): string {
  const args = argumentEntries(command.args ?? {});
  const all = Object.entries(command.options ?? {});
  const listed = all.filter(([, { see }]) => see === undefined);
  const options = optionEntries(Object.fromEntries(listed.filter(([, { rare }]) => rare === undefined)));
  const [other] = all.flatMap(([, { see }]) => see ?? []);
  const common = all.flatMap((row) => (row[1].see === undefined ? [] : `--${flagOf(...row)}`)).join(', ');
  const below = commandTable.filter(({ name }) => name.startsWith(`${command.name} `));
  return sections([
    ['', wrap(command.summary, width)],
    ['Usage', wrap(synopsis(command), width - indent)],
    ['Examples', command.examples.slice(0, 3).flatMap((example) => exampleLines(example, width))],
    ...(below.length > 0 ? [['Commands', entryLines(below.map(commandEntry), width)] as const] : []),
    // The paragraphs precede the options, which may be many and shared with other commands.
    ...(command.about ?? []).map((paragraph) => ['', wrap(paragraph, width)] as const),
    ...(args.length > 0 ? [['Arguments', entryLines(args, width)] as const] : []),
    ...(options.length > 0 ? [['Options', entryLines(options, width)] as const] : []),
    ...rareOptions(listed, width),
    ...(command.input ? [[command.input.title, command.input.lines] as const] : []),
    ...(other === undefined
      ? []
      : [[`Options of ${other}`, wrap(`${common}: see chatelaine ${other} --help`, width - indent)] as const]),
    [
      'More',
      [
        'chatelaine help options (-o FORMAT, -q, -n, --profile NAME, --sandbox …)',
        `man chatelaine-${command.name.replaceAll(' ', '-')}`,
      ].flatMap((line) => wrap(line, width - indent)),
    ],
  ]);
}

/** One paragraph with the names of the options that few need, by the guides that explain them. */
function rareOptions(options: readonly (readonly [string, Field])[], width: number) {
  const guides = new Set(options.flatMap(([, { rare }]) => rare ?? []));
  const lines = [...guides].map((guide) => {
    const names = options.flatMap(([name, field]) => (field.rare === guide ? `--${flagOf(name, field)}` : []));
    return `${names.join(', ')}: chatelaine help ${guide}`;
  });
  if (lines.length === 0) return [];
  return [['Less common options', lines.flatMap((line) => wrap(line, width - indent))] as const];
}

/** The sentence about options in the environment, for help and manual. */
export const twins =
  'Each of these can also be set in the environment, as in CHATELAINE_OUTPUT=json or CHATELAINE_NO_INPUT=1, except --yes.';

function commandEntry({ name, summary }: CommandEntry): HelpEntry {
  return { term: name, text: summary };
}

/** The width of help in characters, at most 80: wider lines are hard to read. `columns`: those of the terminal. */
export function helpWidth(columns: number | undefined): number {
  return columns === undefined ? 80 : Math.max(40, Math.min(columns, 80));
}

const indent = 2;
const usualTermWidth = 24;
/** A text that would have less room beside its term goes below it. */
const leastText = 30;

function entryLines(entries: readonly HelpEntry[], width: number, termWidth = usualTermWidth): string[] {
  const isBeside = width - 2 * indent - termWidth >= leastText;
  const margin = ' '.repeat(isBeside ? termWidth + indent : 2 * indent);
  return entries.flatMap(({ term, text }) => {
    const [first = '', ...rest] = wrap(text, width - indent - margin.length);
    const isBelow = !isBeside || term.length > termWidth;
    const begin = isBelow
      ? [...wrap(term, width - indent), margin + first]
      : [`${term.padEnd(termWidth + indent)}${first}`];
    return [...begin, ...rest.map((line) => margin + line)];
  });
}

/** A long example continues in a second line, as a shell reads it. */
function exampleLines(example: string, width: number): string[] {
  if (example.length <= width - indent) return [example];
  const [first = '', ...rest] = wrap(example.replaceAll(/ (?!--|\|)/g, '\u00a0'), width - indent - 2);
  const lines = [first, ...rest.map((line) => `  ${line}`)].map((line) => line.replaceAll('\u00a0', ' '));
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}

function sections(parts: readonly (readonly [title: string, lines: readonly string[]])[]): string {
  const texts = parts.map(([title, lines]) =>
    title === '' ? lines.join('\n') : `${title}:\n${lines.map((line) => ' '.repeat(indent) + line).join('\n')}`,
  );
  return `${texts.join('\n\n')}\n`;
}

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
    .map(([name, field]) => ({
      term: optionTerm(name, field),
      text: field.help + notes(field.required && 'required', field.many && 'repeatable', levelNote(field)),
    }));
}

/** The options that are in no table: they print a text and end the program. */
export const textOptions: readonly HelpEntry[] = [
  { term: '-h, --help', text: 'Show help' },
  { term: '-V, --version', text: 'Show the version' },
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

function levelNote({ level }: Field): string | undefined {
  return level === undefined ? undefined : `from feature level ${level}`;
}

function notes(...all: readonly (string | false | undefined)[]): string {
  const details = all.filter((note) => typeof note === 'string');
  return details.length > 0 ? ` (${details.join(', ')})` : '';
}
