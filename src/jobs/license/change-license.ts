import { differencesFrom, keyOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import type { Attempt, LicensingApi } from '../../api/licensing/licensing.ts';
import { formatDuration } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { settledAt, type AskedWrite, type LicenseUser, type WriteEnd } from '../../store/record/writes.ts';
import { changeOf, type LicenseHistory } from './history.ts';
import type { WriteSight } from './pending-writes.ts';
import type { Places, Sent } from './places.ts';

/** A change of one license, whose users are locked. */
export interface LicenseChange {
  readonly api: LicensingApi;
  /** The user of the license, and the one that the change gives it. */
  readonly users: readonly LicenseUser[];
  readonly found: License;
  readonly fields: EditedFields;
  readonly method?: 'PATCH' | 'PUT';
}

export interface ChangePorts {
  readonly places: Places;
  readonly history: LicenseHistory;
  readonly signal: AbortSignal;
}

/**
 * Changes a license, recorded before and after. A request without an answer is sent again once it is known that it was
 * not processed. @throws Failure unknown where that cannot be known; as the request
 */
export async function changeLicense(change: LicenseChange, ports: ChangePorts): Promise<License> {
  const { found, fields } = change;
  const record: Recorder = (event) => ports.history.record({ ...changeOf(found, fields), event });
  const license = await sendUntilKnown(change, ports, record);
  await record('changed');
  // A response without the license has only the requested fields: the others are unchanged.
  return textOf(license, 'remote_user') === undefined
    ? { ...license, fields: { ...found.fields, ...license.fields } }
    : license;
}

type Recorder = (event: 'changing' | 'changed' | 'refused') => Promise<boolean>;

async function sendUntilKnown(change: LicenseChange, ports: ChangePorts, record: Recorder): Promise<License> {
  const { api, found, fields, users } = change;
  const { places, signal } = ports;
  const { settle, retries, elapsed } = places.world;
  const [code, size_allowance] = [keyOf(found), fields.size_allowance];
  let shown: License | undefined;
  const look = async (): Promise<WriteSight> => {
    const sentAt = elapsed();
    try {
      const license = await places.look(() => api.view(code));
      if (differencesFrom(fields, license).length > 0) return { is: 'not shown', sentAt };
      shown = license;
      return { is: 'shown' };
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      return { is: 'no answer', failure };
    }
  };
  await record('changing');
  for (let unanswered = 0; ; unanswered += 1) {
    const asked: AskedWrite = { kind: 'change', size_allowance, key_end: code.slice(-4), settle, unanswered };
    const sending = places.send(users, asked, (attempt) => send(change, signal, attempt));
    const { id, value, lost } = await sending.catch(async (cause: unknown) => {
      if (cause instanceof Failure) await record('refused');
      throw cause;
    });
    if (!lost) await places.store.recorded(id);
    if (!(value instanceof Failure)) return value;
    if (!lost) throw value;
    if (value.isInterruption || signal.aborted) {
      places.leave();
      throw value.as(value.kind, value.message, { hint: settleHint });
    }
    const how = await places.settle(lost, look).catch((cause: unknown) => orUnknown(cause, value));
    places.pending.end(lost.id, how === 'shown' ? endOf(change) : { is: 'not processed' });
    if (shown) return shown;
    if (unanswered < retries) continue;
    const times = unanswered === 0 ? 'once' : `${unanswered + 1} times`;
    throw value.as('unknown', `${value.message}; sent ${times}, and the license is not changed`, {
      hint: 'Run the same command again.',
      retryable: false,
    });
  }
}

const settleHint = 'Run the same command again: it first waits until that request is known to be processed, or not.';

/** A rename is recorded as answered, not as shown, because a list may show the new name late. */
function endOf({ users }: LicenseChange): Extract<WriteEnd, { readonly is: 'answered' | 'shown' }> {
  return users.length > 1 ? { is: 'answered', status: 200 } : { is: 'shown' };
}

/** Sends the change once; `no answer`: it may have been processed. @throws Failure of a request that changed nothing */
async function send(change: LicenseChange, signal: AbortSignal, attempt: Attempt): Promise<Sent<License | Failure>> {
  try {
    const { api, found, fields, method } = change;
    const edit = { code: keyOf(found), fields, before: found, method, attempt };
    return { value: await api.update(edit), end: endOf(change) };
  } catch (cause) {
    if (!(cause instanceof Failure) || cause === signal.reason) throw cause;
    // What the server says that it changed, and does not show yet, may be shown late.
    const isAnswered = cause.kind === 'rejected' && (cause.details.http?.status ?? 400) < 400;
    if (isAnswered) return { value: cause, end: { is: 'answered', status: 200 } };
    if (cause.kind !== 'unknown' && !cause.isInterruption) throw cause;
    return { value: cause, end: 'no answer' };
  }
}

/** Throws `unknown`, because the lookups failed that would have shown whether the request was processed. */
function orUnknown(cause: unknown, unanswered: Failure): never {
  if (!(cause instanceof Failure) || cause.isInterruption) throw cause;
  throw unanswered.as('unknown', `${unanswered.message}; ${cause.message}`, { hint: settleHint, retryable: false });
}

/**
 * Locks these users, waits until earlier requests for them are settled, and works on a license if it still belongs to
 * `user`, or to the one who is to get it. @throws Failure rejected where it belongs to somebody else
 */
export async function whileOwned<T>(
  users: readonly LicenseUser[],
  user: string | undefined,
  code: string,
  api: LicensingApi,
  places: Places,
  work: (found: License) => Promise<T>,
): Promise<T> {
  const { store, world } = places;
  const lock = await store.lock(users);
  try {
    const known = await store.allKnown(users);
    const earlier = known.flatMap(({ pending }) => pending);
    const wait = Math.max(-Infinity, ...earlier.map((write) => settledAt(write, world.settle))) - world.elapsed();
    if (wait > 0) {
      const name = users.at(-1)?.remote_user ?? '';
      world.say(`an earlier request for '${name}' may not be shown yet: waiting ${formatDuration(Math.ceil(wait))}`);
      await world.sleep(wait);
    }
    const found = await places.read(() => api.view(code));
    const now = textOf(found, 'remote_user');
    if (now === user || now === users.at(-1)?.remote_user) {
      const done = await work(found);
      // Later runs would look for a license that no list had shown yet under the name that it had.
      for (const { open } of known) if (open?.key_end === code.slice(-4)) places.pending.end(open.id, { is: 'shown' });
      return done;
    }
    throw new Failure('rejected', `the license of '${user ?? ''}' belongs to '${now ?? ''}' now; it was not changed`);
  } finally {
    await lock.release();
  }
}
