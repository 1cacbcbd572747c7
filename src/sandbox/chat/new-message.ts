import type { Milliseconds } from '../../core/duration.ts';
import type { MessageRecord } from '../records.ts';
import type { State } from '../state.ts';
import { render, type FindUser } from './render.ts';

type Draft = Pick<MessageRecord, 'subject' | 'sender_id' | 'content'> & Partial<MessageRecord>;

/** Adds a message after all others and gives its id. Ids are never given out again, whatever is deleted. */
export function addMessage(state: State, draft: Draft, now: Milliseconds): number {
  const id = (state.counters.get('message') ?? state.messages.rows().at(-1)?.id ?? 0) + 1;
  const channel = draft.stream_id === undefined ? undefined : state.channels.get(draft.stream_id);
  state.counters.put('message', id);
  state.messages.put(id, {
    timestamp: Math.floor(now / 1000),
    rendered: draft.rendered ?? render(draft.content, userNamedInFull(state)),
    client: 'sandbox',
    recipient_id: channel?.recipient_id ?? 0,
    flags: {},
    reactions: [],
    ...draft,
    id,
  });
  return id;
}

/** Finds whom a mention means. */
export function userNamedInFull(state: State): FindUser {
  return (name) => state.users.rows().find(({ full_name }) => full_name === name)?.user_id;
}
