// Finds users by what a person types, and explains the refusal of a narrow with an unknown user or channel.
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, ifAnswered, usage } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { readName } from '../../schema/narrow.ts';
import { partsOf } from '../../schema/selection.ts';
import { isSameName } from '../../schema/topic.ts';
import { nearRows, noChannel } from './find-channel.ts';

/** Adds similar names to the failure for an unknown user or channel of a narrow, which takes one more request. */
export async function withNearNames(cause: unknown, narrow: readonly unknown[], chat: ChatApi): Promise<unknown> {
  if (!(cause instanceof Failure) || cause.details.server?.code !== 'BAD_NARROW') return cause;
  // Only the channel or the user may be unknown; any other refusal is about the narrow itself.
  const [, named, text] = /\bunknown (channel|stream|user)(?: in)? (.+)$/.exec(cause.details.server.msg ?? '') ?? [];
  const isNamed = named === 'user' ? /^(?:sender|mentions|dm(?:-including)?)$/ : /^channel$/;
  const terms = narrow.map(partsOf).filter(([, operand]) => String(operand) === text);
  const [operator, operand] = terms.find(([word]) => typeof word === 'string' && isNamed.test(word)) ?? [];
  if (text === undefined || typeof operator !== 'string') return cause;
  if (named !== 'user') {
    const { message, details } = await noChannel(chat, typeof operand === 'number' ? operand : text);
    return cause.as(cause.kind, message, details);
  }
  const near = nearUsers((await ifAnswered(chat.users())) ?? [], text, `--${operator} `);
  return cause.as(cause.kind, `no user '${text}'${near}`, near === '' ? {} : { hint: undefined });
}

/** Compares names with the part of an address before the @, since organizations may hide addresses. */
function nearUsers(users: readonly JsonObject[], wanted: string, before: string): string {
  return nearRows(users, 'full_name', wanted.replace(/@.*$/, ''), ({ user_id }) => before + String(user_id));
}

/** The failure for a user of a conversation whom the server does not list, while others of it are sent as ids. */
export function unlistedUser(wanted: string, users: readonly JsonObject[]): Failure {
  return new Failure('rejected', `no user '${wanted}'${nearUsers(users, wanted, '')}`, {
    hint: 'If one user of a conversation is given as an id or a name, all are sent as ids: give all as ids, or all as addresses.',
  });
}

/** Ids of users typed as names or addresses, and a note for each. @throws Failure usage where several have the name */
export function idsOf(
  typed: readonly string[],
  users: readonly JsonObject[],
  note: (text: string) => void,
): Map<string, string | number> {
  const ids = new Map<string, string | number>();
  for (const word of typed) {
    const { user_id, full_name } = userNamed(users, String(readName(word))) ?? {};
    if (typeof user_id !== 'number') continue;
    note(`'${word}' is ${String(full_name)} (id ${user_id})`);
    ids.set(word, user_id);
  }
  return ids;
}

/** The user with exactly that name or address. @throws Failure usage where several have it */
function userNamed(users: readonly JsonObject[], wanted: string): JsonObject | undefined {
  const names = wanted.includes('@') ? ['delivery_email', 'email'] : ['full_name'];
  const alike = users.filter((user) => names.some((name) => isSameName(String(user[name]), wanted)));
  // A user may be listed several times, under each name so far.
  const found = [...new Map(alike.map((user) => [user['user_id'], user])).values()];
  const listed = found.map(({ user_id, full_name }) => `; ${String(full_name)} is ${String(user_id)}`).join('');
  if (found.length > 1) throw usage(`'${wanted}' is the name of several users${listed}`, 'Give the id of one.');
  return found[0];
}
