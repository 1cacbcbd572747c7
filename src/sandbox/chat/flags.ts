import type { MessageRecord, User } from '../records.ts';
import type { State } from '../state.ts';
import { received } from './access.ts';

/** The caller's flags for a message; shared history that was never delivered is read and historical (docs/apis.md, Messages). */
export function flagsOf(user: User, message: MessageRecord, state: State): readonly string[] {
  if (!received(user, message, state)) return ['read', 'historical'];
  return message.flags[user.user_id] ?? ['read'];
}

export function isUnread(user: User, message: MessageRecord, state: State): boolean {
  return !flagsOf(user, message, state).includes('read');
}
