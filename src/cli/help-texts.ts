import { commandTable, nouns } from '../commands/index.ts';
import { commandHelp, nounHelp, programHelp } from './help.ts';

/** Every text of help, at most `width` characters wide, under the words of its command; the program's under ''. */
export async function helpTexts(width: number): Promise<ReadonlyMap<string, string>> {
  const texts = new Map([['', programHelp(commandTable, width)]]);
  for (const noun of Object.keys(nouns)) texts.set(noun, nounHelp(noun, commandTable, width));
  for (const { name, load } of commandTable) texts.set(name, commandHelp(await load(), width));
  return texts;
}
