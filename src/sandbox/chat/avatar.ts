import { createHash } from 'node:crypto';
import type { User } from '../records.ts';

/** The picture that belongs to the address, as the server computes it. */
export function avatarOf({ email }: User): string {
  const hash = createHash('md5').update(email.toLowerCase()).digest('hex');
  return `https://secure.gravatar.com/avatar/${hash}?d=identicon&version=1`;
}

/** Whether everybody may see the address; then a client can compute the picture's URL itself. */
export function showsAddress({ settings }: User): boolean {
  return (settings['email_address_visibility'] ?? 1) === 1;
}
