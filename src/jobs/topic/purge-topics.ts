// The purges of a run, one topic after the other. Each is recorded in the history; after the last one, private channels
// are searched for the missing messages of all.
import { notePlanned } from '../../api/http/call.ts';
import type { RawMessage } from '../../api/chat/chat-messages.ts';
import { quantity } from '../../core/duration.ts';
import { Failure, orWarn, usage } from '../../core/failure.ts';
import type { PurgeEvent as HistoryEvent } from '../../store/record/history.ts';
import { privateSearch } from '../messages/messages-by-ids.ts';
import { each, isFatal } from '../work/each.ts';
import type { TopicRefusal } from './holds.ts';
import type { PurgeRun } from './purge-archive.ts';
import { deletable, refuseNewer, rowOf, warningsOf, type PurgeRow } from './purge-report.ts';
import { TopicPurge } from './purge-topic.ts';
import { hasMessages, isOpen, type TopicSurvey } from './survey-topics.ts';

interface TopicsRun extends PurgeRun {
  record(event: HistoryEvent): Promise<unknown>;
  /** Topics of which nothing may be deleted. */
  readonly refusals: ReadonlyMap<TopicSurvey, TopicRefusal>;
  /** True if each topic was typed by its name: then a refusal of a held one is a failure. */
  readonly isTyped: boolean;
  /** Infinity for any number; messages that earlier runs deleted count. */
  readonly maxMessages: number;
  /** True if a purge may end with messages of which nobody can tell whether they were deleted. */
  readonly missing_ok: boolean;
}

export class TopicPurges {
  readonly #run: TopicsRun;
  readonly #surveys: readonly TopicSurvey[];
  readonly #search: ReturnType<typeof privateSearch>;
  readonly #purges = new Map<TopicSurvey, TopicPurge>();
  /** Purges that ended well so far; private channels were not yet searched for their missing messages. */
  readonly #ended: TopicPurge[] = [];
  /** Messages of all topics that may be deleted, those that earlier runs of open purges deleted included. */
  #total = 0;
  #isCut = false;

  /** @throws Failure usage where the surveyed messages are more than `maxMessages` */
  constructor(run: TopicsRun, surveys: readonly TopicSurvey[]) {
    [this.#run, this.#surveys, this.#search] = [run, surveys, privateSearch(run.chat)];
    const { maxMessages: most, refusals } = run;
    for (const survey of surveys) if (!refusals.has(survey)) this.#total += survey.ids.length;
    const many = `${quantity(this.#total, 'message')} would be deleted, more than --max-messages ${most}`;
    if (this.#total > most) throw usage(`${many}: nothing was deleted`);
  }

  /** A row for each topic. @throws Failure of one topic, or incomplete of some */
  async *run(mode: 'delete' | 'plan'): AsyncGenerator<PurgeRow> {
    const labelOf = ({ label }: TopicSurvey): string => label;
    const partly = (survey: TopicSurvey): PurgeRow => this.#rowSoFar(survey);
    try {
      yield* each(this.#surveys, labelOf, (survey) => this.#rowFor(survey, mode), partly);
    } catch (cause) {
      // The failure of a row says more, but messages that are found are named all the same.
      if (!this.#isCut && !this.#run.signal.aborted) await orWarn(this.#endAll(), this.#run.warn);
      throw cause;
    }
    await this.#endAll();
  }

  async #rowFor(survey: TopicSurvey, mode: 'delete' | 'plan'): Promise<PurgeRow> {
    const { chat, refusals, isTyped, before } = this.#run;
    const refusal = refusals.get(survey);
    if (refusal && (isTyped || !refusal.isHeld)) throw refusal.failure;
    if (refusal) return rowOf(survey, 'held');
    refuseNewer(survey, before);
    if (!(mode === 'plan' ? hasMessages(survey) : isOpen(survey))) return rowOf(survey, 'missing');
    if (mode === 'plan') {
      // The request that would be sent first.
      await notePlanned(chat.deleteTopic(survey.channel.stream_id, survey.topic_name));
      return rowOf(survey, 'would be deleted');
    }
    try {
      await this.#purge(survey);
    } catch (cause) {
      this.#isCut ||= cause instanceof Failure && isFatal(cause);
      if (isTyped || this.#purges.get(survey)?.outcome().status !== 'held') throw cause;
    }
    return this.#rowSoFar(survey);
  }

  #rowSoFar(survey: TopicSurvey): PurgeRow {
    const outcome = this.#purges.get(survey)?.outcome();
    return rowOf(survey, outcome?.status ?? (this.#run.refusals.has(survey) ? 'held' : 'incomplete'), outcome);
  }

  async #purge(survey: TopicSurvey): Promise<void> {
    const count = survey.ids.length;
    const purge = new TopicPurge(this.#run, survey, this.#run.maxMessages - this.#total + count);
    await purge.begin();
    this.#purges.set(survey, purge);
    try {
      await this.#recordEvent('purging', purge);
      await purge.run();
    } catch (cause) {
      await this.#leave(purge, cause);
    } finally {
      for (const text of warningsOf(survey, purge.outcome())) this.#run.warn(text);
    }
    const outcome = purge.outcome();
    this.#total += deletable(outcome.counts) - count;
    const failure = purge.failure();
    if (failure && !(this.#run.missing_ok && outcome.status === 'unseen')) await this.#leave(purge, failure);
    if (failure) this.#run.warn(failure.message);
    if ((await this.#search.channels()).length > 0) this.#ended.push(purge);
    else await this.#end(purge);
  }

  /**
   * Searches private channels for the missing messages of all purges, and ends the purges, except those whose messages
   * it finds. @throws Failure incomplete for these
   */
  async #endAll(): Promise<void> {
    const purges = this.#ended.splice(0);
    const found: RawMessage[] = [];
    try {
      const ids = purges.flatMap(({ missing }) => missing);
      const take = (message: RawMessage) => void found.push(message);
      const unsearched = await this.#search.find({ apply_markdown: false }, ids, take);
      const where = `missing messages were not searched for in ${quantity(unsearched, 'private channel')}`;
      if (unsearched > 0) this.#run.warn(`${where} (too many requests): what was moved there is not deleted`);
    } catch (cause) {
      for (const purge of purges) await this.#recordEvent('left', purge);
      throw cause;
    }
    const survived: Failure[] = [];
    for (const purge of purges) {
      const missing = new Set(purge.missing);
      purge.found(found.filter(({ id }) => missing.has(id)));
      const failure = purge.outcome().counts.elsewhere > 0 ? purge.failure() : undefined;
      if (failure) survived.push(failure);
      await (failure ? this.#recordEvent('left', purge) : this.#end(purge));
    }
    const [first, ...others] = survived;
    for (const { message } of others) this.#run.warn(message);
    if (first) throw first;
  }

  async #end(purge: TopicPurge): Promise<void> {
    await this.#recordEvent('purged', purge);
    await purge.archive?.finish(purge.outcome().counts).catch((cause: unknown) => this.#leave(purge, cause));
  }

  /** Leaves the purge open, since it failed. @throws Failure */
  async #leave(purge: TopicPurge, cause: unknown): Promise<never> {
    await this.#recordEvent('left', purge);
    // The failure that ended the purge says more than that of an archive which cannot be closed after it.
    await purge.archive?.close().catch(() => undefined);
    throw purge.failedBy(cause);
  }

  async #recordEvent(event: HistoryEvent['event'], purge: TopicPurge): Promise<void> {
    const { channel, topic_name, spellings } = purge.survey;
    const { counts, total: messages, arrived, status } = purge.outcome();
    const what = { email: this.#run.place.account, stream_id: channel.stream_id, channel: channel.name };
    const ended = event === 'purging' ? {} : { deleted: counts.deleted, unseen: counts.unseen, arrived, status };
    const archive = purge.archive?.folder;
    await this.#run.record({ event, ...what, topic_name, spellings, archive, messages, ...ended });
  }
}
