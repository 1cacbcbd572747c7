import { textOf } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { failuresByReason, type FailedRow } from '../../jobs/work/each.ts';
import { pool } from '../../jobs/work/pool.ts';
import { fileArgument, optional, type Values } from '../../schema/field.ts';
import { readMac, sensorRosterFields } from '../../schema/license.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Accounts, Invocation, Terminal } from '../context.ts';
import {
  apiOfEachApp,
  defaultConcurrency,
  readSheet,
  rosterOptions,
  workerOptions,
  type RosterParts,
  type RosterValues,
} from '../roster.ts';

export default command({
  about: [
    'Columns: mac_address, remote_user and optionally app_code. The API cannot list sensors, so the command looks up those in the file. Each row ends as ok, lent (first activated by the license of ' +
      'another user: who has it now is not known), never-activated or error. Exit code 10 if a sensor was lent, 8 if one could not be looked up. It is read-only: a run that ' +
      'was interrupted starts from the beginning.',
  ],
  input: { title: 'A roster', lines: ['mac_address,remote_user', 'D4:22:CD:00:03:01,ada', 'D4:22:CD:00:03:02,grace'] },
  args: { roster: fileArgument('ROSTER', 'File of sensors and their expected users; - is standard input') },
  options: {
    ...rosterOptions,
    ...optional({ app_code: sensorRosterFields.app_code }),
    ...workerOptions,
  },
  examples: ['chatelaine first-activation audit sensors.csv'],

  async *rows({ roster: file, app_code: givenApp, concurrency = defaultConcurrency, ...how }, context) {
    const { rows: sensors } = await readSensors(file, how, givenApp, context);
    for (const app_code of new Set(sensors.map((sensor) => sensor.app_code)))
      await context.licensingAccount({ app_code: givenApp, row_app_code: app_code });
    const licensing = apiOfEachApp(context, givenApp);
    for await (const row of auditSensors(sensors, licensing, concurrency, context))
      yield row.error === undefined ? row : { ...row, error: context.secrets.clean(row.error) };
  },

  fields: ['error'],

  show: {
    columns: [...whole('mac_address', 'remote_user'), 'app_code', 'status', ...whole('first_user')],
    others: 'known',
  },
});

type SensorFields = Values<typeof sensorRosterFields>;

/** Reads the roster: addresses in the form that is sent, and the run's application where a row has none. */
function readSensors(file: string, how: RosterValues, givenApp: number | undefined, context: Accounts & RosterParts) {
  const completion = async () => {
    const { mac_format, app_code: profileApp } = await context.licensingAccount({ app_code: givenApp });
    const read = mac_format === 'as_is' ? (mac: string) => mac : readMac;
    return (row: SensorFields): SensorFields => {
      const app_code = row.app_code ?? givenApp ?? profileApp;
      return { ...row, mac_address: read(row.mac_address), ...(app_code === undefined ? {} : { app_code }) };
    };
  };
  // A roster has each sensor once per application, however its address is spelled.
  const nameOf = ({ mac_address }: SensorFields) => mac_address;
  const keyOf = ({ mac_address, app_code }: SensorFields) => `${app_code ?? ''} ${mac_address}`;
  const rules = { fields: sensorRosterFields, noun: 'sensor', nameOf, keyOf, completion };
  return readSheet(file, how, rules, context);
}

interface SensorRow {
  readonly mac_address: string;
  readonly remote_user: string;
  readonly app_code: number | null;
  readonly status: 'ok' | 'lent' | 'never-activated' | 'error';
  /** Whose license activated the sensor first; null where nobody's did, or it is not known. */
  readonly first_user: string | null;
  readonly error?: string;
}

/** The audit ends after this many lookups in a row that find the server unavailable. */
const maxOutages = 3;

/**
 * Who should have activated each sensor first, and who did.
 * @throws Failure auth at once; incomplete where a lookup failed; differences where a sensor was lent
 */
async function* auditSensors(
  sensors: readonly SensorFields[],
  licensing: (app_code: number | undefined) => LicensingApi,
  concurrency: number,
  { signal, conclude, progress: show }: Invocation & Terminal,
): AsyncGenerator<SensorRow> {
  const progress = show('sensors', sensors.length);
  const counts = { ok: 0, lent: 0, 'never-activated': 0, error: 0 };
  const failed: FailedRow[] = [];
  let outages = 0;
  const work = async (sensor: SensorFields): Promise<SensorRow> => {
    const { row, failure } = await lookUp(sensor, licensing(sensor.app_code), signal);
    outages = failure?.kind === 'unavailable' && failure.retryable ? outages + 1 : 0;
    return row;
  };
  const untilGone = function* (): Generator<SensorFields> {
    for (const sensor of sensors) if (outages < maxOutages) yield sensor;
  };
  try {
    for await (const row of pool(untilGone(), concurrency, work)) {
      counts[row.status] += 1;
      if (row.error !== undefined) failed.push([row.mac_address, row.error]);
      progress.step();
      yield row;
    }
  } finally {
    progress.end();
  }
  const { ok, lent, 'never-activated': never } = counts;
  const left = sensors.length - ok - lent - never;
  const lost = `${left} of ${sensors.length} sensors could not be looked up`;
  if (left > 0)
    throw new Failure('incomplete', [lost, ...failuresByReason(failed)].join('\n'), {
      hint: 'Run the same command again: it looks up every sensor again.',
    });
  conclude(`sensors: ${ok} ok, ${lent} lent, ${never} never activated`);
  if (lent > 0) throw new Failure('differences', `sensors that were lent: ${lent}`);
}

async function lookUp(
  sensor: SensorFields,
  api: LicensingApi,
  signal: AbortSignal,
): Promise<{ readonly row: SensorRow; readonly failure?: Failure }> {
  const { mac_address, app_code } = sensor;
  const base = { ...sensor, app_code: app_code ?? null, first_user: null };
  try {
    const license = await api.firstActivation({ mac_address, app_code });
    if (!license) return { row: { ...base, status: 'never-activated' } };
    const first_user = textOf(license, 'remote_user');
    if (first_user === undefined)
      return { row: { ...base, status: 'error', error: 'the license does not name its user' } };
    return { row: { ...base, status: first_user === sensor.remote_user ? 'ok' : 'lent', first_user } };
  } catch (cause) {
    if (!(cause instanceof Failure) || signal.aborted || cause.kind === 'auth' || cause.kind === 'config') throw cause;
    const error = [cause.message, cause.details.hint].filter(Boolean).join('. ');
    return { row: { ...base, status: 'error', error }, failure: cause };
  }
}
