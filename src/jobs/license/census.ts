import { textOf, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { fingerprint, type Fingerprints } from '../../core/fingerprints.ts';
import { gather } from '../../core/gather.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { pool } from '../work/pool.ts';

/** Up to so many users are looked up one by one; for more, one list of all licenses is cheaper. */
const fewUsers = 20;

/** Whose licenses are asked for. */
export interface CensusUsers {
  readonly prints: Fingerprints;
  readonly named: () => Iterable<string>;
}

/**
 * The licenses that each of the users has in one application, in the order of the server's list; who has none is not in it. Rows of
 * an unfiltered list that do not name their user are of no use: then users are looked up one by one (contract, section 5).
 * @throws Failure of the list
 */
export async function takeCensus(
  api: LicensingApi,
  app_code: number,
  { prints, named }: CensusUsers,
  concurrency: number,
): Promise<Map<string, License[]>> {
  if (prints.values.length > fewUsers) {
    const census = await fromList(api, app_code, prints);
    if (census) return census;
  }
  const census = new Map<string, License[]>();
  const look = async (remote_user: string): Promise<readonly [string, License[]]> => [
    remote_user,
    await gather(api.list({ remote_user, app_code })),
  ];
  for await (const [user, licenses] of pool(named(), concurrency, look)) census.set(user, licenses);
  return census;
}

async function fromList(
  api: LicensingApi,
  app_code: number,
  wanted: Fingerprints,
): Promise<Map<string, License[]> | undefined> {
  const census = new Map<string, License[]>();
  for await (const license of api.list({ app_code })) {
    const user = textOf(license, 'remote_user');
    if (user === undefined) return undefined;
    if (!wanted.has(fingerprint(user))) continue;
    const known = census.get(user);
    if (known) known.push(license);
    else census.set(user, [license]);
  }
  return census;
}

/** What has to happen so that a user has one license of the asked size (contract, section 1.3). */
export type Decision =
  | { readonly step: 'create' }
  | { readonly step: 'unchanged' | 'resize'; readonly license: License; readonly several: boolean };

/** Never a second license: of several, the one of the asked size is kept, else the first listed is resized. */
export function decide(found: readonly License[], { size_allowance }: Pick<LicenseFields, 'size_allowance'>): Decision {
  const [first] = found;
  if (!first) return { step: 'create' };
  const several = found.length > 1;
  const fitting = found.find((license) => hasSize(license, size_allowance));
  return fitting ? { step: 'unchanged', license: fitting, several } : { step: 'resize', license: first, several };
}

/** A license that does not tell its size cannot be known to fit. */
export function hasSize(license: License, size: number): boolean {
  return textOf(license, 'size_allowance') === String(size);
}

/** The warning for a user with several licenses. */
export function severalWarning({ remote_user, app_code }: Pick<LicenseFields, 'remote_user' | 'app_code'>): string {
  return `${remote_user} has several licenses in application ${app_code}: see chatelaine license audit`;
}
