import { matchesGlobInAnyCase } from '../../core/glob.ts';
import { commandLine } from '../../core/shell-word.ts';
import type { Fields } from '../../schema/field.ts';
import { matchField, phoneCode } from '../../schema/license.ts';

/** Options of `license list` and `license history`; where something is changed, names are matched as typed. */
export const searchOptions = {
  match: { ...matchField, help: `${matchField.help}; in any case` },
  code: {
    ...matchField,
    help: "Only keys that match, as in '*2FCA2'; understood in any case, without dashes, with O for 0",
  },
} as const satisfies Fields;

/** Advice where a part of a key finds nothing; it names no key that was typed. */
export const partOfKey = `A part of a key needs a star: ${commandLine('license list', [], { code: '*2FCA2' })}`;

/** Tests of users and keys by the values. */
export function searchFor(match: readonly string[] | undefined, code: readonly string[] = []) {
  const codes = code.map(phoneCode);
  return {
    isUser: (...names: readonly string[]) => !match || names.some((name) => matchesGlobInAnyCase(match, name)),
    isKey: (key: string) => codes.length === 0 || matchesGlobInAnyCase(codes, phoneCode(key)),
    /** Of a key whose end alone is known. */
    isKeyEnd: (end: string) => codes.length === 0 || codes.some((one) => endsAlike(one, phoneCode(end))),
  };
}

function endsAlike(pattern: string, end: string): boolean {
  const last = pattern.slice(-end.length);
  return matchesGlobInAnyCase([last.startsWith('*') || last.length === end.length ? last : `*${last}`], end);
}
