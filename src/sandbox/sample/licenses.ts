import { licenseCode } from '../licensing/codes.ts';
import type { State } from '../state.ts';

/**
 * The applications of the licensing service. The keys are no secrets: they are the same in every sandbox and open nothing else.
 */
export const sampleApps = [
  { app_code: 4711, api_key: 'sandbox-key-of-app-4711' },
  { app_code: 4712, api_key: 'sandbox-key-of-app-4712' },
] as const;

/** Users of the two sample applications; the number of the license is its place in the sequence of codes. */
const rows: readonly (readonly [app_code: number, remote_user: string, size_allowance: number, created: string])[] = [
  [4711, 'clinic-north/ward-3', 6, '2026-01-14T09:20:11Z'],
  [4711, 'clinic-north/gait-lab', 17, '2026-01-14T09:24:40Z'],
  [4711, 'dr.abara@clinic-south.example', 2, '2026-01-20T13:05:02Z'],
  [4712, 'rowing-club-east', 8, '2026-01-22T16:41:30Z'],
  [4711, 'physio-7731', 4, '2026-02-02T07:58:19Z'],
  [4712, 'coach.lund@skiteam.example', 12, '2026-02-03T10:12:55Z'],
  [4711, 'physio-7740', 4, '2026-02-11T11:30:00Z'],
  [4712, 'trial-2026-02-17', 1, '2026-02-17T08:00:00Z'],
  [4711, 'O\'Neill, "Gait" & Sons', 3, '2026-02-24T15:45:27Z'],
  [4712, 'rowing-club-west', 8, '2026-03-02T09:09:09Z'],
];

/** Sensors that were activated: with which license (its number above), and when. The second was lent from physio-7731 to physio-7740. */
const activations: readonly (readonly [mac_address: string, license: number, time: string])[] = [
  ['D422CD000301', 1, '2026-01-15T07:31:00Z'],
  ['D422CD000302', 5, '2026-02-02T09:00:00Z'],
  ['D422CD000302', 7, '2026-02-12T14:20:00Z'],
  ['D422CD000303', 2, '2026-01-16T10:10:00Z'],
  ['D422CD000304', 4, '2026-01-23T06:45:00Z'],
  ['D422CD000305', 7, '2026-02-13T08:15:00Z'],
  ['00134300A17F09C2', 6, '2026-02-04T12:00:00Z'],
];

/** The licenses and activations that every sandbox begins with. */
export function addSampleLicenses(state: State): void {
  rows.forEach(([app_code, remote_user, size_allowance, created], index) => {
    const license_code = licenseCode(index + 1);
    state.licenses.put(license_code, { license_code, remote_user, app_code, size_allowance, created });
  });
  state.counters.put('license', rows.length);
  for (const [mac_address, license, time] of activations) {
    const row = { mac_address, license_code: licenseCode(license), time: Date.parse(time) / 1000 };
    state.activations.put(`${mac_address}/${row.license_code}`, row);
  }
}
