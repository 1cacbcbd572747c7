import { Failure } from '../../core/failure.ts';
import { textOf, type License } from './license.ts';
import type { Extent, LicenseFilter } from './license-list.ts';
import type { LicensingApi } from './licensing.ts';
import { likenessOfApp } from './likeness.ts';

/** Reads a list. @throws Failure auth where it is complete, and each of its licenses has another code */
export async function refuseOtherApplication(api: LicensingApi, app_code: number, remote_user?: string): Promise<void> {
  try {
    for await (const license of listOfApplication(api, { remote_user }, app_code))
      if (otherCode(license, app_code) === undefined) return;
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.kind !== 'incomplete') throw cause;
  }
}

/** Yields a list, then refuses a key of another application than the filter or else the credential (`own`) names. */
export async function* listOfApplication(
  api: LicensingApi,
  filter: LicenseFilter,
  own?: number,
  extent: Extent = 'whole',
) {
  const app_code = filter.app_code ?? own;
  const codes = new Set<string | undefined>();
  for await (const license of api.list(filter, extent)) {
    if (app_code !== undefined) codes.add(otherCode(license, app_code));
    yield license;
  }
  if (app_code === undefined) return;
  if (codes.size === 0 && filter.app_code !== undefined)
    return refuseOtherApplication(api, app_code, filter.remote_user);
  const others = [...codes].filter((code) => code !== undefined);
  if (others.length > 0 && others.length === codes.size) throw otherApplication(others, app_code);
}

/** The code of a license of another application; undefined where it may be of this one. */
function otherCode(license: License, app_code: number): string | undefined {
  return likenessOfApp(license, app_code) === 'other' ? textOf(license, 'app_code') : undefined;
}

function otherApplication(codes: Iterable<string>, app_code: number): Failure {
  const [one = '', ...others] = codes;
  const named = others.length === 0 ? `application ${one}` : `the applications ${[one, ...others].join(', ')}`;
  return new Failure('auth', `this key belongs to ${named}, not ${app_code}`, {
    hint: `Use the key of application ${app_code}. If the code is wrong, set CHATELAINE_APP_CODE, or: chatelaine auth login licensing --base-url URL --app-code ${one}`,
  });
}
