import type { License } from '../../api/licensing/license.ts';
import { Failure, usage } from '../../core/failure.ts';
import { each, failuresByReason, isFatal, type FailedRow } from '../../jobs/work/each.ts';
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
    let never = 0;
    const errors: FailedRow[] = [];
    let failure: Failure | undefined;
    yield* each(macs, String, async (mac_address) => {
      try {
        const first = await licensing.firstActivation({ mac_address, app_code: code ?? account.app_code });
        if (!first) never += 1;
        const status = first ? 'activated' : 'never-activated';
        return { ...(first ?? noLicense), mac_address, status, error: undefined };
      } catch (cause) {
        // A response that is refused, or cannot be trusted, for this sensor says nothing about the next one.
        const isOther = cause instanceof Failure && (cause.kind === 'unavailable' ? !cause.retryable : !isFatal(cause));
        if (!isOther || macs.length === 1) throw cause;
        failure ??= cause;
        errors.push([mac_address, cause.message]);
        return { ...noLicense, mac_address, status: 'error', error: context.secrets.clean(cause.message) };
      }
    });
    const lost = failuresByReason(errors, `of ${macs.length} sensors could not be looked up`);
    if (failure) throw failure.as('incomplete', lost.join('\n'));
    const some = `${never} of ${macs.length} sensors ${never === 1 ? 'was' : 'were'} never activated`;
    const text = macs.length === 1 ? `no license has activated the sensor ${macs.join('')}` : some;
    if (never > 0) throw new Failure('not_found', text);
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
