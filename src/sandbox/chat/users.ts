import { createHash } from 'node:crypto';
import type { User } from '../records.ts';
import { isReceived } from './access.ts';
import type { ChatCall, UserCall } from './chat-call.ts';
import { boolean, plain, readParameters, required } from './parameters.ts';
import { Refusal } from './refusal.ts';

/** GET /users/me: what a client needs to read its own changes back. */
export function aboutMe(call: UserCall) {
  const { user, state } = call;
  readParameters(call, {});
  return {
    ...showUser(user, user),
    avatar_url: avatarOf(user),
    profile_data: {},
    max_message_id: state.messages.rows().findLast((row) => isReceived(user, row, state))?.id ?? -1,
  };
}

/** POST /fetch_api_key: the key of whoever knows the password. @throws Refusal */
export function giveKey(call: ChatCall) {
  const values = readParameters(call, { username: plain, password: plain });
  const [username, password] = [required('username', values.username), required('password', values.password)];
  const user = call.state.users.rows().find(({ email }) => email.toLowerCase() === username.trim().toLowerCase());
  if (user?.active && user.password === password)
    return { api_key: user.api_key, email: user.email, user_id: user.user_id };
  throw new Refusal('Your username or password is incorrect', { status: 401, code: 'AUTHENTICATION_FAILED' });
}

/** GET /users. */
export function listUsers(call: UserCall) {
  const signature = { client_gravatar: boolean, include_custom_profile_fields: boolean };
  const { client_gravatar = true } = readParameters(call, signature);
  return {
    members: call.state.users.rows().map((user) => ({
      ...showUser(call.user, user),
      avatar_url: client_gravatar && hasComputablePicture(user) ? null : avatarOf(user),
    })),
  };
}

function showUser(caller: User, user: User) {
  return {
    user_id: user.user_id,
    email: addressOf(user),
    delivery_email: maySeeAddress(caller, user) ? user.email : null,
    full_name: user.full_name,
    is_admin: user.role === 'administrator',
    is_owner: false,
    is_guest: user.role === 'guest',
    is_bot: user.bot !== 'none',
    is_active: user.active,
    role: { administrator: 200, member: 400, guest: 600 }[user.role],
    timezone: user.settings['timezone'] ?? '',
    avatar_version: 1,
    date_joined: new Date(user.joined * 1000).toISOString().replace(/:\d\d\.\d+Z$/, '+00:00'),
    ...(user.bot !== 'none' && { bot_type: user.bot === 'generic' ? 1 : 2, bot_owner_id: null }),
  };
}

/** Everyone, members, administrators, nobody, moderators: who may see the address (docs/apis.md, Settings). */
function maySeeAddress(caller: User, user: User): boolean {
  const visibility = user.settings['email_address_visibility'] ?? 1;
  if (caller.user_id === user.user_id || visibility === 1) return true;
  if (visibility === 2) return caller.role !== 'guest';
  return visibility !== 4 && caller.role === 'administrator';
}

function showsAddress({ settings }: User): boolean {
  return (settings['email_address_visibility'] ?? 1) === 1;
}

/** A client can compute the picture's URL itself, from an address that everybody may see. */
export function hasComputablePicture(user: User): boolean {
  return user.avatar_url === undefined && showsAddress(user);
}

/** The address under which the API knows the user; made up where it is hidden (docs/apis.md, Narrow operators). */
export function addressOf(user: User): string {
  return showsAddress(user) ? user.email : `user${user.user_id}@${user.email.slice(user.email.lastIndexOf('@') + 1)}`;
}

/** The user whom the API knows under the address. */
export function userOfAddress(users: readonly User[], address: string): User | undefined {
  const wanted = address.trim().toLowerCase();
  return users.find((user) => addressOf(user).toLowerCase() === wanted);
}

/** The user's own picture, or the one that belongs to the address, as the server computes it. */
export function avatarOf({ email, avatar_url }: User): string {
  const hash = createHash('md5').update(email.toLowerCase()).digest('hex');
  return avatar_url ?? `https://secure.gravatar.com/avatar/${hash}?d=identicon&version=1`;
}
