import { licenseNames, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import { commandLine } from '../../core/shell-word.ts';
import { namesIn } from '../../core/table-names.ts';
import { changeInWords } from '../../jobs/license/decide.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Invocation } from '../context.ts';
import { licenseShow } from './show.ts';

/** A license that was changed. */
export interface ChangedLicense extends License {
  /** The fields that changed, as they were. */
  readonly before: FieldsBefore;
}

type FieldsBefore = { readonly [K in keyof LicenseFields]?: string | number | undefined };

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
export const beforeFields: readonly string[] = licenseNames.map((name) => `${name}_before`);

/** What the asked fields were, where that is another value. */
export function changedFrom(license: License | undefined, asked: EditedFields): FieldsBefore {
  const changed = licenseNames.flatMap((name) => {
    const was = license && textOf(license, name);
    if (was === undefined || asked[name] === undefined || was === String(asked[name])) return [];
    return [[name, name === 'remote_user' ? was : Number(was)] as const];
  });
  return Object.fromEntries(changed);
}

/** What was changed, and the command that puts it back: `resized 4 -> 6, remote_user 'ada' -> 'left-ada'; to undo it: …`. */
export function changeNote(
  { size_allowance: size, ...others }: FieldsBefore,
  asked: EditedFields,
  run: string,
  { options: { profile, sandbox } }: Pick<Invocation, 'options'>,
): string {
  const resized = size === undefined ? [] : [`resized ${changeInWords(Number(size), asked.size_allowance ?? 0)}`];
  const renamed = namesIn(others).map((name) => `${name} '${others[name] ?? ''}' -> '${asked[name] ?? ''}'`);
  return `${[...resized, ...renamed].join(', ')}; to undo it: ${commandLine('license undo', [run], { profile, sandbox })}`;
}
