import { isObject } from '../../core/json.ts';
import type { User } from '../records.ts';
import type { UserCall } from './call.ts';
import { requireAdministrator } from './caller.ts';
import { jsonValue, type Reader } from './parameters.ts';
import { Refusal } from './refusal.ts';

/** The `target_users` parameter of PATCH /settings. */
export interface TargetUsers {
  readonly user_ids: readonly number[];
}

export const targetUsers: Reader<TargetUsers> = (name, text) => {
  const value = jsonValue(name, text);
  if (!isObject(value)) throw new Refusal(`${name} is not a dict`);
  const { user_ids, group_ids } = value;
  if (user_ids === undefined && group_ids === undefined) {
    throw new Refusal('Either user_ids or group_ids must be provided.');
  }
  return { user_ids: Array.isArray(user_ids) ? user_ids.filter((id) => Number.isInteger(id)) : [] };
};

/** Settings that an administrator cannot change for others; the name is dropped without a word (docs/apis.md, Settings). */
const own = new Set([
  ...['email', 'new_password', 'timezone', 'allow_private_data_export', 'email_address_visibility'],
  ...['enable_digest_emails', 'enable_login_emails', 'enable_marketing_emails', 'presence_enabled'],
  ...['send_private_typing_notifications', 'send_stream_typing_notifications', 'send_read_receipts'],
]);

/** The users whose settings change: those of the target, else the caller. The sandbox has no groups. @throws Refusal */
export function usersToChange(
  { user, state }: UserCall,
  target: TargetUsers | undefined,
  settings: readonly string[],
): readonly User[] {
  if (!target) return [user];
  requireAdministrator(user);
  if (settings.some((name) => own.has(name))) throw new Refusal('Cannot change this setting for other users.');
  return target.user_ids.map((id) => {
    const found = state.users.get(id);
    if (!found) throw new Refusal('No such user');
    return found;
  });
}
