import { createHash } from 'node:crypto';
import { usage } from '../../core/failure.ts';
import { auditSensors, type ExpectedSensor, type SensorRow } from '../../jobs/license/audit-sensors.ts';
import { readRows, refuseRepeats, within, type Completion, type Unique } from '../../jobs/roster/read-roster.ts';
import { collect, optional, type Values } from '../../schema/field.ts';
import { readMac, sensorRosterFields } from '../../schema/license.ts';
import type { Journal } from '../../store/journal.ts';
import { formatOf, type RosterFormat } from '../../store/roster/roster-file.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { apiOfEachApp, defaultConcurrency, rosterOptions, workerOptions } from '../roster.ts';

export default command({
  name: 'first-activation audit',
  summary: 'Find the sensors of a file that were lent',
  about: [
    'Columns: mac_address, remote_user and optionally app_code. Each row ends as ok, lent (the license of another user activated the ' +
      'sensor first), never-activated or error. Exit code 10 if a sensor was lent, 8 if one could not be looked up. A run that was cut off ' +
      'goes on where it stopped.',
  ],
  args: {
    roster: {
      kind: 'string',
      file: true,
      required: true,
      placeholder: 'ROSTER',
      help: 'The file of expected users; - is standard input',
    },
  },
  options: {
    ...rosterOptions,
    ...optional({ app_code: sensorRosterFields.app_code }),
    ...workerOptions,
    journal: {
      kind: 'string',
      nonempty: true,
      placeholder: 'FILE',
      help: 'Where answers are kept until the audit is whole (default: in the state folder)',
    },
  },
  examples: ['chatelaine first-activation audit sensors.csv'],

  async *run(
    { roster: file, input_format, app_code: typed, concurrency = defaultConcurrency, journal: journalFile },
    context,
  ) {
    const text = await context.read(file);
    const sensors = await sensorsOf(text, input_format ?? formatOf(file, text), typed, context);
    const identity = context.identityOf(await context.licensingAccount({ app_code: typed }));
    const header = {
      job: 'first-activation audit',
      identity,
      app_code: typed ?? null,
      input: createHash('sha256').update(text).digest('hex'),
    };
    yield* audit(sensors, concurrency, await context.journal(header, journalFile), context);
  },

  show: { columns: ['mac_address', 'remote_user', 'app_code', 'status', 'first_user'], others: true },
});

/** The journal is done with once every sensor has an answer. */
async function* audit(
  sensors: readonly ExpectedSensor[],
  concurrency: number,
  journal: Journal,
  context: Context,
): AsyncGenerator<SensorRow> {
  const progress = context.progress('sensors', sensors.length);
  let answered = 0;
  try {
    const { signal } = context;
    for await (const row of auditSensors(sensors, { licensing: apiOfEachApp(context), journal, concurrency, signal })) {
      progress.step();
      if (row.status !== 'error') answered += 1;
      yield row.error === undefined ? row : { ...row, error: context.clean(row.error) };
    }
  } finally {
    progress.end();
    await (answered === sensors.length ? journal.finish() : journal.close());
  }
}

/** The rows of the roster with their addresses as they are sent. */
async function sensorsOf(
  text: string,
  format: RosterFormat,
  typed: number | undefined,
  context: Context,
): Promise<ExpectedSensor[]> {
  const completion = async (): Promise<Completion<Row>> => {
    const { mac_format, app_code } = await context.licensingAccount({ app_code: typed });
    const read = mac_format === 'as_is' ? (mac: string) => mac : readMac;
    return (row) => withCode({ ...row, mac_address: read(row.mac_address) }, typed ?? app_code);
  };
  const rows = await readRows(text, format, sensorRosterFields, uniqueSensor, completion);
  if (rows.length === 0) throw usage('no rows');
  const complete = await completion();
  const sensors = collect(rows, ({ place, row }) => ({ place, row: within(place, () => complete(row)) }));
  refuseRepeats(sensors, uniqueSensor);
  return sensors.map(({ row }) => ({ ...row, app_code: row.app_code }));
}

type Row = Values<typeof sensorRosterFields>;

function withCode(row: Row, own: number | undefined): Row {
  return row.app_code !== undefined || own === undefined ? row : { ...row, app_code: own };
}

const uniqueSensor: Unique<{ readonly mac_address: string; readonly app_code?: number | undefined }> = {
  key: ({ mac_address, app_code }) => `${app_code ?? ''} ${mac_address}`,
  label: ({ mac_address }) => `the sensor ${mac_address}`,
};
