import type { Block, Chapter } from './roff.ts';

/** A chapter of a file in man. */
export interface WrittenChapter extends Chapter {
  /** Commands on whose pages it is; the comment `pages` below its heading names them. */
  readonly pages: readonly string[];
}

/** Blank lines part the pieces of a text; a block of code is one piece, with its blank lines. */
const pieces = /^```(?<info>.*)\n(?<code>[^]*?)^```$|^(?:(?!```).+\n?)+/gm;

/** Beginnings that would mean something else in Markdown, and marks that roff would show unchanged. */
const foreign = /^(?:#|<|>|\||[*+] |\d+\. | {4})|\*\*|\]\(/;

/**
 * The chapters of a text in the Markdown of man: `## ` begins a chapter, `### ` is a heading inside one;
 * paragraphs, lists of `- **term**: text`, and blocks of code, whose first line says what they are: `sh` is run by a
 * test, `text` is not. In place of a comment `<!-- table: settings -->` is what `tables` returns for it, in place of
 * `<!-- chapter: Never two -->` the text of that chapter, of this file or of `others`. Throws an Error on anything
 * else.
 */
export function readChapters(
  text: string,
  tables: (name: string) => readonly Block[],
  others: readonly WrittenChapter[] = [],
): WrittenChapter[] {
  const chapters: { title: string; pages: string[]; blocks: Block[] }[] = [];
  const blocksOf = (wanted: string): readonly Block[] => {
    const found = [...others, ...chapters].find(({ title }) => title === wanted);
    if (!found) throw new Error(`there is no chapter ${wanted}`);
    return found.blocks;
  };
  for (const { 0: piece, groups: { info, code = '' } = {} } of text.matchAll(pieces)) {
    const title = /^## (.+)\n?$/.exec(piece)?.[1];
    const chapter = chapters.at(-1);
    const [, comment = '', named = ''] = /^<!-- (\w+): (.+) -->\n?$/.exec(piece) ?? [];
    if (title !== undefined) chapters.push({ title, pages: [], blocks: [] });
    else if (info !== undefined) chapter?.blocks.push(codeBlock(info, code.trimEnd().split('\n')));
    else if (comment === 'pages') chapter?.pages.push(...named.split(', '));
    else if (comment === 'table') chapter?.blocks.push(...tables(named));
    else if (comment === 'chapter') chapter?.blocks.push(...blocksOf(named));
    else if (!piece.startsWith('# ')) {
      // Also what is above the first chapter, and on no page, is read.
      const block = proseBlock(piece);
      chapter?.blocks.push(block);
    }
  }
  return chapters;
}

function codeBlock(info: string, lines: readonly string[]): Block {
  if (info === 'text') return { lines };
  if (info === 'sh') return { commands: lines };
  if (info === 'cron') return { workflow: 'cron', lines };
  if (info === 'yaml github') return { workflow: 'github', lines };
  if (info === 'yaml gitlab') return { workflow: 'gitlab', lines };
  throw new Error(`\`\`\`${info}: a block of code is text, sh, cron, yaml github or yaml gitlab`);
}

function proseBlock(piece: string): Block {
  const heading = /^### (.+)\n?$/.exec(piece)?.[1];
  if (heading !== undefined) return { heading: inline(heading) };
  return piece.startsWith('- ') ? { entries: piece.split(/^- /m).slice(1).map(entryOf) } : { text: inline(piece) };
}

function entryOf(item: string): { readonly term: string; readonly text: string } {
  const [, term = '', text = ''] = /^\*\*(.+?)\*\*: ([^]+)$/.exec(item) ?? [];
  if (term === '') throw new Error(`${item}: an item of a list is - **term**: text`);
  return { term: inline(term), text: inline(text) };
}

/** Lines are filled again by roff, and code is typed unchanged. */
function inline(text: string): string {
  if (foreign.test(text)) throw new Error(`${text}: the manual knows no such Markdown`);
  return text.trimEnd().replace(/\n\s*/g, ' ').replaceAll('`', '');
}
