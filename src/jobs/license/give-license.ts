import type { License } from '../../api/licensing/license.ts';
import type { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import { caseOf, type Case } from './case.ts';
import { createdInWords, openInWords, similarTo } from './case-words.ts';
import { Giving } from './give.ts';
import { RunState, type GivePorts } from './give-ports.ts';
import { concludeCase, type RowEnd, type RowResult } from './row-results.ts';

interface GivingOne extends Omit<GivePorts, 'several' | 'state' | 'agree' | 'concurrency' | 'names'> {
  /** Rejects where a person does not want another license; elsewhere it is a warning. */
  readonly agree?: (reason: string) => Promise<void>;
}

/** `failure`: to throw once the license is printed. */
interface GivenLicense {
  readonly status: RowResult['status'];
  readonly license: License;
  readonly size_allowance_before: number | null;
  readonly failure: Failure | undefined;
  /** The licenses of a user for whom one was created, where there are several. */
  readonly all: readonly License[];
}

/**
 * The user gets one license of that size: created, resized or left; or another one. One license is safe to repeat, and
 * beside other processes of this machine, or of every machine with the same ledger.
 * @throws Failure incomplete, rejected where the list forbids creation; unknown where a POST cannot be confirmed
 */
export async function giveLicense(asked: LicenseFields, one: GivingOne): Promise<GivenLicense> {
  const state = new RunState(one.signal);
  const { signal, agree, warn } = one;
  const several: GivePorts['several'] = new Map();
  const say = agree && ((before: Case) => sayBefore(before, agree, warn));
  const ports: GivePorts = { ...one, concurrency: 1, names: 'all forms', agree: say, several, state };
  let ended: RowEnd | undefined;
  let unread: Failure | undefined;
  const giving = new Giving(ports, {
    answered: () => undefined,
    async end(last, end) {
      ended = await concludeCase(last, end, one);
      if ('unread' in end) unread = end.unread;
    },
  });
  await giving.run([caseOf(asked)]);
  const { stopped } = state;
  const { status, license, size_allowance_before } = ended?.result ?? {};
  if (!status || !license) throw ended?.failure ?? stopped ?? new Error('neither a license nor a failure');
  if (unread && !unread.isInterruption)
    warn(`according to the server the license was created, but this could not be confirmed: ${unread.message}`);
  // What is printed is printed; a signal that came after it changes nothing.
  const afterwards = signal.aborted || unread ? undefined : stopped;
  const interruption = unread?.isInterruption ? unread : undefined;
  const failure = ended?.failure ?? interruption ?? afterwards;
  return {
    status,
    license,
    size_allowance_before: size_allowance_before ?? null,
    failure,
    all: several.get(asked) ?? [],
  };
}

/** Another license needs consent where a list shows one; an open answer and a similar name are a warning. */
async function sayBefore(
  { asked, seen, recorded, known }: Case,
  agree: (reason: string) => Promise<void>,
  warn: (text: string) => void,
): Promise<void> {
  const { remote_user, app_code } = asked;
  const result = seen?.result;
  if (result && 'failure' in result)
    warn(`the licenses of ${remote_user} could not be listed: ${result.failure.message}`);
  else if (result?.shows === 'licenses') {
    const { length } = result.licenses;
    const has = `${remote_user} already has ${length === 1 ? 'a license' : `${length} licenses`} in application ${app_code}`;
    await agree(`${has}: this creates another; license ensure would not`);
  } else {
    if (known) await agree(`${createdInWords(asked, known)}: this creates another`);
    const [near] = result?.shows === 'near' ? result.licenses : [];
    if (near) warn(similarTo(near, remote_user));
    if (recorded?.open) warn(`${openInWords(asked, recorded.open)}: this creates another one`);
  }
}
