import type { Clock } from '../../src/core/system.ts';
import { addMessage } from '../../src/sandbox/chat/post.ts';
import type { Organization } from '../../src/sandbox/records.ts';
import { startSandbox as start, type SandboxOptions as OwnOptions } from '../../src/sandbox/server.ts';
import type { State, Store } from '../../src/sandbox/state.ts';
import { frontOf, type LicenseShape } from './license-shapes.ts';

/** `licenseShape`: any server of tests; `ownShape`: one of `sandbox serve`. */
export interface SandboxOptions extends Omit<OwnOptions, 'licenseShape' | 'licensingFront'> {
  readonly licenseShape?: LicenseShape | undefined;
  readonly ownShape?: OwnOptions['licenseShape'];
}

export type Sandbox = Awaited<ReturnType<typeof startSandbox>>;

/** Starts both services; `state` is what they know, and changes it behind the clients' backs. */
export async function startSandbox({ licenseShape, ownShape, ...options }: SandboxOptions) {
  const { stale } = licenseShape ?? {};
  const { store, ...sandbox } = await start({
    ...options,
    licenseShape: ownShape ?? (stale === undefined ? {} : { stale }),
    licensingFront: licenseShape && frontOf(licenseShape),
  });
  return { ...sandbox, state: inspect(store, options.clock) };
}

/** What a test may look at and change while the sandbox runs; changes made here are never in the shared log. */
function inspect(store: Store, clock: Clock) {
  const { state } = store;
  const change = (work: (state: State) => void): void => {
    work(state);
    store.keep();
  };
  const channelId = (name: string) => state.channels.rows().find((row) => row.name === name)?.stream_id;
  return {
    licenses: () => state.licenses.rows(),
    activations: () => state.activations.rows(),
    users: () => state.users.rows(),
    channels: () => state.channels.rows(),
    /** Ascending by id. */
    messages: () => state.messages.rows(),
    /** Of one topic, its name exactly. */
    topic: (channel: string, topic: string) =>
      state.messages.rows().filter((row) => row.stream_id === channelId(channel) && row.subject === topic),
    views: () => state.views.rows(),
    snippets: () => state.snippets.rows(),
    /** Adds a message to a channel as some user (the administrator if none is named) and gives its id. */
    post(message: {
      readonly channel: string;
      readonly topic: string;
      readonly content: string;
      readonly sender_id?: number;
    }): number {
      const { channel, topic: subject, content, sender_id = 8 } = message;
      const stream_id = channelId(channel);
      if (stream_id === undefined) throw new Error(`no channel ${channel}`);
      const id = addMessage(state, { stream_id, subject, content, sender_id }, clock.now());
      store.keep();
      return id;
    },
    /** Changes rules of the chat organization. */
    organize: (rules: Partial<Organization>) =>
      change(() => {
        const now = state.organization.get('chat');
        if (now) state.organization.put('chat', { ...now, ...rules });
      }),
    /** Any other change. */
    change,
  };
}
