import type { Formatter, Show } from '../presentation.ts';
import type { PageForm } from './page.ts';
import type { PageHead } from './page-shell.ts';

export const documentFormats = ['ndjson', 'csv', 'text', 'html'] as const;
export type DocumentFormat = (typeof documentFormats)[number];

/** The user's choices about a document of csv. */
interface DocumentOptions {
  readonly fields?: string;
  readonly header?: boolean;
}

/** The form of one HTML page; its module, and with it the sanitizer, is loaded only now. */
export async function pageForm(head: PageHead): Promise<PageForm> {
  return (await import('./page.ts')).page(head);
}

/** The form that writes messages as a document; its module, and with it a library, is loaded only now. */
export async function documentForm(
  format: Exclude<DocumentFormat, 'ndjson'>,
  head: PageHead,
  { fields: names, header = true }: DocumentOptions,
  show: Show<unknown>,
): Promise<Formatter> {
  const choices = { show, terminal: false, header, fields: names?.split(',').map((name) => name.trim()) };
  switch (format) {
    case 'csv':
      return (await import('../csv.ts')).csv(choices);
    case 'text':
      return (await import('./conversation.ts')).conversation({ width: 0, color: false, links: head.links });
    case 'html':
      return pageForm(head);
  }
}
