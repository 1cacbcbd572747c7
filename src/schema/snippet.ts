import type { Fields } from './field.ts';

/** The level that brought saved snippets (docs/apis.md, Saved snippets). */
export const snippetLevel = 297;

/** Names a saved snippet. */
export const snippetFields = {
  id: { kind: 'integer', min: 0, help: 'Id of the saved snippet' },
  snippet: {
    kind: 'string',
    required: true,
    nonempty: true,
    placeholder: 'ID|TITLE',
    suggest: 'snippets',
    help: 'Id or title of the saved snippet',
  },
} as const satisfies Fields;
