import { textField, type Fields } from './field.ts';

/** The level that brought saved snippets (docs/apis.md, Saved snippets). */
export const snippetLevel = 297;

export const snippetFields = {
  id: { kind: 'integer', min: 0, help: 'Id of the saved snippet' },
  snippet: { ...textField('ID|TITLE', 'Id or title of the saved snippet'), required: true },
} as const satisfies Fields;
