import { createHash } from 'node:crypto';
import type { User } from '../records.ts';

/** The user's own picture, or the one that belongs to the address, as the server computes it. */
export function avatarOf({ email, avatar_url }: User): string {
  const hash = createHash('md5').update(email.toLowerCase()).digest('hex');
  return avatar_url ?? `https://secure.gravatar.com/avatar/${hash}?d=identicon&version=1`;
}
