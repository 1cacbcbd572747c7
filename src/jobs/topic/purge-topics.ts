// The purges of a run: one topic after the other, and after the last one a search in private channels for all.
import type { ChatApi } from '../../api/chat/chat.ts';
import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { quantity } from '../../core/duration.ts';
import { type Failure, usage } from '../../core/failure.ts';
import { privateSearch } from '../messages/messages-by-ids.ts';
import { refuseNewer, type Naming } from './named-topics.ts';
import { earlierPurges, type PurgeParts, type TopicLimits } from './purge-folders.ts';
import { deletable, warningsOf, type PurgeOutcome } from './purge-report.ts';
import type { PurgeRun } from './purge-run.ts';
import { TopicPurge } from './purge-topic.ts';
import { hasMessages, type Doomed } from './survey-topics.ts';

/** Limits of the purges of a run. */
interface PurgeLimits extends Omit<TopicLimits, 'maxMessages'> {
  readonly naming: Naming;
  readonly run: PurgeRun;
  readonly max_messages: number | undefined;
  readonly missing_ok: boolean | undefined;
}

export class TopicPurges {
  readonly #chat: ChatApi;
  readonly #limits: PurgeLimits;
  readonly #parts: PurgeParts;
  readonly #search: ReturnType<typeof privateSearch>;
  readonly #purges = new Map<Doomed, TopicPurge>();
  /** Those at whose end nothing was wrong, and that were not searched for in private channels yet. */
  readonly #ended: TopicPurge[] = [];
  /** Messages of all topics, those that earlier runs deleted included. */
  #total: number;

  /** @throws Failure usage where the surveyed messages are more than `max_messages` */
  constructor(chat: ChatApi, surveys: readonly Doomed[], limits: PurgeLimits, parts: PurgeParts) {
    this.#chat = chat;
    this.#limits = limits;
    this.#parts = parts;
    this.#search = privateSearch(chat);
    const { run, max_messages: most = Infinity } = limits;
    this.#total = surveys.reduce((sum, survey) => sum + survey.ids.length + (run.endOf(survey)?.deleted ?? 0), 0);
    if (this.#total > most)
      throw usage(
        `${quantity(this.#total, 'message')} would be deleted, more than --max-messages ${most}: nothing was deleted`,
      );
  }

  /** What has become of a topic so far; undefined where its purge did not begin. */
  outcomeOf(survey: Doomed): PurgeOutcome | undefined {
    return this.#purges.get(survey)?.outcome();
  }

  /** Archives, deletes and checks a topic; undefined where there was nothing to purge. @throws Failure incomplete */
  async purge(survey: Doomed): Promise<PurgeOutcome | undefined> {
    const { naming, run, archives, max_messages: most = Infinity, missing_ok } = this.#limits;
    refuseNewer(survey, naming);
    const isBegun = async () => archives.isKept && (await earlierPurges(survey, archives)).isBegun;
    if (!hasMessages(survey) && !(await isBegun())) return undefined;
    await run.begin(survey);
    const count = survey.ids.length;
    const maxMessages = most - this.#total + count;
    const purge = new TopicPurge(this.#chat, survey, { ...this.#limits, maxMessages }, this.#parts);
    this.#purges.set(survey, purge);
    await purge.run();
    this.#total += deletable(purge.outcome().counts) - count;
    const failure = purge.failure();
    for (const text of warningsOf(survey, purge.outcome())) this.#parts.warn(text);
    if (failure && !(missing_ok && purge.outcome().status === 'unseen')) throw await purge.leave(failure);
    if (failure) this.#parts.warn(failure.message);
    this.#ended.push(purge);
    if ((await this.#search.channels()).length === 0) await this.#finish();
    return purge.outcome();
  }

  /**
   * Looks in private channels for what the purges of the run miss, and ends them, but for those whose messages it
   * finds. @throws Failure incomplete for these
   */
  async end(): Promise<void> {
    const found: MessageHead[] = [];
    const ids = this.#ended.flatMap(({ missing }) => missing);
    try {
      const query = { apply_markdown: false };
      const unsearched = await this.#search.find(this.#chat.raw, query, ids, (message) => void found.push(message));
      const channels = Math.max(0, ...unsearched.values());
      if (channels > 0)
        this.#parts.warn(
          `missing messages were not searched for in ${quantity(channels, 'private channel')} (too many requests): what was moved there is not deleted`,
        );
    } catch (cause) {
      for (const purge of this.#ended.splice(0)) await purge.leave(cause);
      throw cause;
    }
    const survived: Failure[] = [];
    const ended = this.#ended.splice(0);
    for (const purge of ended) {
      const missing = new Set(purge.missing);
      purge.found(found.filter(({ id }) => missing.has(id)));
      const failure = purge.outcome().counts.elsewhere > 0 ? purge.failure() : undefined;
      if (!failure) this.#ended.push(purge);
      else {
        survived.push(failure);
        await purge.leave(failure);
      }
    }
    await this.#finish();
    const [first, ...others] = survived;
    if (!first) return;
    for (const { message } of others) this.#parts.warn(message);
    throw first;
  }

  async #finish(): Promise<void> {
    for (const purge of this.#ended.splice(0)) await purge.end(this.#limits.run);
  }
}
