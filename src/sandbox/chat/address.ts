import type { User } from '../records.ts';

/** Whether everybody may see the user's address; then a client can compute the picture's URL from it. */
export function showsAddress({ settings }: User): boolean {
  return (settings['email_address_visibility'] ?? 1) === 1;
}

/** The address under which the API knows the user, for everybody: a made-up one where the real one is hidden (docs/apis.md, Narrow operators). */
export function addressOf(user: User): string {
  return showsAddress(user) ? user.email : `user${user.user_id}@${user.email.slice(user.email.lastIndexOf('@') + 1)}`;
}

/** The user whom the API knows under the address. */
export function userOfAddress(users: readonly User[], address: string): User | undefined {
  const wanted = address.trim().toLowerCase();
  return users.find((user) => addressOf(user).toLowerCase() === wanted);
}
