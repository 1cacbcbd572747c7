import type { License } from '../../api/licensing/license.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { caseOf } from './case.ts';
import { Giving } from './give.ts';
import type { GivePorts } from './give-ports.ts';
import { concludeCase, type RowEnd, type RowResult } from './row-results.ts';

/** `failure`: to throw once the license is printed. */
type GivenLicense = RowResult & { readonly license: License; readonly failure: Failure | undefined };

/**
 * The user gets one license of that size: created, resized or left; or another one. One license is safe to repeat, and
 * beside other processes of this machine, or of every machine with the same ledger.
 * @throws Failure incomplete, rejected where the list forbids creation; unknown where a POST cannot be confirmed
 */
export async function giveLicense(asked: LicenseFields, ports: GivePorts): Promise<GivenLicense> {
  const { signal, warn, state } = ports;
  let ended: RowEnd | undefined;
  let unread: Failure | undefined;
  const giving = new Giving(ports, async (last, end) => {
    ended = await concludeCase(last, end, ports);
    if ('unread' in end) unread = end.unread;
  });
  await giving.run([caseOf(asked)]);
  const { stopped } = state;
  const license = ended?.result.license;
  if (!ended || !license) throw ended?.failure ?? stopped ?? new Error('neither a license nor a failure');
  if (unread && !unread.isInterruption)
    warn(`according to the server the license was created, but this could not be confirmed: ${unread.message}`);
  // What is printed is printed; a signal that came after it changes nothing.
  const afterwards = signal.aborted || unread ? undefined : stopped;
  const interruption = unread?.isInterruption ? unread : undefined;
  return { ...ended.result, license, failure: ended.failure ?? interruption ?? afterwards };
}
