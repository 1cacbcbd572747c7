import { usage } from '../../core/failure.ts';
import { anchorWords, exclusions, maxMessages, messageParameters, type MessageValues } from '../../schema/messages.ts';
import { flagOf } from '../../schema/field.ts';

export interface RangeValues extends Omit<MessageValues, 'narrow' | 'apply_markdown'> {
  readonly limit?: number;
  readonly all?: boolean;
}

/** What to fetch: one request as the API has it, single messages, or pages. */
export type Range =
  | {
      readonly kind: 'request';
      readonly anchor: string;
      readonly num_before: number;
      readonly num_after: number;
      readonly include_anchor?: boolean;
    }
  | { readonly kind: 'ids'; readonly ids: readonly number[] }
  | { readonly kind: 'newest'; readonly limit: number }
  | { readonly kind: 'pages'; readonly anchor: string; readonly limit?: number; readonly include_anchor?: boolean };

const plainLimit = 100;

/**
 * The range that the options ask for (contract, section 1.1).
 * @throws Failure usage for each exclusion and limit of the specification
 */
export function rangeOf(values: RangeValues): Range {
  checkExclusions(values);
  if (values.message_ids !== undefined) return { kind: 'ids', ids: readIds(values.message_ids) };
  const anchor = values.use_first_unread_anchor ? 'first_unread' : values.anchor && readAnchor(values.anchor);
  const inclusion = values.include_anchor === undefined ? {} : { include_anchor: values.include_anchor };
  if (values.num_before !== undefined || values.num_after !== undefined) {
    const counts = { num_before: values.num_before ?? 0, num_after: values.num_after ?? 0 };
    checkCounts(counts, values.include_anchor);
    return { kind: 'request', anchor: anchor ?? 'newest', ...counts, ...inclusion };
  }
  if (values.all) return { kind: 'pages', anchor: anchor ?? 'oldest', ...inclusion };
  const limit = values.limit ?? plainLimit;
  if (anchor === undefined || anchor === 'newest') return { kind: 'newest', limit };
  return { kind: 'pages', anchor, limit, ...inclusion };
}

function checkExclusions(values: RangeValues): void {
  const given = (name: string): boolean => (values as Readonly<Record<string, unknown>>)[name] !== undefined;
  const clashes = exclusions
    .filter(({ one }) => given(one))
    .flatMap(({ one, others }) =>
      others.filter(given).map((other) => `${flag(one)} and ${flag(other)} exclude each other`),
    );
  const counted = given('num_before') || given('num_after');
  const modes = (['limit', 'all', 'message_ids'] as const)
    .filter(given)
    .map((name) => (name === 'message_ids' ? '--ids' : `--${name}`));
  if (counted && modes.length > 0 && !given('message_ids'))
    clashes.push(`--num-before and --num-after exclude ${modes.join(' and ')}`);
  if (modes.length > 1) clashes.push(`${modes.join(' and ')} exclude each other`);
  if (values.all && values.anchor === 'newest')
    clashes.push('--all goes upward from --anchor, and there is nothing above newest');
  if (clashes.length > 0) throw usage(clashes);
}

function flag(name: keyof typeof messageParameters): string {
  return `--${flagOf(name, messageParameters[name])}`;
}

function checkCounts({ num_before, num_after }: { num_before: number; num_after: number }, include?: boolean): void {
  if (num_before + num_after > maxMessages) {
    throw usage(
      `--num-before and --num-after together ask for ${num_before + num_after} messages; at most ${maxMessages} in one request`,
      'Use --limit or --all, which page.',
    );
  }
  if (num_before > 0 && num_after > 0 && include === false) {
    throw usage('--no-include-anchor works at an end of the range only: give --num-before or --num-after, not both');
  }
}

function readAnchor(text: string): string {
  if ((anchorWords as readonly string[]).includes(text) || /^(0|[1-9]\d{0,16})$/.test(text)) return text;
  throw usage(`--anchor: '${text}' is neither a message id nor one of ${anchorWords.join(', ')}`);
}

function readIds(text: string): number[] {
  const words = text.split(',').map((word) => word.trim());
  const bad = words.filter((word) => !/^(0|[1-9]\d{0,14})$/.test(word));
  if (bad.length > 0)
    throw usage(`--ids: not message ids: ${bad.map((word) => `'${word}'`).join(', ')}`, 'Write --ids 1,2,3.');
  return [...new Set(words.map(Number))].sort((one, other) => one - other);
}
