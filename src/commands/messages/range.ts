import { usage } from '../../core/failure.ts';
import type { Range } from '../../jobs/messages/selection.ts';
import { anchorWords, exclusions, maxMessages, messageParameters, type MessageValues } from '../../schema/messages.ts';
import { countField, flagField, textField, flagOf, type Fields, type Values } from '../../schema/field.ts';
import { spanOf, type TimeParts } from '../typed-time.ts';

export const rangeOptions = {
  since: textField(
    'TIME',
    "From this time on: yesterday, thursday, 2026-03-01, 'today 09:30', 2026-03-01T08:00:00Z, or 12h, 2w, 3mo ago",
  ),
  until: textField('TIME', 'Before this time'),
  limit: countField('N', 'Maximum number of messages (default: 100)'),
  all: flagField('Every message that matches, in pages of 1000'),
} as const satisfies Fields;

type RangeValues = Omit<MessageValues, 'narrow' | 'apply_markdown'> & Values<typeof rangeOptions>;

/** Messages that a fetch without any option of a range shows. */
const plainLimit = 100;

/** The range of the options (docs/apis.md, Paging). @throws Failure usage for each exclusion and limit of the API */
export function rangeOf(values: RangeValues, context: TimeParts): Range {
  checkExclusions(values);
  if (values.use_first_unread_anchor)
    context.note('use_first_unread_anchor is deprecated: --anchor first_unread was sent');
  if (values.message_ids !== undefined) return { kind: 'ids', ids: readIds(values.message_ids) };
  if (values.since !== undefined || values.until !== undefined)
    return { kind: 'times', ...spanOf(values, context), limit: values.limit };
  const anchor = values.use_first_unread_anchor ? 'first_unread' : values.anchor && readAnchor(values.anchor);
  const inclusion = values.include_anchor === undefined ? {} : { include_anchor: values.include_anchor };
  if (values.num_before !== undefined || values.num_after !== undefined) {
    const { num_before = 0, num_after = 0 } = values;
    checkCounts(num_before, num_after, values.include_anchor);
    if (anchor === undefined && num_after > 0 && num_before === 0)
      throw usage(
        '--num-after alone starts at the newest message, and nothing is after that',
        'Add --anchor first_unread, --anchor oldest or --anchor ID; the newest ones are --num-before N.',
      );
    return { kind: 'request', anchor: anchor ?? 'newest', num_before, num_after, ...inclusion };
  }
  // Everything up to the newest message is everything.
  if (values.all) return { kind: 'pages', anchor: anchor === 'newest' ? 'oldest' : (anchor ?? 'oldest'), ...inclusion };
  const limit = values.limit ?? plainLimit;
  if (anchor === undefined || anchor === 'newest') return { kind: 'newest', limit };
  return { kind: 'pages', anchor, limit, ...inclusion };
}

function checkExclusions(values: RangeValues): void {
  const typed = new Map<string, unknown>(Object.entries(values));
  const given = (name: string): boolean => typed.get(name) !== undefined;
  const clashes = exclusions.flatMap(({ one, others }) =>
    given(one) ? others.filter(given).map((other) => `${flag(one)} and ${flag(other)} exclude each other`) : [],
  );
  const counted = given('num_before') || given('num_after');
  const modes = (['limit', 'all', 'message_ids'] as const)
    .filter(given)
    .map((name) => (name === 'message_ids' ? '--ids' : `--${name}`));
  if (counted && modes.length > 0 && !given('message_ids'))
    clashes.push(`--num-before and --num-after exclude ${modes.join(' and ')}`);
  if (modes.length > 1) clashes.push(`${modes.join(' and ')} exclude each other`);
  const times = (['since', 'until'] as const).filter(given).map((name) => `--${name}`);
  const places = placing.filter(given).map((name) => flag(name));
  if (times.length > 0 && places.length > 0)
    clashes.push(`${times.join(' and ')} exclude${times.length === 1 ? 's' : ''} ${places.join(', ')}`);
  if (clashes.length > 0) throw usage(clashes);
}

/** Parameters that say where a range begins or which messages it holds, as --since and --until do. */
const placing = [
  'anchor',
  'include_anchor',
  'num_before',
  'num_after',
  'message_ids',
  'use_first_unread_anchor',
] as const;

function flag(name: keyof typeof messageParameters): string {
  return `--${flagOf(name, messageParameters[name])}`;
}

function checkCounts(num_before: number, num_after: number, include_anchor: boolean | undefined): void {
  if (num_before + num_after > maxMessages)
    throw usage(
      `--num-before and --num-after together ask for ${num_before + num_after} messages; at most ${maxMessages} in one request`,
      'Use --limit or --all, which page.',
    );
  if (num_before > 0 && num_after > 0 && include_anchor === false)
    throw usage('--no-include-anchor works at an end of the range only: give --num-before or --num-after, not both');
}

function readAnchor(text: string): string {
  const named = anchorWords.find((word) => word === text.toLowerCase().replaceAll('-', '_'));
  if (named !== undefined) return named;
  if (/^(0|[1-9]\d{0,16})$/.test(text)) return text;
  throw usage(`--anchor: '${text}' is neither a message id nor one of ${anchorWords.join(', ')}`);
}

function readIds(text: string): number[] {
  const words = text
    .replace(/^\s*\[(.*)\]\s*$/s, '$1')
    .split(',')
    .map((word) => word.trim());
  const bad = words.filter((word) => !/^(0|[1-9]\d{0,14})$/.test(word));
  if (bad.length > 0)
    throw usage(`--ids: not message ids: ${bad.map((word) => `'${word}'`).join(', ')}`, 'Write --ids 1,2,3.');
  return [...new Set(words.map(Number))].sort((one, other) => one - other);
}
