import { join } from 'node:path';
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, usage } from '../../core/failure.ts';
import { namesIn } from '../../store/archive/archive-folder.ts';
import { exists } from '../../store/disk/files.ts';
import { refuseLinks } from '../../store/disk/private-folder.ts';
import { isSharedPrivate } from '../messages/private-channels.ts';
import { readHead } from '../../store/archive/archive-head.ts';

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
export async function channelFolders(
  chat: Pick<ChatApi, 'channels'>,
  folder: string,
): Promise<readonly ChannelFolder[]> {
  if (await readHead(folder))
    throw usage(`${folder} is an archive of one selection`, 'Name another folder for the archives of all channels.');
  const listed = await chat.channels();
  if (!listed)
    throw new Failure('rejected', 'the server does not list its channels', {
      hint: 'Pull each into a folder of its own, with --channel.',
    });
  const found = new Map<number, ChannelFolder>();
  for (const name of await namesIn(folder)) {
    const [, id, channel = ''] = /^(\d+)(?:-(.*))?$/s.exec(name) ?? [];
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
