import { usage } from '../../core/failure.ts';
import type { MessageSelection } from '../../jobs/messages/selection.ts';
import { idsOf, unlistedUser } from '../../jobs/topic/near.ts';
import { flagField, type Fields, type Values } from '../../schema/field.ts';
import { isUrl, readLink } from '../../schema/link.ts';
import { messageParameters } from '../../schema/messages.ts';
import { isSameName } from '../../schema/topic.ts';
import { narrowOperators, readName } from '../../schema/narrow.ts';
import type { Accounts, Services, Terminal } from '../context.ts';
import type { TimeParts } from '../typed-time.ts';
import { narrowOf, typedUsers, type AccountFacts } from '../../jobs/messages/narrow.ts';
import { rangeOf, rangeOptions } from './range.ts';

const { apply_markdown: _, ...parameters } = messageParameters;

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
  raw_content: flagField('The Markdown source in place of HTML'),
} as const satisfies Fields;

export type SelectionValues = Values<typeof selectionOptions>;

/**
 * The facts that the values need: nothing is looked up without a URL, `me`, a user's name, or users of one conversation
 * that are typed in two ways. @throws Failure rejected for one of these whom the server does not list
 */
export async function factsFor(
  { link, channel = [], ...values }: SelectionValues & LinkValue,
  { chat, chatAccount, note }: Pick<Services, 'chat'> & Pick<Accounts, 'chatAccount'> & Pick<Terminal, 'note'>,
): Promise<AccountFacts> {
  const pasted = link === undefined ? channel : [link, ...channel];
  const isPasted = [...pasted, ...(values.not ?? [])].some((text) => isUrl(text.replace(/^channel=/, '')));
  const linkedSite = isPasted ? (await chatAccount()).site : undefined;
  const groups = typedUsers(
    values,
    pasted.flatMap((text) => readLink(text, linkedSite)?.terms ?? []),
  );
  const typed = groups.flat();
  const names = namesAmong(typed);
  const addresses = typed.filter((user) => user.includes('@'));
  const isMe = typed.includes('me');
  const { site, email } =
    isPasted || isMe || addresses.length > 0 ? await chatAccount() : { site: undefined, email: '' };
  const own = [...(isMe ? ['me'] : []), ...addresses.filter((address) => isSameName(address, email))];
  // An organization that hides addresses knows the account by its id alone.
  const id = own.length > 0 ? (await chat().ownUser())?.['user_id'] : undefined;
  const listed = async (sought: readonly string[]) => (sought.length > 0 ? ((await chat().users()) ?? []) : []);
  const people = await listed(names);
  const users = idsOf(names, people, note);
  for (const word of own) users.set(word, typeof id === 'number' ? id : email);
  const isId = (user: string): boolean => typeof (users.get(user) ?? readName(user)) === 'number';
  const others = groups.filter((group) => group.some(isId)).flatMap((group) => group.filter((user) => !isId(user)));
  const all = people.length > 0 ? people : await listed(others);
  for (const [word, found] of idsOf(others, all, note)) users.set(word, found);
  const lost = others.find((user) => !isId(user));
  if (lost !== undefined) throw unlistedUser(lost, all);
  return { site, users };
}

/** The users that are typed neither by id nor by address. */
export function namesAmong(typed: readonly string[]): string[] {
  return [...new Set(typed)].filter((user) => typeof readName(user) === 'string' && !/^$|^me$|@/.test(user));
}

interface LinkValue {
  /** A link whose conversation is selected, and whose message is the anchor unless another range is typed. */
  readonly link?: string | undefined;
}

/** The typed values as one selection. @throws Failure usage */
export function selectionOf(
  { link: text, ...values }: SelectionValues & LinkValue,
  facts: AccountFacts,
  context: TimeParts,
): MessageSelection {
  const { not = [], narrow, raw_content, client_gravatar, allow_empty_topic_name } = values;
  const link = text === undefined ? undefined : readLink(text, facts.site);
  if (text !== undefined && !link)
    throw usage(`'${text}' is not a link`, 'For a channel write --channel NAME, for words in messages --search WORDS.');
  const isElsewhere = placing.some((name) => values[name] !== undefined);
  return {
    narrow: narrowOf(values, { linked: link?.terms ?? [], not, json: narrow, facts }),
    form: { client_gravatar, allow_empty_topic_name, apply_markdown: raw_content ? false : undefined },
    range: rangeOf(link?.near === undefined || isElsewhere ? values : { ...values, anchor: link.near }, context),
    explicit: rangeNames.filter((name) => values[name] !== undefined).map((name) => sentNames.get(name) ?? name),
  };
}

const rangeNames = ['anchor', 'include_anchor', 'num_before', 'num_after', 'use_first_unread_anchor'] as const;
const sentNames: ReadonlyMap<string, string> = new Map([['use_first_unread_anchor', 'anchor']]);

/** Options beside which the message of a link is no anchor. */
const placing = ['anchor', 'since', 'until', 'message_ids', 'use_first_unread_anchor'] as const;
