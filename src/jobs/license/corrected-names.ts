import { slipsBetween } from '../../schema/nearest.ts';
import type { Plan } from './plan.ts';

/** A user to be created whose name differs by one or two letters from that of a listed user in no row. */
export interface CorrectedName {
  readonly created: string;
  readonly listed: string;
}

/** A longer list of new or of listed users takes too long to compare. */
const maxPairs = 20_000_000;

/** Letters alone: numbers that are next to each other are different users. */
export function correctedNames({ rows, unasked }: Plan): CorrectedName[] {
  const created = rows.flatMap(({ status, row }) => (status === 'create' ? [row] : []));
  if (created.length * unasked.length > maxPairs) return [];
  return created.flatMap(({ app_code, remote_user }) => {
    const near = unasked.find((user) => user.app_code === app_code && isCorrected(remote_user, user.remote_user));
    return near ? [{ created: remote_user, listed: near.remote_user }] : [];
  });
}

const maxLetters = 2;
/** In a shorter name two other letters are another name. */
const minChars = 6;

function isCorrected(name: string, listed: string): boolean {
  if (Math.min(name.length, listed.length) < minChars || Math.abs(name.length - listed.length) > maxLetters)
    return false;
  const [digits, others] = [name, listed].map((text) => text.replace(/\D/g, ''));
  return digits === others && name !== listed && slipsBetween(name, listed) <= maxLetters;
}
