import { hash } from 'node:crypto';
import type { ChannelRecord, User, Organization } from '../records.ts';
import type { State } from '../state.ts';

/** The keys are no secrets: they are the same in every sandbox and open nothing else. */
function person(user_id: number, name: string, full_name: string, traits: Partial<User> = {}): User {
  return {
    user_id,
    email: `${name.toLowerCase()}@harbour.example`,
    full_name,
    role: 'member',
    bot: 'none',
    active: true,
    api_key: `SandboxKeyOf${name}`.padEnd(32, '0'),
    password: `sandbox-password-of-${name.toLowerCase()}`,
    settings: {},
    pending_email: null,
    joined: Date.UTC(2026, 0, 5, 8) / 1000,
    ...traits,
  };
}

const jonasJoined = Date.UTC(2026, 1, 9, 8) / 1000;

/** The accounts of the chat organization. */
export const samplePeople: readonly User[] = [
  person(8, 'Mara', 'Mara Lindqvist', { role: 'administrator', settings: { email_address_visibility: 3 } }),
  person(9, 'Tomas', 'Tomás Ferreira', { settings: { timezone: 'Europe/Lisbon' } }),
  person(10, 'Ines', 'Ines Okafor', { settings: { email_address_visibility: 2 } }),
  person(11, 'Jonas', 'Jonas Weber', { joined: jonasJoined }),
  person(12, 'Priya', 'Priya Raman', { role: 'guest' }),
  person(13, 'ReleaseBot', 'Release Bot', { bot: 'generic', email: 'release-bot@harbour.example' }),
  person(14, 'Oskar', 'Oskar Nyberg', { active: false }),
  person(15, 'SentryHook', 'Crash Reports', { bot: 'incoming webhook', email: 'crash-reports-bot@harbour.example' }),
];

/** `members` receive the messages of a channel from the beginning. */
function channel(stream_id: number, name: string, members: readonly number[], traits: Partial<ChannelRecord> = {}) {
  const usual = { privacy: 'public', shared_history: true, archived: false, muted_by: [] } as const;
  const subscribers = members.map((user_id) => ({ user_id, since: 0 }));
  return { ...usual, stream_id, name, recipient_id: 100 + stream_id, subscribers, ...traits };
}

export const sampleChannels: readonly ChannelRecord[] = [
  channel(1, 'general', [8, 9, 10, 12]),
  channel(2, 'firmware', [8, 9]),
  channel(3, 'releases', [8, 9, 10], { privacy: 'web-public' }),
  channel(4, 'clinic-pilot', [9, 10], { privacy: 'private', shared_history: false }),
  channel(5, 'leads', [8, 9], { privacy: 'private' }),
  channel(6, 'hackathon-2024', [8, 9, 10], { archived: true }),
  channel(7, 'social', [8, 9, 10], { muted_by: [8] }),
];

/** The member who joined two channels later (UNIX seconds), and received only what came after. */
export const lateMember = { user_id: 11, since: jonasJoined, channels: [1, 2] };

/** The applications of the licensing service. The keys are no secrets: every sandbox has the same. */
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

/** Activated sensors: with which license (its number above), and when. The second was lent to physio-7740. */
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

/** The next license key; the same sequence in every sandbox, so that examples and tests can be repeated. */
export function newLicenseCode(state: State): string {
  const number = (state.counters.get('license') ?? 0) + 1;
  state.counters.put('license', number);
  return licenseCode(number);
}

export function licenseCode(number: number): string {
  const digits = hash('sha256', `sandbox license ${number}`).slice(0, 20).toUpperCase();
  return [0, 5, 10, 15].map((at) => digits.slice(at, at + 5)).join('-');
}

/** The organization of the sample data, and of a state that has none. */
export const sampleOrganization: Organization = {
  name: 'Harbour Motion',
  description: '<p>The team behind the Harbour Motion apps. Everything here is sample data of the sandbox.</p>',
  realm_str: 'harbour',
  one_of_many: false,
  deactivated: false,
  name_changes_disabled: false,
  email_changes_disabled: false,
  unique_names: false,
  passwords_in_ldap: false,
  email_domains: [],
  edit_history_visible: true,
  first_visible_message_id: 0,
};
