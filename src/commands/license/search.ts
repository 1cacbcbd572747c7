import { matchesGlobInAnyCase } from '../../core/glob.ts';
import type { Fields, Values } from '../../schema/field.ts';
import { matchField, phoneCode } from '../../schema/license.ts';
import { spanOf, spanOptions, type TimeParts } from '../typed-time.ts';

/** Options of `license list` and `license history`; where something is changed, names are matched as typed. */
export const searchOptions = {
  match: { ...matchField, help: `${matchField.help}; in any case` },
  code: {
    ...matchField,
    help: "Only keys that match, as in '*2FCA2'; understood in any case, without dashes, with O for 0",
  },
  ...spanOptions,
} as const satisfies Fields;

type Search = Values<typeof searchOptions>;
type Sought = { readonly [K in keyof Search]: Search[K] | undefined };

/** Tests of users, keys and moments by the values. @throws Failure usage for an empty span */
export function searchFor({ match, code = [], ...times }: Sought, context: TimeParts) {
  const { since = -Infinity, until = Infinity } = spanOf(times, context);
  const codes = code.map(phoneCode);
  return {
    isUser: (...names: readonly string[]) => !match || names.some((name) => matchesGlobInAnyCase(match, name)),
    isKey: (key: string) => codes.length === 0 || matchesGlobInAnyCase(codes, phoneCode(key)),
    /** The end of a key is all that is recorded. */
    isKeyEnd: (end: string) => codes.length === 0 || codes.some((one) => endsAlike(one, phoneCode(end))),
    isTime: (time: number) => time >= since && time < until,
  };
}

function endsAlike(pattern: string, end: string): boolean {
  const last = pattern.slice(-end.length);
  return matchesGlobInAnyCase([last.startsWith('*') || last.length === end.length ? last : `*${last}`], end);
}
