import type { Fields } from './field.ts';

/** The level that brought saved snippets (docs/apis.md, Saved snippets). */
export const snippetLevel = 297;

/** DELETE /saved_snippets/{saved_snippet_id}. */
export const snippetFields = {
  saved_snippet_id: { kind: 'integer', required: true, min: 0, placeholder: 'ID', help: 'Id of the saved snippet' },
} as const satisfies Fields;
