import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argumentEntries, optionEntries, synopsis, type HelpEntry } from '../../src/cli/help.ts';
import type { AnyCommand } from '../../src/commands/command.ts';
import { commandTable } from '../../src/commands/index.ts';
import { failuresOf } from './exits.ts';
import { fieldsChapter } from './fields.ts';
import { readChapters, type WrittenChapter } from './markdown.ts';
import { placesOf } from './places.ts';
import { writePage, type Block, type Chapter, type ManualPage } from './roff.ts';
import { writeText } from './text.ts';
import { writeWeb } from './web.ts';
import { exitEntries, pageName, references, siblings, tables } from './tables.ts';

/** The texts of the pages that are in no table. */
const folder = 'man';
/** The day on which the pages were read as a whole, RFC 3339; today's would make them stale every midnight. */
const date = '2026-11-21';

export interface ManualFile {
  /** Such as `chatelaine-license-create.1`. */
  readonly file: string;
  readonly text: string;
}

/**
 * Every page of the manual, written, with the version of package.json. The working folder is that of the repository.
 */
export async function manualFiles(): Promise<ManualFile[]> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const pages = await manualPages();
  return pages.map((page) => ({ file: `${page.name}.${page.section}`, text: writePage(page, { version, date }) }));
}

/** The manual as one page for a browser. */
export async function manualWeb(): Promise<string> {
  return writeWeb(await manualPages());
}

/** The pages and chapters that `chatelaine help WORD` shows; src/cli/help.ts names the guides. */
const guides: Readonly<Record<string, readonly [page: string, ...chapters: string[]]>> = {
  sheets: ['chatelaine-sheets'],
  ci: ['chatelaine-scripting', 'GitHub Actions', 'GitLab CI'],
  cron: ['chatelaine-scripting', 'Cron', 'Nightly backup'],
  containers: ['chatelaine-scripting', 'In a container'],
  scripting: ['chatelaine-scripting'],
  recipes: ['chatelaine-scripting'],
  examples: ['chatelaine-scripting'],
  retention: ['chatelaine-scripting', 'Two years, and no longer'],
  fetching: ['chatelaine-fetching'],
  'never-two': ['chatelaine-never-two'],
  'handing-over': ['chatelaine-handing-over'],
  undo: ['chatelaine-license-undo', 'Putting things back'],
  'exit-codes': ['chatelaine-exit-codes'],
  environment: ['chatelaine', 'Environment', 'Files'],
  accessibility: ['chatelaine', 'Screen readers', 'Output'],
  stability: ['chatelaine-stability'],
};

/** The texts of `chatelaine help WORD`, by word. */
export async function guideTexts(): Promise<Readonly<Record<string, string>>> {
  const pages = await manualPages();
  const texts = Object.entries(guides).map(([word, [name, ...chapters]]) => {
    const page = pages.find((one) => one.name === name);
    if (!page) throw new Error(`there is no page ${name}`);
    return [word, writeText(page, chapters.length > 0 ? chapters : undefined)] as const;
  });
  return Object.fromEntries(texts);
}

/** A page for each command, and one for each file of man that begins with the name of a page. */
export async function manualPages(): Promise<ManualPage[]> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  const texts = names.map((name) => readFileSync(join(folder, name), 'utf8'));
  const titled = texts.flatMap((text) => {
    const [, name = '', section, summary = ''] = /^# (\S+)\(([17])\): (.+)$/m.exec(text) ?? [];
    return name === '' ? [] : [{ name, section: section === '1' ? (1 as const) : (7 as const), summary, text }];
  });
  const commands = await Promise.all(commandTable.map(({ load }) => load()));
  const guides = titled.filter(({ section }) => section === 7).map(({ name }) => `${name}(7)`);
  const tableOf = (name: string): readonly Block[] => {
    if (name === 'every page') return [{ text: [...references(commandTable), ...guides].join(', ') }];
    const [, guide] = /^options of help (\S+)$/.exec(name) ?? [];
    if (guide !== undefined) return [{ entries: rareEntries(commands, guide) }];
    const rows = tables[name];
    if (!rows) throw new Error(`there is no table ${name}`);
    return rows();
  };
  const shared = texts.filter((text) => text.includes('\n<!-- pages: ')).flatMap((text) => readChapters(text, tableOf));
  const written = titled.map(({ text, ...page }) => ({ ...page, chapters: readChapters(text, tableOf, shared) }));
  return [...written, ...commands.map((command) => commandPage(command, shared))];
}

/** The options that the guide explains, each once. */
function rareEntries(commands: readonly AnyCommand[], guide: string): HelpEntry[] {
  const rows = commands.flatMap(({ options = {} }) => Object.entries(options).filter(([, { rare }]) => rare === guide));
  return optionEntries(Object.fromEntries(rows));
}

function commandPage(command: AnyCommand, chapters: readonly WrittenChapter[]): ManualPage {
  const { name, summary, args = {}, options = {}, about = [], input, examples } = command;
  const [argumentRows, optionRows] = [argumentEntries(args), optionEntries(options)];
  const all: readonly (Chapter | undefined)[] = [
    { title: 'Synopsis', blocks: [{ lines: [synopsis(command)] }] },
    { title: 'Examples', blocks: [{ lines: examples }] },
    { title: 'Description', blocks: [`${summary}.`, ...about].map((text) => ({ text })) },
    argumentRows.length > 0 ? { title: 'Arguments', blocks: [{ entries: argumentRows }] } : undefined,
    input ? { title: input.title, blocks: [{ lines: input.lines }] } : undefined,
    { title: 'Options', blocks: [...(optionRows.length > 0 ? [{ entries: optionRows }] : []), { text: globalsToo }] },
    ...chapters.filter(({ pages }) => pages.includes(name)),
    fieldsChapter(command),
    ...placesOf(name),
    { title: 'Exit status', blocks: [{ entries: exitEntries(failuresOf(name)) }] },
    { title: 'See also', blocks: [{ text: siblings(name).join(', ') }] },
  ];
  return { section: 1, name: pageName(name), summary, chapters: all.filter((chapter) => chapter !== undefined) };
}

const globalsToo =
  'The options of every command, such as -o FORMAT, --profile NAME and --sandbox, are in chatelaine(1).';
