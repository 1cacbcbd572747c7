import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { writeJson } from '../../core/json.ts';
import { findsByIds, inChannel, inPublicChannels, messagesOfIds, received } from '../messages/messages-by-ids.ts';
import type { PurgeWork } from './delete-rounds.ts';
import { ascending, countsOf, withStandings, type StandingCounts } from './standings.ts';

export type GoneMessages = ReturnType<typeof goneMessages>;

/** The messages that left the topic of a purge, and where they are found. */
export function goneMessages({ chat, survey, state }: PurgeWork) {
  /** Messages that exist although they left the topic: they were renamed, resolved or moved meanwhile. */
  const survivors = new Map<number, MessageHead>();
  /** Those that were found nowhere so far; `untested`: for which a sample was asked. */
  let missing: readonly number[] = [];
  let untested: readonly number[] = [];
  let unsearched = 0;
  const take = (message: MessageHead): void => {
    if (state.standings.of.has(message.id)) survivors.set(message.id, message);
  };
  return {
    take,
    missing: () => missing,
    /** Whether there may be more survivors, since only some of the ids were asked for. */
    isSample: () => untested.length > 0,
    /** In how many private channels they were not looked for. */
    unsearched: () => unsearched,
    searched(channels: ReadonlyMap<number, number>): void {
      unsearched = missing.reduce((most, id) => Math.max(most, channels.get(id) ?? 0), 0);
    },
    tally(): StandingCounts {
      const isGone = (id: number): boolean => state.standings.of.get(id) !== 'present';
      // Of the untested ones nobody knows whether they were deleted, once one of the others was not.
      const unknown = survivors.size > 0 ? untested.filter(isGone) : [];
      const elsewhere = [...survivors.keys()].filter(isGone);
      return countsOf(withStandings(state.standings, [unknown, 'goneOutOfOrder'], [elsewhere, 'elsewhere']));
    },
    /** Below level 300 a sample is asked for, the oldest included, since servers delete the oldest message last. */
    async find(): Promise<void> {
      const out = [...state.standings.of].filter(([, standing]) => !/^(waiting|present)$/.test(standing));
      const gone = ascending(out.map(([id]) => id));
      const asked = new Set((await findsByIds(chat)) ? gone : sampleOf(gone));
      [missing, untested] = [[...asked], gone.filter((id) => !asked.has(id))];
      const { stream_id } = survey.channel;
      for (const narrow of [inChannel(stream_id), inPublicChannels, received]) {
        const query = { narrow, apply_markdown: false };
        for await (const message of messagesOfIds({ ...chat.raw, level: chat.level }, query, missing))
          if (asked.delete(message.id)) take(message);
        missing = [...asked];
      }
    },
    places: (): ReadonlySet<string> => new Set([...survivors.values()].map(placeNamed)),
  };
}

/** Messages that are asked for one by one where the server does not know `message_ids`. */
const sampleSize = 8;

function sampleOf(ids: readonly number[]): number[] {
  const step = Math.max(1, (ids.length - 1) / (sampleSize - 1));
  const places = Array.from({ length: Math.min(sampleSize, ids.length) }, (_, index) => Math.round(index * step));
  return places.flatMap((place) => ids[place] ?? []);
}

function placeNamed({ display_recipient, subject }: MessageHead): string {
  return `#${textOf(display_recipient)} > ${textOf(subject)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : writeJson(value);
}
