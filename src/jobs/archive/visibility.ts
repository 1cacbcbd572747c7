// The part of a selection that the account can see, and why archived messages are no longer shown.
import type { ChatApi } from '../../api/chat/chat.ts';
import { onlyMessage } from '../../api/chat/message-pages.ts';
import { Failure } from '../../core/failure.ts';
import type { JsonObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { readName } from '../../schema/narrow.ts';
import type { ArchiveHead } from '../../store/archive/archive-head.ts';
import type { ReasonGone } from '../../store/archive/line-file.ts';
import { inChannel, inPublicChannels, received, unlessClosed } from '../messages/messages-by-ids.ts';
import { placeNarrow, placeOf } from '../messages/places.ts';
import { channelsIn, operandsIn } from '../../schema/selection.ts';

/**
 * The lowest id that is visible in a narrow; undefined for an unknown channel. The oldest page shows a limited history
 * (docs/apis.md, Limited history). @throws Failure unavailable for an empty response without its flag
 */
async function visibilityOf(chat: ChatApi, narrow: readonly unknown[]) {
  const first = async (anchor: string) => {
    const page = await unlessClosed(chat.messages({ narrow, anchor, num_before: 0, num_after: 1 }));
    return { isLimited: page?.history_limited === true, lowest: page && onlyMessage(page, 'found_newest')?.id };
  };
  const oldest = await first('oldest');
  return oldest.isLimited ? { ...(await first('1')), isLimited: true } : oldest;
}

/** Finds out why messages are gone (docs/archive-format.md, Changes), with one request for each narrow. */
export function reasons(chat: ChatApi) {
  const known = new Map<string, ReturnType<typeof visibilityOf>>();
  const look = (narrow: readonly unknown[]) => {
    const key = JSON.stringify(narrow);
    const visibility = known.get(key) ?? visibilityOf(chat, narrow);
    known.set(key, visibility);
    return visibility;
  };
  /** `channel`: where the message was; undefined for a direct message. */
  return async (id: number, channel: number | undefined): Promise<ReasonGone> => {
    const home = await look(channel === undefined ? received : inChannel(channel));
    if (home.isLimited) {
      // A visible message is above the limit, in whatever narrow it is seen.
      const seen = [home, await look(inPublicChannels), await look(received)].map(({ lowest = Infinity }) => lowest);
      return id < Math.min(...seen) ? 'limit' : 'unknown';
    }
    return channel !== undefined && home.lowest === undefined ? 'no-access' : 'unknown';
  };
}

/** Warns of a channel that is not visible; `isBegun`: the archive exists. @throws Failure not_found for a new one */
export async function checkSelection(
  chat: ChatApi,
  head: ArchiveHead,
  { warn, isBegun, isOfAll }: { warn(text: string): void; readonly isBegun: boolean; readonly isOfAll: boolean },
): Promise<void> {
  const { narrow } = head.selection;
  const channels = channelsIn(narrow);
  const typed: unknown[] = [head.options['channel'] ?? []].flat();
  const typedAt = (index: number): string =>
    [typed[index], channels[index]].filter((one) => one !== undefined).map(String)[0] ?? '';
  for (const [index, operand] of channels.entries()) {
    if (await isVisible(chat, [{ operator: 'channel', operand }])) continue;
    const what = `nothing of the channel '${String(readName(typedAt(index)))}' is visible to this account`;
    if (isBegun) warn(`${what}: it is empty or archived, or the account lost its access`);
    else
      throw new Failure('not_found', `${what}: nothing was written`, {
        hint: 'The channel is empty or archived, or it is private and the account is not in it.',
      });
  }
  for (const topic of isBegun || isOfAll || channels.length !== 1 ? [] : operandsIn(narrow, 'topic')) {
    if (await isVisible(chat, placeNarrow(channels[0], topic))) continue;
    const words = typedAt(0);
    throw new Failure('not_found', `no topic '${String(topic)}' in the channel '${words}': nothing was written`, {
      hint: `Its topics: ${commandLine('topic list', [words])}`,
    });
  }
}

async function isVisible(chat: ChatApi, narrow: readonly unknown[]): Promise<boolean> {
  const { isLimited, lowest } = await visibilityOf(chat, narrow);
  return isLimited || lowest !== undefined;
}

/** Places of channels and topics, the most frequent first, each with its number. */
export function countPlaces(places: readonly JsonObject[]): string {
  const counts = new Map<string, number>();
  for (const place of places.map(placeOf)) counts.set(place, (counts.get(place) ?? 0) + 1);
  const sorted = [...counts].sort(([, one], [, other]) => other - one);
  const named = sorted.slice(0, mostPlaces).map(([place, count]) => `${place} (${count})`);
  const more = sorted.length > mostPlaces ? `, and ${sorted.length - mostPlaces} more places` : '';
  return named.join(', ') + more;
}

const mostPlaces = 5;
