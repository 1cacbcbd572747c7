import { usage } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { collect, optional } from '../../schema/field.ts';
import { firstActivationFields, licenseExtras, readMac } from '../../schema/license.ts';
import { command } from '../command.ts';
import { licenseShow } from '../license/show.ts';

const { mac_address, app_code } = firstActivationFields;

export default command({
  about: [
    'Shows whose sensor it is: one that another user activated first was lent. An address is 12 or 16 hexadecimal digits in any ' +
      'spelling; it is sent as upper-case pairs with colons (as typed, where the profile says mac_format "as_is").',
  ],
  args: { mac_address: { ...mac_address, required: false, many: true } },
  options: {
    ...optional({ app_code }),
    from: {
      kind: 'string',
      nonempty: true,
      placeholder: 'FILE',
      help: 'Read addresses from a file, one a line; - is standard input',
    },
  },
  examples: [
    'chatelaine first-activation D4:22:CD:00:03:01',
    'chatelaine first-activation d422cd000302 d422cd000303 -o json',
  ],

  async *run({ mac_address: typed = [], from, app_code: code }, context) {
    const lines = from === undefined ? [] : (await context.read(from)).split(/\r?\n/).map((line) => line.trim());
    const addresses = [...typed, ...lines.filter((line) => line !== '')];
    if (addresses.length === 0) throw usage('give at least one sensor address, or --from FILE');
    const { mac_format, ...account } = await context.licensingAccount({ app_code: code });
    const macs = mac_format === 'as_is' ? addresses : collect(addresses, readMac);
    const licensing = context.licensing({ app_code: code });
    yield* each(
      macs,
      (mac) => mac,
      async (mac) => {
        const first = await licensing.firstActivation({ mac_address: mac, app_code: code ?? account.app_code });
        return { ...first, mac_address: mac };
      },
    );
  },

  fields: licenseExtras,

  show: {
    ...licenseShow,
    untruncated: ['mac_address', ...licenseShow.untruncated],
    columns: ['mac_address', ...licenseShow.columns],
    data: ({ mac_address, fields }) => ({ mac_address, ...fields }),
  },
});
