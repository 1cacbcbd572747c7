import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, messageOf, usage } from '../../core/failure.ts';
import { channelFolder, namesIn } from '../../store/archive/archive-folder.ts';
import { readHead } from '../../store/archive/archive-head.ts';
import { exists } from '../../store/disk/files.ts';
import { refuseLinks } from '../../store/disk/private.ts';
import type { WorkMessages } from '../work/work-messages.ts';

/**
 * Pulls each channel into its folder in turn, also after one fails.
 * @throws Failure incomplete where channels failed; auth where the account is refused; rejected for an unknown user;
 * the reason of Ctrl-C or the deadline
 */
export async function* pullChannels<R extends object>(
  channels: readonly ChannelFolder[],
  { signal, warn, conclude }: Pick<WorkMessages, 'warn' | 'conclude'> & { readonly signal: AbortSignal },
  pull: (channel: ChannelFolder, warn: (text: string) => void) => Promise<R>,
) {
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
      // Every other channel would fail for the same reason.
      if (/\bunknown user\b/.test(cause.details.server?.msg ?? '')) throw cause;
      const isHidden = cause.kind === 'not_found' || cause.details.server?.code === 'BAD_NARROW';
      const status = isHidden ? (channel.isEmpty ? 'empty' : 'not visible') : 'failed';
      if (status === 'not visible') hidden += 1;
      if (status === 'failed') failed += 1;
      if (cause.kind === 'usage') hint = 'Give the options of the first pull, or name another folder.';
      if (status !== 'empty') tell(messageOf(cause));
      yield { channel: channel.channel, status, folder: channel.folder, messages: null, added: 0 };
    }
  }
  const counted = [quantity(channels.length, 'channel'), ...(hidden > 0 ? [`${hidden} not visible`] : [])].join(', ');
  if (failed === 0) conclude(counted);
  else throw new Failure('incomplete', `${counted}, ${failed} failed`, { hint, retryable: hint === runAgain });
}

const runAgain = 'Run the same command again: it continues.';

interface ChannelFolder {
  readonly stream_id: number;
  /** The name in the server's spelling, or in the folder's where the server no longer lists the channel. */
  readonly channel: string;
  readonly folder: string;
  readonly isListed: boolean;
  /** The server says that the channel has no message. */
  readonly isEmpty: boolean;
}

/** The folder of each channel, such as `7-general`: the id counts. @throws Failure rejected, usage for an archive */
export async function channelFolders(chat: ChatApi, folder: string) {
  if (await readHead(folder))
    throw usage(`${folder} is an archive of one selection`, 'Name another folder for the archives of all channels.');
  const listed = await chat.channels();
  if (!listed)
    throw new Failure('rejected', 'the server does not list its channels', {
      hint: 'Pull each into a folder of its own, with --channel.',
    });
  const found = new Map<number, ChannelFolder>();
  for (const name of await namesIn(folder)) {
    const [, id, channel = ''] = channelFolder.exec(name) ?? [];
    const own = join(folder, name);
    if (id === undefined || !(await exists(join(own, 'archive.json')))) continue;
    found.set(Number(id), { stream_id: Number(id), channel, folder: own, isListed: false, isEmpty: false });
  }
  for (const { stream_id, name, first_message_id } of listed) {
    if (typeof stream_id !== 'number' || typeof name !== 'string') continue;
    const own = found.get(stream_id)?.folder ?? join(folder, folderName(stream_id, name));
    found.set(stream_id, { stream_id, channel: name, folder: own, isListed: true, isEmpty: first_message_id === null });
  }
  for (const { folder: own } of found.values()) await refuseLinks(folder, own);
  return [...found.values()].sort((one, other) => one.stream_id - other.stream_id);
}

/** A name that every file system accepts: letters, digits, dots and dashes, and a dash for all else. */
function folderName(id: number, name: string): string {
  // Half of a surrogate pair, which the cut may leave, is no letter.
  const words = name
    .normalize('NFC')
    .slice(0, 60)
    .replace(/[^\p{L}\p{N}._-]+/gu, '-');
  const plain = words.replace(/^[-.]+|[-.]+$/g, '');
  return plain === '' ? String(id) : `${id}-${plain}`;
}
