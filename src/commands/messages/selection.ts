import { usage } from '../../core/failure.ts';
import type { MessageSelection } from '../../jobs/messages/selection.ts';
import { userNamed } from '../../jobs/topic/near.ts';
import { flagField, type Fields, type Values } from '../../schema/field.ts';
import { isUrl, readLink } from '../../schema/link.ts';
import { messageParameters } from '../../schema/messages.ts';
import { narrowOperators, readName } from '../../schema/narrow.ts';
import type { Accounts, Services, Terminal } from '../context.ts';
import type { TimeReading } from '../typed-time.ts';
import { narrowOf, typedUsers, type AccountFacts } from './narrow.ts';
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

/** The facts that the values need: without a URL, `me` or a user's name among them, nothing is looked up. */
export async function factsFor(
  { link, channel = [], ...values }: SelectionValues & LinkValue,
  { chat, chatAccount, note }: Pick<Services, 'chat'> & Pick<Accounts, 'chatAccount'> & Pick<Terminal, 'note'>,
): Promise<AccountFacts> {
  const isPasted = [link ?? '', ...channel, ...(values.not ?? [])].some((text) => isUrl(text.replace(/^channel=/, '')));
  const typed = typedUsers(values);
  const users = new Map<string, string | number>();
  // What has no @ is no address.
  const names = new Set(typed.filter((user) => typeof readName(user) === 'string' && !/^$|@/.test(user)));
  const isOwn = names.delete('me');
  const { site, email } = isPasted || isOwn ? await chatAccount() : { site: undefined, email: '' };
  // An organization that hides addresses knows the account by its id alone.
  const id = isOwn ? (await chat().ownUser())?.['user_id'] : undefined;
  if (isOwn) users.set('me', typeof id === 'number' ? id : email);
  const known = names.size > 0 ? ((await chat().users()) ?? []) : [];
  for (const name of names) {
    const { user_id, full_name } = userNamed(known, String(readName(name))) ?? {};
    if (typeof user_id !== 'number') continue;
    note(`'${name}' is ${String(full_name)} (id ${user_id})`);
    users.set(name, user_id);
  }
  return { site, users };
}

interface LinkValue {
  /** A link whose conversation is selected, and whose message is the anchor unless another range is typed. */
  readonly link?: string | undefined;
}

/** The typed values as one selection. @throws Failure usage */
export function selectionOf(
  { link: text, ...values }: SelectionValues & LinkValue,
  facts: AccountFacts,
  context: TimeReading,
): MessageSelection {
  const { not = [], narrow, raw_content, client_gravatar, allow_empty_topic_name } = values;
  const link = text === undefined ? undefined : readLink(text, facts.site);
  if (text !== undefined && !link)
    throw usage(`'${text}' is no link`, 'For a channel write --channel NAME, for words in messages --search WORDS.');
  const isElsewhere = placing.some((name) => values[name] !== undefined);
  return {
    narrow: narrowOf(values, { linked: link?.terms ?? [], not, json: narrow, facts }),
    form: { client_gravatar, allow_empty_topic_name, apply_markdown: raw_content ? false : undefined },
    range: rangeOf(link?.near === undefined || isElsewhere ? values : { ...values, anchor: link.near }, context),
  };
}

/** Options beside which the message of a link is no anchor. */
const placing = ['anchor', 'since', 'until', 'message_ids', 'use_first_unread_anchor'] as const;
