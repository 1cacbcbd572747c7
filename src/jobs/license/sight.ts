import { identityOf } from '../../api/licensing/license.ts';
import type { Milliseconds } from '../../core/duration.ts';
import type { LookupResult } from './application-lookups.ts';
import type { Case } from './case.ts';
import type { WriteSight } from './pending-writes.ts';

/** The filter does not find similar names, which the list of before the lock has shown. */
export function withHint({ seen, sent }: Case, result: LookupResult): LookupResult {
  return !sent && seen?.by === 'hint' && seen.result.shows === 'near' && result.shows === 'nothing'
    ? seen.result
    : result;
}

/** What a lookup says of a POST without an answer; a similar name is what the server may have made of it. */
export function sightOf({ seen, before }: Case, sentAt: Milliseconds): WriteSight {
  const result = seen?.result;
  if (result?.shows === 'no answer') return { is: 'no answer', failure: result.failure };
  const licenses = result && 'licenses' in result ? result.licenses : [];
  const isNew = licenses.some((license) => !before?.has(identityOf(license)));
  return isNew ? { is: 'shown' } : { is: 'not shown', sentAt };
}
