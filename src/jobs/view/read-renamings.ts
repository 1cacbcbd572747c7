import type { ChatApi } from '../../api/chat/chat.ts';
import { usage } from '../../core/failure.ts';
import { collect } from '../../schema/field.ts';
import { readViewName } from '../../schema/view.ts';
import { readFragments, type SiteSource } from './named-views.ts';

export interface ViewRenaming {
  readonly fragment: string;
  readonly name: string;
}

type Pair = readonly [fragment: string, name: string];

/** @throws Failure usage naming every bad pair: a view or a name twice among them, since a name belongs to one view */
export async function readRenamings(
  words: readonly string[],
  chat: Pick<ChatApi, 'views'>,
  accounts: SiteSource,
): Promise<ViewRenaming[]> {
  const pairs = pairsOf(words);
  const texts = pairs.map(([text]) => text);
  const fragments = await readFragments(texts, chat, accounts);
  const seen = new Set<string>();
  const once = (key: string, problem: string): void => {
    if (seen.has(key)) throw usage(problem);
    seen.add(key);
  };
  return collect(pairs, ([, text], index) => {
    const fragment = fragments[index] ?? '';
    const name = readViewName(fragment, text);
    once(`fragment ${fragment}`, `fragment '${fragment}': given twice`);
    once(`name ${name}`, `the name '${name}' is given to two views`);
    return { fragment, name };
  });
}

function pairsOf(words: readonly string[]): readonly Pair[] {
  if (words.length % 2 > 0)
    throw usage(`FRAGMENT and NAME come in pairs; arguments: ${words.length}`, 'Quote a name that has blanks.');
  return Array.from({ length: words.length / 2 }, (_, index) => [words[index * 2] ?? '', words[index * 2 + 1] ?? '']);
}
