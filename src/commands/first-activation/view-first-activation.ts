import type { License } from '../../api/licensing/license.ts';
import { Failure, usage } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { collect, optional, textField } from '../../schema/field.ts';
import { firstActivationFields, licenseExtras, readMac } from '../../schema/license.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import { licenseShow, withOurs } from '../license/show.ts';
import type { Disk, Terminal } from '../context.ts';
import { readSheet, rosterOptions, sheetRules, type RosterValues } from '../roster.ts';

const { mac_address, app_code } = firstActivationFields;

export default command({
  about: [
    'Shows whose license activated a sensor first; who has the sensor today is not known. An address is 12 or 16 hexadecimal digits in any ' +
      'spelling; it is sent as upper-case pairs with colons (as typed, if the profile says mac_format "as_is"). A sensor that nobody ' +
      'has activated has the status never-activated; the exit code is then 5.',
  ],
  args: { mac_address: { ...mac_address, required: false, many: true } },
  options: {
    ...optional({ app_code }),
    from: textField(
      'FILE',
      'Read addresses from a file: one a line, or a table or workbook with a column mac_address; - is standard input',
    ),
    ...rosterOptions,
  },
  rules: sheetRules,

  examples: [
    'chatelaine first-activation D4:22:CD:00:03:01',
    'chatelaine first-activation d422cd000302 d422cd000303 -o json',
  ],

  async *rows({ mac_address: args = [], from, app_code: code, ...how }, context) {
    if (args.length === 0 && from === undefined) throw usage('give at least one sensor address, or --from FILE');
    const { mac_format, ...account } = await context.licensingAccount({ app_code: code });
    const read = mac_format === 'as_is' ? (mac: string) => mac : readMac;
    const macs = [...collect(args, read), ...(from === undefined ? [] : await addressesIn(from, how, read, context))];
    const licensing = context.licensing({ app_code: code });
    const never: string[] = [];
    const errors: Failure[] = [];
    yield* each(macs, String, async (mac_address) => {
      try {
        const first = await licensing.firstActivation({ mac_address, app_code: code ?? account.app_code });
        if (!first) never.push(mac_address);
        const status = first ? 'activated' : 'never-activated';
        return { ...(first ?? noLicense), mac_address, status, error: undefined };
      } catch (cause) {
        // A response that cannot be trusted for this sensor says nothing about the next one: the lookups continue.
        const isOther = cause instanceof Failure && cause.kind === 'unavailable' && !cause.retryable;
        if (!isOther || macs.length === 1) throw cause;
        errors.push(cause);
        return { ...noLicense, mac_address, status: 'error', error: context.secrets.clean(cause.message) };
      }
    });
    const [error] = errors;
    const lost = `${errors.length} of ${macs.length} sensors could not be looked up`;
    if (error) throw error.as('incomplete', `${lost}: ${error.message}`);
    const [mac] = never;
    if (mac === undefined) return;
    const some = `${never.length} of ${macs.length} sensors ${never.length === 1 ? 'was' : 'were'} never activated`;
    throw new Failure('not_found', macs.length === 1 ? `no license has activated the sensor ${mac}` : some);
  },

  fields: licenseExtras,

  show: {
    ...licenseShow,
    columns: [...whole('mac_address'), ...licenseShow.columns, 'status'],
    data: ({ mac_address, status, error, fields }) => ({
      mac_address,
      ...withOurs(fields, { mac_address, status, error }),
    }),
  },
});

/** Reads addresses from a list or from a table's column; one may occur twice. @throws Failure usage */
async function addressesIn(file: string, how: RosterValues, read: typeof readMac, context: Disk & Terminal) {
  const completion = async () => (row: { readonly mac_address: string }) => ({ mac_address: read(row.mac_address) });
  const rules = { fields: { mac_address }, alone: 'mac_address', noun: 'sensor', nameOf: String, completion };
  return (await readSheet(file, how, rules, context)).rows.map((row) => row.mac_address);
}

const noLicense: License = { key: undefined, fields: {} };
