import { usage } from '../../core/failure.ts';
import type { MessageSelection, Range } from '../../schema/selection.ts';
import { idsOf, unlistedUser } from '../../jobs/topic/near.ts';
import { countField, flagField, textField, type Fields, type Values } from '../../schema/field.ts';
import { isUrl, readLink } from '../../schema/link.ts';
import { anchorWords, exclusions, maxMessages, messageParameters, type MessageValues } from '../../schema/messages.ts';
import { isSameName } from '../../schema/topic.ts';
import type { UsageRule } from '../../schema/usage-rules.ts';
import { narrowOperators, readName } from '../../schema/narrow.ts';
import type { Accounts, Services, Terminal } from '../context.ts';
import { checkSpan, spanOf, type TimeParts } from '../typed-time.ts';
import { narrowOf, type AccountFacts } from '../../jobs/messages/narrow.ts';

const { apply_markdown: _, ...parameters } = messageParameters;

export const rangeOptions = {
  since: textField(
    'TIME',
    "From this time on: yesterday, thursday, 2026-03-01, 'today 09:30', 2026-03-01T08:00:00Z, or 12h, 2w, 3mo ago",
  ),
  until: textField('TIME', 'Before this time'),
  limit: countField('N', 'Maximum number of messages (default: 100)'),
  all: flagField('Every message that matches, in pages of 1000'),
} as const satisfies Fields;

export const selectionOptions = {
  ...narrowOperators,
  not: {
    kind: 'string',
    many: true,
    placeholder: 'OPERATOR=VALUE',
    help: 'Omit these, as in --not sender=bot@example.com',
  },
  ...parameters,
  ...rangeOptions,
  raw_content: flagField('The Markdown source instead of HTML'),
} as const satisfies Fields;

export type SelectionValues = Values<typeof selectionOptions> & {
  /** A link whose conversation is selected, and whose message is the anchor unless another range is typed. */
  readonly link?: string | undefined;
};

/**
 * Looks up the facts that the values need: only for a URL, `me`, a user's name, or users of one conversation that are
 * typed in two ways. @throws Failure rejected for such a user whom the server does not list
 */
export async function factsFor(
  { link, ...values }: SelectionValues,
  { chat, chatAccount, note }: Services & Accounts & Terminal,
): Promise<AccountFacts> {
  const { channel = [], not = [] } = values;
  const pasted = link === undefined ? channel : [link, ...channel];
  const isPasted = [...pasted, ...not].some((text) => isUrl(text.replace(/^channel=/, '')));
  const linkedSite = isPasted ? (await chatAccount()).site : undefined;
  const linked = (link === undefined ? undefined : readLink(link, linkedSite))?.terms ?? [];
  const groups: (readonly string[])[] = [];
  const operandsOf = (some: readonly string[]): readonly (string | number)[] => {
    groups.push(some);
    return some.map(readName);
  };
  narrowOf(values, linked, { site: linkedSite, operandsOf });
  const typed = groups.flat();
  const addresses = typed.filter((user) => user.includes('@'));
  const isMe = typed.includes('me');
  const { site, email } =
    isPasted || isMe || addresses.length > 0 ? await chatAccount() : { site: undefined, email: '' };
  const own = [...(isMe ? ['me'] : []), ...addresses.filter((address) => isSameName(address, email))];
  // Where the organization hides addresses, only the id finds the account.
  const id = own.length > 0 ? (await chat().ownUser())?.['user_id'] : undefined;
  const isAddress = (user: string): boolean => (own.includes(user) ? typeof id !== 'number' : user.includes('@'));
  const mixed = groups.filter((group) => !group.every(isAddress)).flat();
  // Names need the list of users, and so do addresses in the same conversation as names or ids.
  const sought = [...new Set(mixed)].filter((user) => typeof readName(user) === 'string' && !own.includes(user));
  const people = sought.length > 0 ? ((await chat().users()) ?? []) : [];
  const users = idsOf(sought, people, note);
  for (const word of own) users.set(word, typeof id === 'number' ? id : email);
  const isId = (user: string): boolean => typeof (users.get(user) ?? readName(user)) === 'number';
  const lost = groups.filter((group) => group.some(isId)).flatMap((group) => group.filter((user) => !isId(user)));
  if (lost[0] !== undefined) throw unlistedUser(lost[0], people);
  return { site, operandsOf: (some) => some.map((user) => users.get(user) ?? readName(user)) };
}

/** Makes one selection of the options' values. @throws Failure usage */
export function selectionOf(
  { link: text, ...values }: SelectionValues,
  facts: AccountFacts,
  context: TimeParts,
): MessageSelection {
  const { raw_content, client_gravatar, allow_empty_topic_name } = values;
  const link = text === undefined ? undefined : readLink(text, facts.site);
  if (text !== undefined && !link)
    throw usage(`'${text}' is not a link`, 'For a channel write --channel NAME, for words in messages --search WORDS.');
  const isElsewhere = placing.some((name) => values[name] !== undefined);
  return {
    narrow: narrowOf(values, link?.terms ?? [], facts),
    form: { client_gravatar, allow_empty_topic_name, apply_markdown: raw_content ? false : undefined },
    range: rangeOf(link?.near === undefined || isElsewhere ? values : { ...values, anchor: link.near }, context),
    explicit: rangeNames
      .filter((name) => values[name] !== undefined)
      .map((name) => (name === 'use_first_unread_anchor' ? 'anchor' : name)),
  };
}

const rangeNames = ['anchor', 'include_anchor', 'num_before', 'num_after', 'use_first_unread_anchor'] as const;

/** With one of these options, the message of a link is not the anchor. */
const placing = ['anchor', 'since', 'until', 'message_ids', 'use_first_unread_anchor'] as const;

type RangeValues = Omit<MessageValues, 'narrow' | 'apply_markdown'> & Values<typeof rangeOptions>;

/** How many messages are shown where no option gives a range. */
const plainLimit = 100;

/** The range of the options (docs/apis.md, Paging). @throws Failure usage for each exclusion and limit of the API */
function rangeOf(values: RangeValues, context: TimeParts): Range {
  if (values.use_first_unread_anchor)
    context.note('use_first_unread_anchor is deprecated: --anchor first_unread was sent');
  if (values.message_ids !== undefined) return { kind: 'ids', ids: readIds(values.message_ids) };
  if (values.since !== undefined || values.until !== undefined) {
    const correct = () => spanOf(values, context);
    const times = context.clock.serverNow() === undefined ? { ...checkSpan(values, context), correct } : correct();
    return { kind: 'times', ...times, limit: values.limit };
  }
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
  // --all with the newest message as anchor means every message.
  if (values.all) return { kind: 'pages', anchor: anchor === 'newest' ? 'oldest' : (anchor ?? 'oldest'), ...inclusion };
  const limit = values.limit ?? plainLimit;
  if (anchor === undefined || anchor === 'newest') return { kind: 'newest', limit };
  return { kind: 'pages', anchor, limit, ...inclusion };
}

/** Parameters that say where a range begins or which messages it holds, as --since and --until do. */
const rangePlaces = ['anchor', 'include_anchor', 'num_before', 'num_after', 'message_ids', 'use_first_unread_anchor'];

export const selectionRules: readonly UsageRule[] = [
  ...exclusions,
  { option: 'limit', excludes: ['all', 'message_ids', 'num_before', 'num_after'] },
  { option: 'all', excludes: ['message_ids', 'num_before', 'num_after'] },
  { option: 'since', excludes: rangePlaces },
  { option: 'until', excludes: rangePlaces },
];

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
