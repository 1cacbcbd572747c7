import type { Block, ManualPage } from './roff.ts';

/** Every page as one document for a browser, the program's first. */
export function writeWeb(pages: readonly ManualPage[]): string {
  const sorted = [...pages].sort((one, other) => one.name.localeCompare(other.name));
  const links = sorted.map(({ name, section }) => `<li><a href="#${name}">${name}(${section})</a></li>`);
  const bodies = sorted.map(
    ({ name, section, summary, chapters }) =>
      `<h1 id="${name}">${name}(${section})</h1><p>${escaped(summary)}</p>` +
      chapters.map(({ title, blocks }) => `<h2>${escaped(title)}</h2>${blocks.map(blockOf).join('\n')}`).join('\n'),
  );
  const head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>chatelaine: manual</title>';
  return `${head}\n<ul>${links.join('')}</ul>\n${bodies.join('\n')}\n</html>\n`;
}

function blockOf(block: Block): string {
  if ('text' in block) return `<p>${escaped(block.text)}</p>`;
  if ('heading' in block) return `<h3>${escaped(block.heading)}</h3>`;
  if ('entries' in block)
    return `<dl>${block.entries.map(({ term, text }) => `<dt>${escaped(term)}</dt><dd>${escaped(text)}</dd>`).join('')}</dl>`;
  return `<pre>${escaped(('commands' in block ? block.commands : block.lines).join('\n'))}</pre>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
