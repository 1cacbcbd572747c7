import type { Creation } from '../../api/licensing/license-writes.ts';
import { Failure } from '../../core/failure.ts';
import type { LicenseFields } from '../../schema/license.ts';
import type { AskedWrite } from '../../store/record/writes.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { GivePorts } from './give-ports.ts';
import type { Sent } from './places.ts';

type SentCreationWrite = Pick<AskedWrite, 'size_allowance' | 'licenses' | 'unanswered'> & { readonly isFirst: boolean };

/** Sends a POST, recorded before each attempt. One that an interruption cuts may have been sent. @throws a refusal */
export async function sendCreation(
  asked: LicenseFields,
  { isFirst, ...known }: SentCreationWrite,
  { licensing, placesOf, rules, signal }: GivePorts,
  breaker: CircuitBreaker,
) {
  const { app_code } = asked;
  const { settle } = rules;
  const write: AskedWrite = { kind: 'creation', app_code, settle, ...known, ...(isFirst && { isFirst }) };
  const create = async (attempt: () => Promise<void>): Promise<Sent<Creation | 'interrupted'>> => {
    try {
      const creation = await licensing(app_code).create(asked, attempt);
      if (creation.state === 'unanswered') return { value: creation, end: 'no answer' };
      const { http, license } = creation;
      return { value: creation, end: { is: 'answered', status: http.status, key_end: license?.key?.slice(-4) } };
    } catch (cause) {
      if (!(cause instanceof Failure) || cause === signal.reason) throw cause;
      if (!signal.aborted && !cause.isInterruption) throw cause;
      breaker.stop(cause);
      return { value: 'interrupted', end: 'no answer' };
    }
  };
  return placesOf(app_code).send([asked], write, create);
}
