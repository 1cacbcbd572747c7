import type { MessageSelection } from '../../jobs/messages/selection.ts';
import type { Fields, Values } from '../../schema/field.ts';
import { messageParameters } from '../../schema/messages.ts';
import { narrowOperators } from '../../schema/narrow.ts';
import type { TimeReading } from '../typed-time.ts';
import { narrowOf } from './narrow.ts';
import { rangeOf, rangeOptions } from './range.ts';

const { apply_markdown: _, ...parameters } = messageParameters;

/** The options that select messages: a command that takes a selection spreads them into its own. */
export const selectionOptions = {
  ...narrowOperators,
  not: {
    kind: 'string',
    many: true,
    placeholder: 'OPERATOR=VALUE',
    suggest: 'terms',
    help: 'Leave these out, as in --not sender=bot@example.com',
  },
  ...parameters,
  ...rangeOptions,
  raw_content: { kind: 'boolean', help: 'The Markdown source in place of HTML' },
} as const satisfies Fields;

export type SelectionValues = Values<typeof selectionOptions>;

/**
 * The typed values as one selection.
 * @throws Failure usage
 */
export function selectionOf(values: SelectionValues, context: TimeReading): MessageSelection {
  const { not = [], narrow, raw_content, client_gravatar, allow_empty_topic_name } = values;
  return {
    narrow: narrowOf(values, not, narrow),
    form: { client_gravatar, allow_empty_topic_name, apply_markdown: raw_content ? false : undefined },
    range: rangeOf(values, context),
  };
}
