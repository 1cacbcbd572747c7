import { Failure, usage } from '../../core/failure.ts';
import { optional } from '../../spec/field.ts';
import { licenseCode, licenseFields } from '../../spec/license.ts';
import { command } from '../command.ts';
import { keyAlone, licenseShow } from './show.ts';

const { remote_user, app_code } = licenseFields;

export default command({
  name: 'license view',
  summary: 'Show one license, or all of one user',
  args: { license_code: { ...licenseCode, required: false } },
  options: optional({ remote_user, app_code }),
  examples: ['chatelaine license view 0191A-86552-95939-DF69B', 'chatelaine license view --remote-user physio-7731 -q'],

  async *run({ license_code, ...filter }, context) {
    if ((license_code === undefined) === (filter.remote_user === undefined))
      throw usage('give either CODE or --remote-user U');
    const licensing = context.licensing(filter);
    if (license_code !== undefined) {
      yield await licensing.view(license_code);
      return;
    }
    let count = 0;
    for await (const license of licensing.list(filter)) {
      count += 1;
      yield license;
    }
    if (count === 0) throw new Failure('not_found', `no license of ${filter.remote_user ?? ''}`);
  },

  show: { ...licenseShow, ...keyAlone },
});
