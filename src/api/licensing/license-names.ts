import { textOf, type License, type LicenseHolder } from './license.ts';

/** How a listed license relates to the user and the application that were asked for. */
export type Likeness = 'exact' | 'near' | 'other';

/**
 * Judges a row of a list without filters. `near`: the name differs only by case, blanks, Unicode form or leading zeros, or is the
 * asked one cut at 30 characters or more, or the row's `app_code` is not an integer (docs/exactly-once.md, Names that servers
 * change). A row without a name is `other`: such a list cannot answer the question.
 */
export function likeness(license: License, asked: LicenseHolder): Likeness {
  const name = textOf(license, 'remote_user');
  const byName = name === undefined ? 'other' : likenessOfName(name, asked.remote_user);
  return byName === 'other' ? 'other' : weaker(byName, likenessOfApp(license, asked.app_code));
}

/** An application that a row does not name is the asked one. */
export function likenessOfApp(license: License, app_code: number | undefined): Likeness {
  const value = license.fields['app_code'];
  if (app_code === undefined || value === undefined || value === null) return 'exact';
  const code = textOf(license, 'app_code');
  if (code === String(app_code)) return 'exact';
  return code === undefined || !/^-?(0|[1-9]\d*)$/.test(code) ? 'near' : 'other';
}

/** The less certain of two judgements. */
export function weaker(one: Likeness, two: Likeness): Likeness {
  if (one === 'other' || two === 'other') return 'other';
  return one === 'near' || two === 'near' ? 'near' : 'exact';
}

/** The shortest length, in characters, to which a server may cut a name. */
export const minCutChars = 30;

function likenessOfName(name: string, asked: string): Likeness {
  if (name === asked) return 'exact';
  const [folded, wanted] = [foldName(name), foldName(asked)];
  const isCut = name.length >= minCutChars && wanted.startsWith(folded);
  return folded === wanted || isCut ? 'near' : 'other';
}

/** The form that names share which differ only by case, blanks, Unicode form or leading zeros. */
export function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/^0+(?=.)/, '');
}

/** The form that two users share who are probably one: case, runs of blanks, Unicode form and leading zeros make no difference. */
export function plainName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^0+(?=.)/, '');
}

/** What servers make of a name when they store it: lower case, blanks collapsed, no leading zeros; only forms that differ from it. */
export function storedForms(name: string): string[] {
  const collapsed = name.trim().replace(/\s+/g, ' ');
  const withoutZeros = collapsed.replace(/^0+(?=.)/, '');
  const forms = new Set([name.toLowerCase(), collapsed, withoutZeros, withoutZeros.toLowerCase()]);
  forms.delete(name);
  return [...forms];
}
