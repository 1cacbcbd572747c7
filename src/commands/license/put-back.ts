import { textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import { changeInWords } from '../../jobs/license/decide.ts';
import { namesIn } from '../../core/table-names.ts';
import { flagOf } from '../../schema/field.ts';
import { licenseFields } from '../../schema/license.ts';
import type { Invocation, Terminal } from '../context.ts';
import { licenseShow } from './show.ts';

/** A license that was changed. */
export interface ChangedLicense extends License {
  /** The fields that changed, as they were. */
  readonly before: EditedFields;
}

/** Looks of a changed license: what its fields were stands beside them as `size_allowance_before`. */
export const changedShow = {
  ...licenseShow,
  data: ({ fields, before }: ChangedLicense) => ({
    ...fields,
    ...Object.fromEntries(
      Object.entries(before).flatMap(([name, value]) => (value === undefined ? [] : [[`${name}_before`, value]])),
    ),
  }),
};

/** Their names, for `--fields`. */
export const beforeFields: readonly string[] = namesIn(licenseFields).map((name) => `${name}_before`);

/** The license as it is before a change; undefined where it cannot be looked at, which does not keep it from being changed. */
export async function lookBefore(code: string, { view }: Pick<LicensingApi, 'view'>): Promise<License | undefined> {
  try {
    return await view(code);
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.isInterruption || cause.kind === 'auth') throw cause;
    return undefined;
  }
}

/** What the asked fields were, where that is another value. */
export function changedFrom(license: License | undefined, asked: EditedFields): EditedFields {
  const was = (name: keyof EditedFields): string | undefined => {
    const value = license && textOf(license, name);
    return asked[name] === undefined || value === String(asked[name]) ? undefined : value;
  };
  const [remote_user, app_code, size] = [was('remote_user'), was('app_code'), was('size_allowance')];
  return {
    ...(remote_user !== undefined && { remote_user }),
    ...(app_code !== undefined && { app_code: Number(app_code) }),
    ...(size !== undefined && { size_allowance: Number(size) }),
  };
}

/** What was changed, and the command that puts it back. */
export function changeNote(
  code: string,
  before: EditedFields,
  asked: EditedFields,
  context: Parameters<typeof editLine>[2],
): string {
  return `${changesInWords(before, asked)}; to put it back: ${editLine(code, before, context)}`;
}

/** A change in words: `resized 4 -> 6, remote_user 'ada' -> 'left-ada'`. */
function changesInWords(before: EditedFields, asked: EditedFields): string {
  const { size_allowance: size, ...others } = before;
  const resized = size === undefined ? [] : [`resized ${changeInWords(size, asked.size_allowance ?? 0)}`];
  const renamed = namesIn(others).flatMap((name) =>
    others[name] === undefined ? [] : [`${name} '${others[name]}' -> '${asked[name] ?? ''}'`],
  );
  return [...resized, ...renamed].join(', ');
}

/** The command that puts fields back. A log must not hold a license code, so only a person at a terminal is shown it. */
function editLine(
  code: string,
  before: EditedFields,
  { interactive, options: { profile, sandbox } }: Pick<Terminal, 'interactive'> & Pick<Invocation, 'options'>,
): string {
  const values = namesIn(before).flatMap((name) =>
    before[name] === undefined ? [] : [`--${flagOf(name, licenseFields[name])}`, shellWord(String(before[name]))],
  );
  const words = [interactive() ? shellWord(code) : 'CODE', ...values];
  if (profile !== undefined) words.push('--profile', shellWord(profile));
  return ['chatelaine license edit', ...words, ...(sandbox ? ['--sandbox'] : [])].join(' ');
}
