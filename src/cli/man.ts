import type { AnyCommand } from '../commands/command.ts';
import type { CommandEntry } from '../commands/index.ts';
import { argumentEntries, optionEntries, synopsis } from './entries.ts';
import { chapters } from './manual/chapters.ts';
import { exitStatus, programChapters, siblings } from './manual/program.ts';
import { failuresOf } from './manual/exits.ts';
import { guides } from './manual/guides.ts';
import { placesOf } from './manual/places.ts';
import { writePage, type Chapter, type Edition, type ManualPage } from './manual/roff.ts';

export interface ManualFile {
  /** Such as `chatelaine-license-create.1`. */
  readonly file: string;
  readonly text: string;
}

/** Every page of the manual, written. */
export async function manualFiles(table: readonly CommandEntry[], edition: Edition): Promise<ManualFile[]> {
  const pages = await manualPages(table);
  return pages.map((page) => ({ file: `${page.name}.${page.section}`, text: writePage(page, edition) }));
}

/** The program's page, one for each command, and the guides. */
export async function manualPages(table: readonly CommandEntry[]): Promise<ManualPage[]> {
  const summary = 'license keys and team chat from one command line';
  const references = guides.map(({ name, section }) => `${name}(${section})`);
  const program = { section: 1 as const, name: 'chatelaine', summary, chapters: programChapters(table, references) };
  const commands = await Promise.all(table.map(async ({ load }) => commandPage(await load(), table)));
  return [program, ...commands, ...guides];
}

function commandPage(command: AnyCommand, table: readonly CommandEntry[]): ManualPage {
  const args = argumentEntries(command.args ?? {});
  const options = optionEntries(command.options ?? {});
  const about = command.about ?? [];
  const all: readonly (Chapter | undefined)[] = [
    { title: 'SYNOPSIS', blocks: [{ lines: [synopsis(command)] }] },
    { title: 'EXAMPLES', blocks: [{ lines: command.examples }] },
    { title: 'DESCRIPTION', blocks: [`${command.summary}.`, ...about].map((text) => ({ text })) },
    args.length > 0 ? { title: 'ARGUMENTS', blocks: [{ entries: args }] } : undefined,
    command.input ? { title: command.input.title.toUpperCase(), blocks: [{ lines: command.input.lines }] } : undefined,
    { title: 'OPTIONS', blocks: [...(options.length > 0 ? [{ entries: options }] : []), { text: globalsToo }] },
    ...(chapters[command.name] ?? []),
    ...placesOf(command.name),
    exitStatus(failuresOf(command.name)),
    { title: 'SEE ALSO', blocks: [{ text: siblings(command.name, table) }] },
  ];
  const name = `chatelaine-${command.name.replaceAll(' ', '-')}`;
  return { section: 1, name, summary: command.summary, chapters: all.filter((chapter) => chapter !== undefined) };
}

const globalsToo =
  'The options of every command, such as -o FORMAT, --profile NAME and --sandbox, are in chatelaine(1).';
