import type { License } from '../../api/licensing/license.ts';
import type { LicenseFilter } from '../../api/licensing/license-list.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure, usage } from '../../core/failure.ts';
import { optional } from '../../schema/field.ts';
import { licenseCode, licenseFields } from '../../schema/license.ts';
import { command } from '../command.ts';
import { keyAlone, licenseShow } from './show.ts';

const { remote_user, app_code } = licenseFields;

export default command({
  name: 'license view',
  summary: 'Show one license, or all of one user',
  args: { license_code: { ...licenseCode, required: false } },
  options: optional({ remote_user, app_code }),
  examples: ['chatelaine license view 0191A-86552-95939-DF69B', 'chatelaine license view --remote-user physio-7731 -q'],

  run({ license_code, ...filter }, context) {
    if ((license_code === undefined) === (filter.remote_user === undefined))
      throw usage('give either CODE or --remote-user U');
    const licensing = context.licensing(filter);
    return license_code === undefined ? ofUser(licensing, filter) : licensing.view(license_code);
  },

  show: { ...licenseShow, ...keyAlone },
});

async function* ofUser(licensing: LicensingApi, filter: LicenseFilter): AsyncGenerator<License> {
  let count = 0;
  for await (const license of licensing.list(filter)) {
    count += 1;
    yield license;
  }
  if (count === 0) throw new Failure('not_found', `the user '${filter.remote_user ?? ''}' has no license`);
}
