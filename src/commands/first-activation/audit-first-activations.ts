import { auditSensors } from '../../jobs/license/audit-sensors.ts';
import { fileArgument, optional, type Values } from '../../schema/field.ts';
import { readMac, sensorRosterFields } from '../../schema/license.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';
import type { Accounts } from '../context.ts';
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
    const { signal, conclude, secrets } = context;
    const progress = context.progress('sensors', sensors.length);
    const audit = { concurrency, licensing: apiOfEachApp(context, givenApp), signal, conclude, progress };
    for await (const row of auditSensors(sensors, audit))
      yield row.error === undefined ? row : { ...row, error: secrets.clean(row.error) };
  },

  fields: ['error'],

  show: {
    columns: [...whole('mac_address', 'remote_user'), 'app_code', 'status', ...whole('first_user')],
    others: 'known',
  },
});

type SensorFields = Values<typeof sensorRosterFields>;

/** A sensor is in a roster once in an application, whatever the spelling of its address. */
const oncePerSensor = {
  noun: 'sensor',
  nameOf: ({ mac_address }: SensorFields) => mac_address,
  keyOf: ({ mac_address, app_code }: SensorFields) => `${app_code ?? ''} ${mac_address}`,
};

/** Reads addresses in the form that is sent, and fills in the run's own application. */
function readSensors(file: string, how: RosterValues, givenApp: number | undefined, context: Accounts & RosterParts) {
  const completion = async () => {
    const { mac_format, app_code: profileApp } = await context.licensingAccount({ app_code: givenApp });
    const code = givenApp ?? profileApp;
    const read = mac_format === 'as_is' ? (mac: string) => mac : readMac;
    return (row: SensorFields): SensorFields => {
      const app_code = row.app_code ?? code;
      return { ...row, mac_address: read(row.mac_address), ...(app_code === undefined ? {} : { app_code }) };
    };
  };
  return readSheet(file, how, { fields: sensorRosterFields, ...oncePerSensor, completion }, context);
}
