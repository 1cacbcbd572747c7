import type { License } from '../api/license-key.ts';
import type { LicensingApi } from '../api/licensing.ts';
import { Failure } from '../core/failure.ts';
import type { Journal } from '../store/journal.ts';
import { pool } from './pool.ts';

/** A sensor and the user who should have activated it first. */
export interface ExpectedSensor {
  readonly mac_address: string;
  readonly remote_user: string;
  readonly app_code: number | undefined;
}

export interface SensorRow extends Omit<ExpectedSensor, 'app_code'> {
  readonly app_code: number | null;
  readonly status: 'ok' | 'lent' | 'never-activated' | 'error';
  /** Whose license activated the sensor first; null where nobody's did, or it is not known. */
  readonly first_user: string | null;
  readonly error?: string;
}

export interface SensorAudit {
  readonly licensing: (app_code: number | undefined) => LicensingApi;
  readonly journal: Pick<Journal, 'records' | 'append'>;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

/**
 * Compares who should have activated each sensor first with who did. Answers are kept in the journal, so that a run that was cut
 * off goes on where it stopped.
 * @throws Failure auth at once; incomplete where a sensor could not be looked up; differences where one was lent
 */
export async function* auditSensors(sensors: readonly ExpectedSensor[], audit: SensorAudit): AsyncGenerator<SensorRow> {
  const known = new Map((audit.journal.records as readonly SensorRow[]).map((row) => [sensorKey(row), row]));
  const counts = { ok: 0, lent: 0, 'never-activated': 0, error: 0 };
  for await (const row of pool(
    sensors,
    audit.concurrency,
    async (sensor) => known.get(sensorKey(sensor)) ?? lookUp(sensor, audit),
  )) {
    counts[row.status] += 1;
    yield row;
  }
  if (counts.error > 0)
    throw new Failure('incomplete', `${counts.error} of ${sensors.length} sensors could not be looked up`, {
      hint: 'Run the same command again.',
    });
  if (counts.lent > 0) throw new Failure('differences', `${counts.lent} sensors were lent`);
}

function sensorKey({
  mac_address,
  remote_user,
  app_code,
}: {
  mac_address: string;
  remote_user: string;
  app_code?: number | null | undefined;
}): string {
  return `${app_code ?? ''} ${mac_address} ${remote_user}`;
}

async function lookUp(sensor: ExpectedSensor, { licensing, journal, signal }: SensorAudit): Promise<SensorRow> {
  const { mac_address, app_code } = sensor;
  const base = { ...sensor, app_code: app_code ?? null };
  try {
    const license = await licensing(app_code).firstActivation({ mac_address, app_code });
    const row = { ...base, ...judge(sensor, license) };
    if (row.status !== 'error') await journal.append(row);
    return row;
  } catch (cause) {
    if (!(cause instanceof Failure) || signal.aborted || cause.kind === 'auth' || cause.kind === 'config') throw cause;
    if (cause.kind !== 'not_found') return { ...base, status: 'error', first_user: null, error: cause.message };
    const row = { ...base, status: 'never-activated' as const, first_user: null };
    await journal.append(row);
    return row;
  }
}

function judge({ remote_user }: ExpectedSensor, license: License): Pick<SensorRow, 'status' | 'first_user' | 'error'> {
  const first = license['remote_user'];
  if (typeof first !== 'string' && typeof first !== 'number')
    return { status: 'error', first_user: null, error: 'the license does not name its user' };
  return { status: String(first) === remote_user ? 'ok' : 'lent', first_user: String(first) };
}
