import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { Answer } from '../http/call.ts';
import { inDoubt, isNothing, licenseOf, refuse, shownLicense, type LicensingLine } from './license-answer.ts';
import type { License } from './license-key.ts';
import { licenses, listPages, parametersOf, type LicenseFilter } from './license-list.ts';
import { path, type Path } from '../http/path.ts';

export interface LicensingApi {
  /** POST. Undefined: created, and the answer holds no license. @throws Failure unknown in doubt */
  create(license: LicenseFields): Promise<License | undefined>;
  /** GET, all pages; filtered again here. @throws Failure incomplete where a later page fails */
  list(filter?: LicenseFilter): AsyncGenerator<License>;
  /** @throws Failure not_found */
  view(code: string): Promise<License>;
  /** PUT: the whole license. @throws Failure not_found */
  replace(code: string, license: LicenseFields): Promise<License>;
  /** PATCH: only the fields given. @throws Failure not_found */
  update(code: string, fields: Partial<LicenseFields>): Promise<License>;
  /** The earliest license that activated the sensor. @throws Failure not_found where there is none */
  firstActivation(query: { readonly mac_address: string; readonly app_code?: number | undefined }): Promise<License>;
}

const license = (code: string): Path => path`/v1/license/${{ name: 'license_code', value: code }}/`;

/** Each licensing URL, and the meaning of its answers (specification, Endpoints; contract, section 5). */
export function licensingApi(open: () => Promise<LicensingLine>): LicensingApi {
  return {
    async create(fields) {
      const line = await open();
      const answer = await line.send({ method: 'POST', path: licenses, json: fields, repeat: 'if unprocessed' });
      refuse(answer);
      if (isNothing(answer)) return undefined;
      if (answer.body === undefined && !isUnreadKey(answer)) throw inDoubt(answer);
      return createdIn(answer, line);
    },

    list: (filter = {}) => listPages(open, filter),

    async view(code) {
      const line = await open();
      const answer = await line.send({ method: 'GET', path: license(code), repeat: 'safe' });
      refuse(answer, 'no license has this code');
      return shownLicense(answer, line);
    },

    replace: async (code, fields) => edit(await open(), 'PUT', code, fields),

    update: async (code, fields) => edit(await open(), 'PATCH', code, fields),

    async firstActivation({ mac_address, app_code }) {
      const query = parametersOf({ mac_address, app_code });
      const line = await open();
      const answer = await line.send({ method: 'GET', path: path`/v1/first-activation/`, query, repeat: 'safe' });
      const missing = `no license has activated the sensor ${mac_address}`;
      refuse(answer, missing);
      if (isNothing(answer)) throw new Failure('not_found', missing, { http: answer.http });
      return shownLicense(answer, line);
    },
  };
}

/** 201 with a text that is neither a page nor cut JSON: created, as after an empty answer. */
function isUnreadKey({ status, text }: Answer): boolean {
  return status === 201 && !/^\s*[<{["]/.test(text);
}

/** Something else than a license: it was created all the same, and must not be reported as safe to run again. */
function createdIn(answer: Answer, line: LicensingLine): License | undefined {
  try {
    return shownLicense(answer, line);
  } catch (cause) {
    if (cause instanceof Failure) return undefined;
    throw cause;
  }
}

async function edit(
  line: LicensingLine,
  method: 'PUT' | 'PATCH',
  code: string,
  fields: Partial<LicenseFields>,
): Promise<License> {
  const answer = await line.send({ method, path: license(code), json: fields, repeat: 'safe' });
  refuse(answer, 'no license has this code');
  return isNothing(answer) ? { license_code: code, ...fields } : licenseOf(answer, line);
}
