import type { User } from '../records.ts';

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

/** The accounts of the chat organization. */
export const samplePeople: readonly User[] = [
  person(8, 'Mara', 'Mara Lindqvist', { role: 'administrator', settings: { email_address_visibility: 3 } }),
  person(9, 'Tomas', 'Tomás Ferreira', { settings: { timezone: 'Europe/Lisbon' } }),
  person(10, 'Ines', 'Ines Okafor', { settings: { email_address_visibility: 2 } }),
  person(11, 'Jonas', 'Jonas Weber', { joined: Date.UTC(2026, 1, 9, 8) / 1000 }),
  person(12, 'Priya', 'Priya Raman', { role: 'guest' }),
  person(13, 'ReleaseBot', 'Release Bot', { bot: 'generic', email: 'release-bot@harbour.example' }),
  person(14, 'Oskar', 'Oskar Nyberg', { active: false }),
  person(15, 'SentryHook', 'Crash Reports', { bot: 'incoming webhook', email: 'crash-reports-bot@harbour.example' }),
];
