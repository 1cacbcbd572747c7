import { topicLevels } from '../../schema/topic.ts';
import { addMessage } from '../chat/post.ts';
import { render } from '../chat/render.ts';
import type { MessageRecord } from '../records.ts';
import type { State } from '../state.ts';
import { policyKey } from '../chat/topic-names.ts';
import { viewKey } from '../chat/views.ts';
import { lateMember, sampleOrganization, addSampleLicenses, sampleChannels, samplePeople } from './organization.ts';
import { calibrationLog, nightlyBuilds, sampleConversations, type Conversation } from './conversations.ts';

/** More messages at the end of a topic, a minute apart; `chars`: their length, some 30 by default. */
export interface ExtraMessages {
  readonly channel: string;
  readonly topic: string;
  readonly count: number;
  readonly chars?: number;
}

/** Everything that a sandbox begins with. The same at every start, and never written to a log. */
export function addSample(state: State, level: number): void {
  addSampleLicenses(state);
  state.organization.put('chat', sampleOrganization);
  for (const user of samplePeople) state.users.put(user.user_id, user);
  for (const channel of sampleChannels) state.channels.put(channel.stream_id, channel);
  const known = sampleMessages.get(level);
  if (known) for (const row of known) state.messages.put(row.id, row);
  else converse(state, level);
  state.counters.put('message', state.messages.rows().at(-1)?.id ?? 0);
  sampleMessages.set(level, state.messages.rows());
  addLateMember(state);
  addPersonal(state);
}

/** The messages by feature level: rows never change, so every sandbox of a process and every reset has the same. */
const sampleMessages = new Map<number, readonly MessageRecord[]>();

function converse(state: State, level: number): void {
  const known = (row: Conversation) =>
    row.stream_id === undefined || row.topic !== '' || level >= topicLevels.emptyTopic;
  const all = [...sampleConversations.filter(known), calibrationLog, nightlyBuilds].flatMap((conversation) => {
    let time = Date.parse(conversation.begins);
    return conversation.lines.map((line) => {
      time += line[1] * 60_000;
      return { time, conversation, line };
    });
  });
  state.counters.put('message', 1000);
  for (const { time, conversation, line } of all.sort((one, other) => one.time - other.time)) {
    const { topic, stream_id, people, recipient_id } = conversation;
    const [sender_id, , content, more] = line;
    const place = stream_id === undefined ? { people: people ?? [], recipient_id: recipient_id ?? 0 } : { stream_id };
    addMessage(state, { client: 'website', subject: topic, sender_id, content, ...place, ...more }, time);
  }
}

function addLateMember(state: State): void {
  const since = state.messages.rows().find(({ timestamp }) => timestamp >= lateMember.since)?.id ?? 0;
  for (const channel of sampleChannels) {
    if (!lateMember.channels.includes(channel.stream_id)) continue;
    const subscribers = [...channel.subscribers, { user_id: lateMember.user_id, since }];
    state.channels.put(channel.stream_id, { ...channel, subscribers });
  }
}

function addPersonal(state: State): void {
  const views: readonly (readonly [user_id: number, fragment: string, is_pinned: boolean, name: string | null])[] = [
    [8, 'inbox', true, null],
    [8, 'narrow/is/starred', false, null],
    [8, 'narrow/is/alerted', false, 'Alert Words'],
    [8, 'narrow/channel/1-general/topic/license.20audit', true, 'License audit'],
    [9, 'narrow/channel/2-firmware', true, 'Firmware'],
    [13, 'narrow/channel/3-releases', false, 'Releases'],
  ];
  for (const [user_id, fragment, is_pinned, name] of views)
    state.views.put(viewKey(user_id, fragment), { user_id, fragment, is_pinned, name });
  const welcome = 'Welcome to the team! Start at https://wiki.harbour.example/onboarding';
  const snippets: readonly (readonly [user_id: number, date_created: number, title: string, content: string])[] = [
    [8, 1_768_204_800, 'Welcome', welcome],
    [8, 1_768_291_200, 'One key each', 'A license key is for **one** user. Please ask for another one.'],
    [9, 1_768_809_600, 'Radio', 'Which radio channel, and how many sensors?'],
    [13, 1_769_616_000, 'Out', '**{version}** is out.'],
  ];
  for (const [index, [user_id, date_created, title, content]] of snippets.entries())
    state.snippets.put(index + 1, { id: index + 1, user_id, title, content, date_created });
  const policies = [
    { user_id: 8, stream_id: 1, topic: 'license audit', policy: 'followed' },
    { user_id: 8, stream_id: 1, topic: 'lunch', policy: 'muted' },
    { user_id: 9, stream_id: 2, topic: 'nightly builds', policy: 'muted' },
  ] as const;
  for (const row of policies) state.topicPolicies.put(policyKey(row), row);
}

/** Hides all but the newest messages, as plans do (docs/apis.md, Limited history). */
export function hideHistory(state: State, shown: number): void {
  const organization = state.organization.get('chat') ?? sampleOrganization;
  const first_visible_message_id = state.messages.rows().at(-shown)?.id ?? 0;
  state.organization.put('chat', { ...organization, first_visible_message_id });
}

/**
 * Texts are shared by many messages, so that a million messages of 1,000 characters fit in some 300 MiB.
 * @throws Error where the channel is not in the sample
 */
export function addMessages(state: State, { channel, topic, count, chars = 0 }: ExtraMessages): void {
  const row = state.channels.rows().find(({ name }) => name === channel);
  if (!row) throw new Error(`no channel ${channel}`);
  const texts = Array.from({ length: Math.min(count, 1000) }, (_, index) => {
    const line = `Measurement ${index + 1} stored. `;
    const content = (chars <= line.length ? line : line.repeat(Math.ceil(chars / line.length)).slice(0, chars)).trim();
    return { content, rendered: render(content) };
  });
  const { stream_id, recipient_id } = row;
  const [flags, reactions] = [{}, []];
  const first = (state.counters.get('message') ?? 0) + 1;
  const begins = Date.UTC(2026, 2, 13, 8) / 1000;
  for (let index = 0; index < count; index += 1) {
    const { content, rendered } = texts[index % texts.length] ?? { content: '', rendered: '' };
    const [id, timestamp] = [first + index, begins + index * 60];
    // No spread: rows of one shape let a million messages fit in memory.
    state.messages.play(id, {
      id,
      timestamp,
      stream_id,
      subject: topic,
      recipient_id,
      sender_id: 13,
      client: 'load',
      content,
      rendered,
      flags,
      reactions,
    });
  }
  state.counters.put('message', first + count - 1);
}
