import { quantity } from '../../core/duration.ts';
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, messageOf } from '../../core/failure.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { channelFolders, type ChannelFolder } from './channel-folders.ts';

/**
 * Pulls each channel into its folder in turn, also after one fails.
 * @throws Failure incomplete where channels failed; auth where the account is refused; rejected for an unknown user;
 * the reason of Ctrl-C or the deadline
 */
export async function* pullChannels<R extends object>(
  chat: Pick<ChatApi, 'channels'>,
  folder: string,
  begin: (
    channels: readonly ChannelFolder[],
  ) => Promise<(channel: ChannelFolder, warn: WorkMessages['warn']) => Promise<R>>,
  { signal, warn, conclude }: Pick<WorkMessages, 'warn' | 'conclude'> & { readonly signal: AbortSignal },
) {
  const channels = await channelFolders(chat, folder);
  const pull = await begin(channels);
  let [failed, hidden] = [0, 0];
  let hint = runAgain;
  for (const [index, channel] of channels.entries()) {
    const named = `channel '${channel.channel}' (id ${channel.stream_id})`;
    const tell = (text: string): void => warn(`${named}: ${text}`);
    if (!channel.isListed)
      tell('the server no longer lists it: it is archived or deleted, or the account lost its access');
    try {
      const status = channel.isListed ? 'pulled' : 'not listed';
      yield { channel: channel.channel, status, ...(await pull(channel, tell)) };
    } catch (cause) {
      if (signal.aborted || !(cause instanceof Failure) || cause.kind === 'auth') throw cause;
      if (cause.details.http?.status === 429)
        throw cause.as(
          'incomplete',
          `${channels.length - index} of ${channels.length} channels are left: ${cause.message}`,
          { retryable: true },
        );
      // Every channel would answer so.
      if (/\bunknown user\b/.test(cause.details.server?.msg ?? '')) throw cause;
      const isHidden = cause.kind === 'not_found' || cause.details.server?.code === 'BAD_NARROW';
      const status = isHidden ? (channel.isEmpty ? 'empty' : 'not visible') : 'failed';
      if (status === 'not visible') hidden += 1;
      if (status === 'failed') failed += 1;
      if (cause.kind === 'usage')
        hint = 'Give the options of the first pull, which are shown above, or name another folder.';
      if (status !== 'empty') tell(messageOf(cause));
      const nothing = { folder: channel.folder, messages: null, added: 0, repaired: 0 };
      yield { channel: channel.channel, status, ...nothing };
    }
  }
  const counted = [quantity(channels.length, 'channel'), ...(hidden > 0 ? [`${hidden} not visible`] : [])].join(', ');
  if (failed === 0) conclude(counted);
  else throw new Failure('incomplete', `${counted}, ${failed} failed`, { hint, retryable: hint === runAgain });
}

const runAgain = 'Run the same command again: it continues.';
