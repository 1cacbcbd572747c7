import type { MessageHead, MessageSource, RawMessage } from '../../api/chat/chat-messages.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { readName } from '../../schema/narrow.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import { inPublicChannels, messagesOfIds, received, type MessageChat } from '../messages/messages-by-ids.ts';
import { placeNarrow } from '../messages/places.ts';
import { channelsIn, operandsIn } from '../messages/selection.ts';
import { visibilityOf } from './messages-now.ts';
import { selectionIn } from './pull-order.ts';
import { countPlaces } from './recheck-archive.ts';

interface SelectionLook {
  warn(text: string): void;
  /** Whether something was archived before. */
  readonly isBegun: boolean;
  /** Whether it is one of all channels, some of which may not have what is selected. */
  readonly isOfAll: boolean;
}

/** Says which channel or topic of a selection is not visible. @throws Failure not_found for a new archive */
export async function lookAtSelection(
  chat: MessageSource<MessageHead>,
  head: ArchiveHead,
  { warn, isBegun, isOfAll }: SelectionLook,
): Promise<void> {
  const typed = [head.options['channel'] ?? []].flat();
  const { narrow } = selectionIn(head);
  const channels = channelsIn(narrow);
  for (const [index, operand] of channels.entries()) {
    const { isLimited, lowest } = await visibilityOf(chat, [{ operator: 'channel', operand }]);
    if (isLimited || lowest !== undefined) continue;
    const name: unknown = typed[index];
    const what = `nothing of the channel '${typeof name === 'string' ? readName(name) : operand}' is visible to this account`;
    if (isBegun) warn(`${what}: it is empty or archived, or the account lost its access`);
    else
      throw new Failure('not_found', `${what}: nothing was written`, {
        hint: 'The channel is empty or archived, or it is private and the account is not in it.',
      });
  }
  const [channel, another] = channels;
  for (const topic of isBegun || isOfAll || channel === undefined || another ? [] : operandsIn(narrow, 'topic')) {
    const { isLimited, lowest } = await visibilityOf(chat, placeNarrow(channel, topic));
    if (isLimited || lowest !== undefined) continue;
    const words = [typed[0] ?? channel].map(String);
    throw new Failure(
      'not_found',
      `no topic '${String(topic)}' in the channel '${words.join('')}': nothing was written`,
      {
        hint: `Its topics: ${commandLine('topic list', words)}`,
      },
    );
  }
}

/** Where the last archived message of a topic is now: a renamed, resolved or split topic gets no more messages. */
export async function lookForLast(
  chat: MessageChat<RawMessage>,
  head: ArchiveHead,
  last: number,
  warn: (text: string) => void,
): Promise<void> {
  const { narrow } = selectionIn(head);
  const [channel] = channelsIn(narrow);
  if (channel === undefined || operandsIn(narrow, 'topic').length === 0) return;
  const scopes = [[{ operator: 'channel', operand: channel }], inPublicChannels, received];
  for (const scope of scopes)
    for await (const message of messagesOfIds(chat, { narrow: scope }, [last])) {
      const place = countPlaces([message.text.parse()].filter(isObject)).replace(/ \(1\)$/, '');
      warn(
        `the last archived message, ${last}, is in ${place} now: new messages of its topic are not archived here; ` +
          'archive pull --recheck records what was moved',
      );
      return;
    }
}
