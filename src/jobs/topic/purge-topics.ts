// The purges of a run: one topic after the other, each told to the history, and after the last one a search in private
// channels for all.
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { quantity } from '../../core/duration.ts';
import { type Failure, usage } from '../../core/failure.ts';
import type { PurgeEvent as HistoryEvent } from '../../store/record/history.ts';
import { privateSearch } from '../messages/messages-by-ids.ts';
import { deletable, warningsOf, type PurgeOutcome } from './purge-report.ts';
import { TopicPurge, type PurgeParts, type TopicLimits } from './purge-topic.ts';
import { earlierCount, type Doomed } from './survey-topics.ts';

interface RunParts extends PurgeParts {
  record(event: HistoryEvent): Promise<void>;
}

export class TopicPurges {
  readonly #chat: ChatApi;
  readonly #limits: TopicLimits;
  readonly #parts: RunParts;
  readonly #search: ReturnType<typeof privateSearch>;
  readonly #purges = new Map<Doomed, TopicPurge>();
  /** Those at whose end nothing was wrong, and that were not searched for in private channels yet. */
  readonly #ended: TopicPurge[] = [];
  /** Messages of all topics, those that earlier runs deleted included. */
  #total: number;

  /** @throws Failure usage where the surveyed messages are more than `maxMessages` */
  constructor(chat: ChatApi, surveys: readonly Doomed[], limits: TopicLimits, parts: RunParts) {
    [this.#chat, this.#limits, this.#parts, this.#search] = [chat, limits, parts, privateSearch(chat)];
    const { maxMessages: most } = limits;
    this.#total = surveys.reduce((sum, survey) => sum + survey.ids.length + earlierCount(survey), 0);
    if (this.#total > most)
      throw usage(
        `${quantity(this.#total, 'message')} would be deleted, more than --max-messages ${most}: nothing was deleted`,
      );
  }

  /** What has become of a topic so far; undefined where its purge did not begin. */
  outcomeOf(survey: Doomed): PurgeOutcome | undefined {
    return this.#purges.get(survey)?.outcome();
  }

  /** Archives, deletes and checks a topic; `unseen` ends it too where it may. @throws Failure incomplete */
  async purge(survey: Doomed, mayBeUnseen: boolean): Promise<PurgeOutcome> {
    const count = survey.ids.length;
    const maxMessages = this.#limits.maxMessages - this.#total + count;
    const purge = new TopicPurge(this.#chat, survey, { ...this.#limits, maxMessages }, this.#parts);
    this.#purges.set(survey, purge);
    await purge.begin();
    try {
      await this.#tell('purging', purge);
      await purge.run();
    } catch (cause) {
      return await this.#leave(purge, cause);
    }
    const outcome = purge.outcome();
    this.#total += deletable(outcome.counts) - count;
    for (const text of warningsOf(survey, outcome)) this.#parts.warn(text);
    const failure = purge.failure();
    if (failure && !(mayBeUnseen && outcome.status === 'unseen')) return this.#leave(purge, failure);
    if (failure) this.#parts.warn(failure.message);
    if ((await this.#search.channels()).length > 0) this.#ended.push(purge);
    else await this.#end(purge);
    return outcome;
  }

  /**
   * Looks in private channels for what the purges of the run miss, and ends them, but for those whose messages it
   * finds. @throws Failure incomplete for these
   */
  async end(): Promise<void> {
    const purges = this.#ended.splice(0);
    const found: MessageHead[] = [];
    try {
      const ids = purges.flatMap(({ missing }) => missing);
      const take = (message: MessageHead) => void found.push(message);
      const unsearched = await this.#search.find(this.#chat.raw, { apply_markdown: false }, ids, take);
      const channels = Math.max(0, ...unsearched.values());
      if (channels > 0)
        this.#parts.warn(
          `missing messages were not searched for in ${quantity(channels, 'private channel')} (too many requests): what was moved there is not deleted`,
        );
    } catch (cause) {
      for (const purge of purges) await this.#tell('left', purge);
      throw cause;
    }
    const survived: Failure[] = [];
    for (const purge of purges) {
      const missing = new Set(purge.missing);
      purge.found(found.filter(({ id }) => missing.has(id)));
      const failure = purge.outcome().counts.elsewhere > 0 ? purge.failure() : undefined;
      if (failure) survived.push(failure);
      await (failure ? this.#tell('left', purge) : this.#end(purge));
    }
    const [first, ...others] = survived;
    if (!first) return;
    for (const { message } of others) this.#parts.warn(message);
    throw first;
  }

  async #end(purge: TopicPurge): Promise<void> {
    await this.#tell('purged', purge);
    await purge.archive?.finish(purge.outcome().counts).catch((cause: unknown) => this.#leave(purge, cause));
  }

  /** Leaves the purge open, since it failed. @throws Failure */
  async #leave(purge: TopicPurge, cause: unknown): Promise<never> {
    await this.#tell('left', purge);
    // What ended a purge says more than an archive that cannot be closed after it.
    await purge.archive?.close().catch(() => undefined);
    throw purge.failedBy(cause);
  }

  async #tell(event: HistoryEvent['event'], purge: TopicPurge): Promise<void> {
    const { channel, topic_name, spellings } = purge.survey;
    const { counts, total: messages, arrived, status } = purge.outcome();
    const what = { email: this.#limits.archives.account, stream_id: channel.stream_id, channel: channel.name };
    const ended = event === 'purging' ? {} : { deleted: counts.deleted, unseen: counts.unseen, arrived, status };
    await this.#parts.record({
      event,
      ...what,
      topic_name,
      spellings,
      archive: purge.archive?.folder,
      messages,
      ...ended,
    });
  }
}
