import { wrap } from '../../src/output/plain.ts';
import type { Block, Chapter, ManualPage } from './roff.ts';

const width = 76;

/** A page, or some chapters of it, as plain text for a terminal of 80 columns. */
export function writeText({ name, section, summary, chapters }: ManualPage, titles?: readonly string[]): string {
  const shown = titles === undefined ? chapters : chapters.filter(({ title }) => titles.includes(title));
  const head = `${name}(${section}): ${summary}`;
  return `${[head, ...shown.map(chapterText)].join('\n\n')}\n`;
}

function chapterText({ title, blocks }: Chapter): string {
  return [
    title.toUpperCase(),
    ...blocks.map((block) =>
      linesOf(block)
        .map((line) => `  ${line}`.trimEnd())
        .join('\n'),
    ),
  ].join('\n\n');
}

function linesOf(block: Block): readonly string[] {
  if ('text' in block) return wrap(block.text, width);
  if ('heading' in block) return [block.heading];
  if ('entries' in block)
    return block.entries.flatMap(({ term, text }) => [term, ...wrap(text, width - 4).map((line) => `    ${line}`)]);
  return 'commands' in block ? block.commands.map((line) => `  ${line}`) : block.lines.map((line) => `  ${line}`);
}
