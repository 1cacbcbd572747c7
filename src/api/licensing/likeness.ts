import { foldName } from '../../core/fold-name.ts';
import { type License, textOf } from './license.ts';

/**
 * How a listed license relates to the requested application; a row without an application counts as of this one.
 * `near`: the application of the row is not an integer.
 */
export function likenessOfApp(license: License, app_code: number | undefined): 'exact' | 'near' | 'other' {
  const value = license.fields['app_code'];
  if (app_code === undefined || value === undefined || value === null) return 'exact';
  const code = textOf(license, 'app_code');
  if (code === String(app_code)) return 'exact';
  return code === undefined || !/^-?(0|[1-9]\d*)$/.test(code) ? 'near' : 'other';
}

/** The shortest length, in characters, to which a server may cut a name. */
export const minCutChars = 30;

/** True if a server may have stored the requested name as `name`: respelled, cut, or without its domain. */
export function isStoredFor(name: string, asked: string): boolean {
  const stored = foldName(name);
  const isCut = name.length >= minCutChars && foldName(asked).startsWith(stored);
  return isCut || [asked, ...partsOf(asked)].some((part) => foldName(part) === stored);
}

/**
 * The spellings in which a server may keep a name, although it compares its filter exactly. `kept`: names that it was
 * seen to store unchanged: it keeps their case.
 */
export function formsOf(name: string, kept: string): readonly string[] {
  const lower = name.toLowerCase();
  const forms = /\p{Lu}/u.test(kept) ? [] : [lower];
  if (!/\p{Ll}/u.test(kept)) forms.push(name.toUpperCase());
  return kept === '' ? [...forms, lower.charAt(0).toUpperCase() + lower.slice(1)] : forms;
}

/** The name without its domain. */
export function partsOf(name: string): readonly string[] {
  return [name.replace(/@.*$/, ''), name.replace(/^.*\\/, '')];
}

/** Whether a filter that finds parts of names would return this longer name. */
export function isLonger(name: string, part: string): boolean {
  return name.length > part.length && name.toLowerCase().includes(part.toLowerCase());
}
