import type { ChannelRecord, User } from '../records.ts';

/** The keys are no secrets: they are the same in every sandbox and open nothing else. */
function keyOf(name: string): string {
  return `SandboxKeyOf${name}`.padEnd(32, '0');
}

function person(user_id: number, name: string, full_name: string, traits: Partial<User> = {}): User {
  return {
    user_id,
    email: `${name.toLowerCase()}@harbour.example`,
    full_name,
    role: 'member',
    bot: 'none',
    active: true,
    api_key: keyOf(name),
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

/** A channel of the sample; `members` receive its messages from the beginning, `late` from that moment (UNIX seconds) on. */
export interface SampleChannel {
  readonly channel: Omit<ChannelRecord, 'subscribers'>;
  readonly members: readonly number[];
  readonly late?: { readonly user_id: number; readonly since: number };
}

const common = { privacy: 'public', shared_history: true, archived: false, muted_by: [] } as const;
const late = { user_id: 11, since: jonasJoined };

export const sampleChannels: readonly SampleChannel[] = [
  {
    channel: { ...common, stream_id: 1, name: 'general', recipient_id: 101 },
    members: [8, 9, 10, 12],
    late,
  },
  { channel: { ...common, stream_id: 2, name: 'firmware', recipient_id: 102 }, members: [8, 9], late },
  {
    channel: { ...common, stream_id: 3, name: 'releases', recipient_id: 103, privacy: 'web-public' },
    members: [8, 9, 10],
  },
  {
    channel: {
      ...common,
      stream_id: 4,
      name: 'clinic-pilot',
      recipient_id: 104,
      privacy: 'private',
      shared_history: false,
    },
    members: [9, 10],
  },
  { channel: { ...common, stream_id: 5, name: 'leads', recipient_id: 105, privacy: 'private' }, members: [8, 9] },
  {
    channel: { ...common, stream_id: 6, name: 'hackathon-2024', recipient_id: 106, archived: true },
    members: [8, 9, 10],
  },
  { channel: { ...common, stream_id: 7, name: 'social', recipient_id: 107, muted_by: [8] }, members: [8, 9, 10] },
];
