import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import { forward } from '../../api/chat/message-pages.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, messageOf, usage } from '../../core/failure.ts';
import { channelFolder, namesIn } from '../../store/archive/archive-folder.ts';
import { readHead } from '../../store/archive/archive-head.ts';
import { exists } from '../../store/disk/files.ts';
import { refuseLinks } from '../../store/disk/private.ts';
import { inPublicChannels, received, isSharedPrivate } from '../messages/messages-by-ids.ts';
import type { WorkMessages } from '../work/work-messages.ts';
import { selectionIn } from './pull-order.ts';
import { outOfOrder } from './pull-pages.ts';

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
  { signal, warn, conclude, concludeMore }: ChannelMessages,
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
  concludeMore();
  if (failed === 0) conclude(counted);
  else throw new Failure('incomplete', `${counted}, ${failed} failed`, { hint, retryable: hint === runAgain });
}

interface ChannelMessages extends Pick<WorkMessages, 'warn' | 'conclude'> {
  readonly signal: AbortSignal;
  /** Says what was counted over all channels. */
  concludeMore(): void;
}

const runAgain = 'Run the same command again: it continues.';

export interface ChannelFolder {
  readonly stream_id: number;
  /** In the server's spelling; that of the folder where the server no longer lists the channel. */
  readonly channel: string;
  readonly folder: string;
  readonly isListed: boolean;
  /** The server says that the channel has no message. */
  readonly isEmpty: boolean;
  /** It is private, and shows messages that the account did not receive. */
  readonly isShared: boolean;
}

/** A folder is named `7-general`; the id counts. @throws Failure rejected, usage where the folder is an archive */
export async function channelFolders(chat: Pick<ChatApi, 'channels'>, folder: string) {
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
    found.set(Number(id), { stream_id: Number(id), channel, folder: own, ...unlisted });
  }
  for (const row of listed) {
    const { stream_id, name, first_message_id } = row;
    if (typeof stream_id !== 'number' || typeof name !== 'string') continue;
    const own = found.get(stream_id)?.folder ?? join(folder, folderName(stream_id, name));
    const isEmpty = first_message_id === null;
    const is = { isListed: true, isEmpty, isShared: isSharedPrivate(row) };
    found.set(stream_id, { stream_id, channel: name, folder: own, ...is });
  }
  for (const { folder: own } of found.values()) await refuseLinks(folder, own);
  return [...found.values()].sort((one, other) => one.stream_id - other.stream_id);
}

const unlisted = { isListed: false, isEmpty: false, isShared: false };

/** What every file system takes as a name: letters, digits, dots and dashes, and a dash for all else. */
function folderName(id: number, name: string): string {
  // A pair that the cut parts is no letter.
  const words = name
    .normalize('NFC')
    .slice(0, 60)
    .replace(/[^\p{L}\p{N}._-]+/gu, '-');
  const plain = words.replace(/^[-.]+|[-.]+$/g, '');
  return plain === '' ? String(id) : `${id}-${plain}`;
}

/** A channel has nothing new, or may have, up to an id. */
export interface News {
  readonly reached: number;
  readonly isQuiet: boolean;
}

/**
 * Finds channels without a new message by what the account received and what is in all public channels: a private
 * channel with shared history may have others, and is never quiet (docs/archive-format.md, Crash safety).
 */
export async function findQuiet(chat: Pick<ChatApi, 'raw'>, channels: readonly ChannelFolder[]) {
  const known = new Map<string, number>();
  for (const { folder } of channels) {
    const head = await readHead(folder);
    // Of a part of a channel, an older message may match later.
    if (head?.state.complete && head.state.reached !== undefined && selectionIn(head).narrow.length === 1)
      known.set(folder, head.state.reached);
  }
  const last = Math.max(0, ...known.values());
  let reached = last;
  for (const narrow of scopes) {
    const { messages } = await chat.raw.messages({ narrow, anchor: 'newest', num_before: 1, num_after: 0 });
    reached = Math.max(reached, messages.at(-1)?.id ?? 0);
  }
  const active = known.size > 0 ? await activeSince(chat, last - outOfOrder, channels.length) : undefined;
  return ({ folder, stream_id, isListed, isShared }: ChannelFolder): News => {
    const isKnown = active !== undefined && known.get(folder) === last && isListed && !isShared;
    return { reached, isQuiet: isKnown && !active.has(stream_id) };
  };
}

const scopes = [received, inPublicChannels];

/** The channels with a message above that id; undefined where that takes more pages than there are channels. */
async function activeSince(chat: Pick<ChatApi, 'raw'>, id: number, mostPages: number) {
  const active = new Set<unknown>();
  let pages = 0;
  for (const narrow of scopes)
    for await (const { messages } of forward(chat.raw, { narrow }, { anchor: String(Math.max(1, id + 1)) })) {
      pages += 1;
      if (pages > mostPages) return undefined;
      for (const { stream_id } of messages) active.add(stream_id);
    }
  return active;
}
