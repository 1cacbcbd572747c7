import { escaped, opening, type PageHead } from './page-shell.ts';

/** A page of a document of several. */
export interface IndexedPage {
  /** The name of its file. */
  readonly file: string;
  /** Messages in it. */
  readonly count: number;
  /** Days of its first and its last message, as 2026-03-01. */
  readonly first: string;
  readonly last: string;
  /** Each conversation with the name of its first message in the page. */
  readonly conversations: ReadonlyMap<string, string>;
}

/** The page that lists the others: their days, and every conversation with links to where it begins and continues. */
export function indexPage(head: Pick<PageHead, 'title' | 'notes' | 'warnings'>, pages: readonly IndexedPage[]): string {
  const list = pages.map(
    ({ file, count, first, last }) =>
      `<li><a href="${escaped(file)}">${first === last ? first : `${first} to ${last}`}</a> <small>${count} messages</small></li>`,
  );
  const items = [...placesOf(pages)].map(
    ([name, places]) => `<li><bdi>${escaped(name)}</bdi> <small>${places.join(' ')}</small></li>`,
  );
  const content = [
    '<p>Days are UTC. Search is in each page.</p></header>',
    '<main>',
    `<h2>Pages</h2><ul>${list.join('\n')}</ul>`,
    `<nav id="conversations"><h2>Conversations</h2><ul>${items.join('\n')}</ul></nav>`,
    '</main>',
    '</body>',
    '</html>',
  ];
  return opening(head, content);
}

/** For each conversation a link to its first message in each page that has some. */
function placesOf(pages: readonly IndexedPage[]): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const { file, first, conversations } of pages) {
    for (const [name, id] of conversations) {
      const link = `<a href="${escaped(file)}#${escaped(id)}">${first}</a>`;
      const known = places.get(name);
      if (known) known.push(link);
      else places.set(name, [link]);
    }
  }
  return places;
}
