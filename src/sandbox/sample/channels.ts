import type { ChannelRecord } from '../records.ts';

/** A channel of the sample; `members` receive its messages from the beginning, `late` from that moment (UNIX seconds) on. */
export interface SampleChannel {
  readonly channel: Omit<ChannelRecord, 'subscribers'>;
  readonly members: readonly number[];
  readonly late?: { readonly user_id: number; readonly since: number };
}

const common = { privacy: 'public', shared_history: true, archived: false, muted_by: [] } as const;
const jonasJoins = { user_id: 11, since: Date.UTC(2026, 1, 9, 8) / 1000 };

export const sampleChannels: readonly SampleChannel[] = [
  {
    channel: { ...common, stream_id: 1, name: 'general', recipient_id: 101 },
    members: [8, 9, 10, 12],
    late: jonasJoins,
  },
  { channel: { ...common, stream_id: 2, name: 'firmware', recipient_id: 102 }, members: [8, 9], late: jonasJoins },
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
