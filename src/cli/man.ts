import type { AnyCommand } from '../commands/command.ts';
import type { CommandEntry } from '../commands/index.ts';
import { argumentEntries, optionEntries, synopsis } from './entries.ts';
import { chapters } from './manual/chapters.ts';
import { exitStatus, programChapters, siblings } from './manual/program.ts';
import { failuresOf } from './manual/exits.ts';
import { writePage, type Chapter, type Edition } from './manual/roff.ts';

export interface ManualFile {
  /** Such as `chatelaine-license-create.1`. */
  readonly file: string;
  readonly text: string;
}

/** Every page of the manual: the program's, and one for each command. */
export async function manualFiles(table: readonly CommandEntry[], edition: Edition): Promise<ManualFile[]> {
  const summary = 'license keys and team chat from one command line';
  const program = { name: 'chatelaine', summary, chapters: programChapters(table) };
  const commands = await Promise.all(table.map(async ({ load }) => commandPage(await load(), table)));
  return [program, ...commands].map((page) => ({ file: `${page.name}.1`, text: writePage(page, edition) }));
}

function commandPage(command: AnyCommand, table: readonly CommandEntry[]): Parameters<typeof writePage>[0] {
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
    exitStatus(failuresOf(command.name)),
    { title: 'SEE ALSO', blocks: [{ text: siblings(command.name, table) }] },
  ];
  const name = `chatelaine-${command.name.replaceAll(' ', '-')}`;
  return { name, summary: command.summary, chapters: all.filter((chapter) => chapter !== undefined) };
}

const globalsToo =
  'The options of every command, such as -o FORMAT, --profile NAME and --sandbox, are in chatelaine(1).';
