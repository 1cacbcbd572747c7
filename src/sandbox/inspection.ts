import type { Clock } from '../core/world.ts';
import { addMessage } from './chat/post.ts';
import type {
  Activation,
  ChannelRecord,
  LicenseRecord,
  MessageRecord,
  Organization,
  SavedSnippet,
  User,
  ViewRecord,
} from './records.ts';
import type { State, Store } from './state.ts';

/** What a test may look at and change while the sandbox runs; changes made here are never in the shared log. */
export interface Inspection {
  licenses(): readonly LicenseRecord[];
  activations(): readonly Activation[];
  users(): readonly User[];
  channels(): readonly ChannelRecord[];
  /** Ascending by id. */
  messages(): readonly MessageRecord[];
  /** Of one topic, its name exactly. */
  topic(channel: string, topic: string): readonly MessageRecord[];
  views(): readonly ViewRecord[];
  snippets(): readonly SavedSnippet[];
  /** Adds a message to a channel as some user (the administrator if none is named) and gives its id. */
  post(message: {
    readonly channel: string;
    readonly topic: string;
    readonly content: string;
    readonly sender_id?: number;
  }): number;
  /** Changes rules of the chat organization. */
  organize(change: Partial<Organization>): void;
  /** Any other change. */
  change(work: (state: State) => void): void;
}

export function inspect(store: Store, clock: Clock): Inspection {
  const { state } = store;
  const change = (work: (state: State) => void) => {
    work(state);
    store.keep();
  };
  const channelId = (name: string) => state.channels.rows().find((row) => row.name === name)?.stream_id;
  return {
    licenses: () => state.licenses.rows(),
    activations: () => state.activations.rows(),
    users: () => state.users.rows(),
    channels: () => state.channels.rows(),
    messages: () => state.messages.rows(),
    topic: (channel, topic) =>
      state.messages.rows().filter((row) => row.stream_id === channelId(channel) && row.subject === topic),
    views: () => state.views.rows(),
    snippets: () => state.snippets.rows(),
    post({ channel, topic, content, sender_id = 8 }) {
      const stream_id = channelId(channel);
      if (stream_id === undefined) throw new Error(`no channel ${channel}`);
      const id = addMessage(state, { stream_id, subject: topic, content, sender_id }, clock.now());
      store.keep();
      return id;
    },
    organize: (rules) =>
      change(() => {
        const now = state.organization.get('chat');
        if (now) state.organization.put('chat', { ...now, ...rules });
      }),
    change,
  };
}
