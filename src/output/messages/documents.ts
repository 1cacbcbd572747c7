import type { Formatter, Presentation, Show } from '../presentation.ts';
import type { PageForm } from './page.ts';
import type { PageHead } from './page-shell.ts';

export const documentFormats = ['ndjson', 'csv', 'markdown', 'text', 'html'] as const;
export type DocumentFormat = (typeof documentFormats)[number];

/** The user's choices about a document: `fields`, `header` and `csv_safe` are of csv. */
interface DocumentOptions {
  readonly fields?: string;
  readonly header?: boolean;
  readonly csv_safe?: Presentation['csvSafe'];
}

/** The form of one HTML page; its module, and with it the sanitizer, is loaded only now. */
export async function pageForm(head: PageHead, listed?: (line: string) => void): Promise<PageForm> {
  return (await import('./page.ts')).page(head, listed);
}

/** The form that writes messages as a document; its module, and with it a library, is loaded only now. */
export async function documentForm(
  format: Exclude<DocumentFormat, 'ndjson'>,
  head: PageHead,
  { fields: names, header = true, csv_safe: csvSafe = false }: DocumentOptions,
  show: Show<unknown>,
): Promise<Formatter> {
  const fields = names?.split(',').map((name) => name.trim());
  switch (format) {
    case 'csv': {
      const text = csvSafe ? (await import('./conversation.ts')).messageText() : undefined;
      return (await import('../csv.ts')).csv({ show, terminal: false, fields, header, csvSafe }, text);
    }
    case 'markdown':
      return (await import('./markdown.ts')).markdown(head);
    case 'text':
      return (await import('./conversation.ts')).conversation({ width: 0, color: false, links: head.links });
    case 'html':
      return pageForm(head);
  }
}
