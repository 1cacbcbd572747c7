import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, messageOf } from '../../core/failure.ts';
import { channelFolders, type ChannelFolder } from '../../jobs/archive/channel-folders.ts';
import type { Invocation, Terminal } from '../context.ts';

/** What one pull brought. */
interface PulledFolder {
  readonly folder: string;
  readonly messages: number | null;
}

/**
 * Pulls each channel into its folder in turn, also after one fails.
 * @throws Failure incomplete where channels failed; auth where the account is refused; the reason of Ctrl-C or the
 * deadline
 */
export async function* pullChannels<R extends PulledFolder>(
  chat: Pick<ChatApi, 'channels'>,
  folder: string,
  pull: (channel: ChannelFolder, warn: (text: string) => void) => Promise<R>,
  { signal, warn, conclude }: Pick<Invocation, 'signal'> & Pick<Terminal, 'warn' | 'conclude'>,
) {
  const channels = await channelFolders(chat, folder);
  let [failed, hidden] = [0, 0];
  for (const channel of channels) {
    const named = `channel '${channel.channel}' (id ${channel.stream_id})`;
    const tell = (text: string): void => warn(`${named}: ${text}`);
    if (!channel.isListed)
      tell('the server no longer lists it: it is archived or deleted, or the account lost its access');
    try {
      yield {
        channel: channel.channel,
        status: channel.isListed ? 'pulled' : 'not listed',
        ...(await pull(channel, tell)),
      };
    } catch (cause) {
      if (signal.aborted || !(cause instanceof Failure) || cause.kind === 'auth') throw cause;
      const isHidden = cause.kind === 'not_found' || cause.details.server?.code === 'BAD_NARROW';
      const status = isHidden ? (channel.isEmpty ? 'empty' : 'not visible') : 'failed';
      if (status === 'not visible') hidden += 1;
      if (status === 'failed') failed += 1;
      if (status !== 'empty') tell(messageOf(cause));
      const nothing = { folder: channel.folder, messages: null, added: 0, repaired: 0 };
      yield { channel: channel.channel, status, ...nothing };
    }
  }
  const counted = [`${channels.length} channels`, ...(hidden > 0 ? [`${hidden} not visible`] : [])].join(', ');
  if (failed === 0) conclude(counted);
  else
    throw new Failure('incomplete', `${counted}, ${failed} failed`, {
      hint: 'Run the same command again: it continues.',
      retryable: true,
    });
}
