// A look at a topic before or after a delete call (docs/apis.md, Looks).
import type { MessageQuery, RawMessage } from '../../api/chat/chat-messages.ts';
import { backward, forward } from '../../api/chat/message-pages.ts';
import type { Topic } from './find-channel.ts';
import type { PurgeArchive } from './purge-archive.ts';
import { checked, page, queryOf, type Looking } from './survey-topics.ts';

/** `newest` reads on until it is enough; `one page` is asked for after Ctrl-C too, for at most 10 s. */
export type LookExtent = 'whole' | 'newest' | 'one page';

export interface TopicLook {
  /** Ascending. */
  readonly ids: readonly number[];
  /** The lowest id that it reached; null where it read the whole topic. */
  readonly from: number | null;
  readonly pages: number;
  /** Messages of which the archive lacks the version that was seen, ascending. */
  readonly unkept: readonly RawMessage[];
}

/** Reads the topic from its newest message downward. @throws Failure as surveyTopic */
export async function lookAt(
  chat: Looking,
  topic: Topic,
  extent: LookExtent,
  isEnough: (ids: readonly number[]) => boolean,
  archive: PurgeArchive | undefined,
): Promise<TopicLook> {
  const pages: (readonly number[])[] = [];
  const unkept: RawMessage[] = [];
  let from: number | null = null;
  const limits = { repeat: 'never', timeout: 10_000, outlasts: 'earlier Ctrl-C' } as const;
  const messages = (query: MessageQuery) => chat.raw.messages(query, extent === 'one page' ? limits : undefined);
  const read = backward({ messages }, queryOf(topic), { anchor: 'newest', page });
  for await (const { messages: shown, found_oldest } of checked(read)) {
    pages.unshift(shown.map(({ id }) => id));
    unkept.unshift(...shown.filter((message) => archive?.lacks(message)));
    const isLast = extent === 'one page' || (extent === 'newest' && isEnough(pages.flat()));
    if (found_oldest || !isLast) continue;
    from = shown[0]?.id ?? Infinity;
    break;
  }
  return { ids: pages.flat(), from, pages: pages.length, unkept };
}

/** Times that what has come during the archiving is looked for. */
const maxCatchUps = 3;

/** Archives what a look showed, and newer messages, for which the last request before a call is. Returns their ids. */
export async function archiveSeen(
  chat: Looking,
  topic: Topic,
  { ids, pages, unkept }: TopicLook,
  archive: PurgeArchive | undefined,
): Promise<readonly number[]> {
  await archive?.add(unkept);
  const came: number[] = [];
  const newest = ids.at(-1);
  if (newest === undefined || (pages === 1 && unkept.length === 0)) return came;
  for (let round = 0; round < maxCatchUps; round += 1) {
    const query = { ...queryOf(topic), include_anchor: false };
    const fresh: RawMessage[] = [];
    const read = forward(chat.raw, query, { anchor: String(came.at(-1) ?? newest), page });
    for await (const { messages } of checked(read)) fresh.push(...messages);
    if (fresh.length === 0) break;
    await archive?.add(fresh.filter((message) => archive.lacks(message)));
    came.push(...fresh.map(({ id }) => id));
  }
  return came;
}
