import { textOf } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { pool } from '../work/pool.ts';
import type { WorkMessages } from '../work/work-messages.ts';

interface ExpectedSensor {
  readonly mac_address: string;
  readonly remote_user: string;
  readonly app_code?: number | undefined;
}

interface SensorRow extends Omit<ExpectedSensor, 'app_code'> {
  readonly app_code: number | null;
  readonly status: 'ok' | 'lent' | 'never-activated' | 'error';
  /** Whose license activated the sensor first; null where nobody's did, or it is not known. */
  readonly first_user: string | null;
  readonly error?: string;
}

interface SensorAudit extends Pick<WorkMessages, 'conclude'> {
  readonly licensing: (app_code: number | undefined) => LicensingApi;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly progress: { step(): void; end(): void };
}

/** The audit ends after this many lookups in a row that find the server unavailable. */
const maxOutages = 3;

/**
 * Who should have activated each sensor first, and who did.
 * @throws Failure auth at once; incomplete where a lookup failed; differences where a sensor was lent
 */
export async function* auditSensors(sensors: readonly ExpectedSensor[], audit: SensorAudit): AsyncGenerator<SensorRow> {
  const counts = { ok: 0, lent: 0, 'never-activated': 0, error: 0 };
  let outages = 0;
  const work = async (sensor: ExpectedSensor): Promise<SensorRow> => {
    const { row, failure } = await lookUp(sensor, audit);
    outages = failure?.kind === 'unavailable' && failure.retryable ? outages + 1 : 0;
    return row;
  };
  const untilGone = function* (): Generator<ExpectedSensor> {
    for (const sensor of sensors) if (outages < maxOutages) yield sensor;
  };
  const left = (): number => sensors.length - counts.ok - counts.lent - counts['never-activated'];
  try {
    for await (const row of pool(untilGone(), audit.concurrency, work)) {
      counts[row.status] += 1;
      audit.progress.step();
      yield row;
    }
  } finally {
    audit.progress.end();
  }
  if (left() > 0)
    throw new Failure('incomplete', `${left()} of ${sensors.length} sensors could not be looked up`, {
      hint: 'Run the same command again: it looks up every sensor again.',
    });
  const { ok, lent, 'never-activated': never } = counts;
  audit.conclude(`sensors: ${ok} ok, ${lent} lent, ${never} never activated`);
  if (lent > 0) throw new Failure('differences', `sensors that were lent: ${lent}`);
}

async function lookUp(
  sensor: ExpectedSensor,
  { licensing, signal }: SensorAudit,
): Promise<{ readonly row: SensorRow; readonly failure?: Failure }> {
  const { mac_address, app_code } = sensor;
  const base = { ...sensor, app_code: app_code ?? null, first_user: null };
  try {
    const license = await licensing(app_code).firstActivation({ mac_address, app_code });
    if (!license) return { row: { ...base, status: 'never-activated' } };
    const first_user = textOf(license, 'remote_user');
    if (first_user === undefined)
      return { row: { ...base, status: 'error', error: 'the license does not name its user' } };
    return { row: { ...base, status: first_user === sensor.remote_user ? 'ok' : 'lent', first_user } };
  } catch (cause) {
    if (!(cause instanceof Failure) || signal.aborted || cause.kind === 'auth' || cause.kind === 'config') throw cause;
    const { hint } = cause.details;
    const error = hint === undefined ? cause.message : `${cause.message}. ${hint}`;
    return { row: { ...base, status: 'error', error }, failure: cause };
  }
}
