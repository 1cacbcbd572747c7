// The purge of one topic, from its archive to the last look: it decides by the fold of purge-state.ts, and performs the
// looks and calls (docs/apis.md, Deleting a topic, Looks).
import type { RawMessage } from '../../api/chat/chat-messages.ts';
import { backoff } from '../../api/http/retry.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';
import type { LookStep } from '../../store/archive/line-file.ts';
import type { Progress } from '../work/work-messages.ts';
import { placeOf } from '../messages/places.ts';
import { heldTopic, holdOf } from './holds.ts';
import { PurgeArchive, type PurgeRun } from './purge-archive.ts';
import { inPart, isAccepted, leftOver, refuseMore, refuseNewer, stuck, type PurgeOutcome } from './purge-report.ts';
import { askOnce, callDeleteTopic, expiryOf, findGone, isRepeatable, maxUnsent, Unsent } from './purge-requests.ts';
import * as fold from './purge-state.ts';
import { hiddenMessages, timeOf, topicPages, type TopicSurvey } from './survey-topics.ts';

/** The result of reading the topic, with its messages ascending, and the state before. */
interface TopicLook {
  readonly ids: readonly number[];
  readonly last_timestamp: number | null;
  /** Messages of which the archive lacks the version that was seen. */
  readonly unkept: readonly RawMessage[];
  readonly pages: number;
  /** No call is sent after this time. */
  readonly freshUntil: Milliseconds;
  readonly step: LookStep;
  readonly before: fold.PurgeState;
}

/** How often the messages are fetched that arrived during the archiving. */
const maxCatchUps = 3;

export class TopicPurge {
  readonly survey: TopicSurvey;
  readonly #run: PurgeRun;
  /** Infinity for any number. */
  readonly #maxMessages: number;
  #state: fold.PurgeState;
  /** Undefined with --no-archive, and before it is open. */
  archive: PurgeArchive | undefined;
  /** Messages that left the topic and were found nowhere so far. */
  missing: readonly number[] = [];
  /** True if the server may still be working on a call that has no response. */
  #isServerAtWork = false;
  /** How many looks in a row were too old for their call. */
  #unsent = 0;
  #isHeld = false;
  #isSample = false;
  /** Where messages that left the topic were found. */
  readonly #places = new Set<string>();
  #progress: Progress | undefined;

  constructor(run: PurgeRun, survey: TopicSurvey, maxMessages: number) {
    [this.#run, this.survey, this.#maxMessages] = [run, survey, maxMessages];
    this.#state = fold.after(fold.nothingKnown, { survey: survey.ids });
  }

  outcome(): PurgeOutcome {
    const { messages, start, deeper } = this.#state;
    const counts = fold.countsOf(this.#state);
    const status = this.#isHeld && counts.deleted === 0 ? 'held' : fold.statusOf(counts);
    const call = this.#ownCall();
    const isLeast = this.#isServerAtWork || (call !== undefined && !call.hasLook && fold.isAnswered(call.end));
    return { status, counts, total: messages.size, arrived: messages.size - start.size, deeper, isLeast };
  }

  /** Archives all messages before the first call, or those that an interrupted purge lacks. */
  async begin(): Promise<void> {
    if (this.#run.place.root === undefined) return;
    const progress = this.#run.progress('archived', this.survey.ids.length);
    const opened = PurgeArchive.open(this.#run, this.survey, (count) => progress.upTo(count));
    this.archive = await opened.finally(() => progress.end());
    this.#state = fold.after(this.archive.known(), { survey: this.survey.ids });
  }

  /**
   * Deletes in rounds, and looks at the end for what is left here or under another name. An empty topic is only looked
   * at: nothing of it was confirmed. @throws Failure, after which the purge is left open
   */
  async run(): Promise<void> {
    this.#progress = this.#run.progress('deleted', this.survey.ids.length);
    try {
      await this.#deleteAll();
      await this.#findElsewhere();
      await this.#look('whole');
      await this.archive?.confirm();
      await this.archive?.close();
    } catch (cause) {
      // Messages that were moved meanwhile are not deleted; a server that does not respond is not asked for them.
      const isAnswering =
        cause instanceof Failure && !cause.isInterruption && !(cause.kind === 'unavailable' && cause.details.http);
      if (isAnswering && !this.#run.signal.aborted) await this.#findElsewhere().catch(() => undefined);
      throw cause;
    } finally {
      this.#progress.end();
    }
  }

  /** The failure of a purge that came to its end; undefined where all is deleted. */
  failure(): Failure | undefined {
    return leftOver(this.survey, this.#state, this.outcome(), { places: this.#places, isSample: this.#isSample });
  }

  /** Adds to a failure, of the purge or of its run, what it means for the topic. */
  failedBy(cause: unknown): unknown {
    if (!(cause instanceof Failure) || !this.#ownCall()) return cause;
    const left = { left: fold.leftIn(this.#state), isServerAtWork: this.#isServerAtWork };
    return inPart(cause, this.survey, left, this.#run.again());
  }

  /** Notes messages that were found in another place. */
  found(messages: readonly RawMessage[], asked: 'all' | 'sample' = 'all'): void {
    this.#state = fold.after(this.#state, { elsewhere: messages.map(({ id }) => id), asked });
    const elsewhere = messages.filter(({ id }) => this.#state.messages.get(id) === 'elsewhere');
    for (const message of elsewhere) this.#places.add(placeOf(message.parse()));
  }

  /** The last call of this run. */
  #ownCall(): fold.PurgeState['call'] {
    return this.#state.call?.isOfEarlierRun ? undefined : this.#state.call;
  }

  /**
   * Calls delete_topic until no message of the survey is left, through `complete: false`, `partially_completed`,
   * timeouts and errors of old servers; not where the look before shows nothing, unless the plan hides messages.
   * @throws Failure auth, rejected; usage or incomplete above `maxMessages`; incomplete where there is no progress
   */
  async #deleteAll(): Promise<void> {
    const { survey } = this;
    const level = await this.#run.chat.level();
    const isAtomic = level !== undefined && level < topicLevels.batches;
    const mayCall = survey.ids.length > 0 || survey.isLimited;
    let look = await this.#look('whole');
    let failed: Failure | undefined;
    while (mayCall && this.#unsent < maxUnsent && fold.nextStep(this.#state, survey) === 'call') {
      await this.#archiveSeen(look);
      const call = await this.#call(look);
      [failed, this.#unsent] = [call.failure, call.end === 'unsent' ? this.#unsent + 1 : 0];
      // After Ctrl-C one request shows how many went; its failure does not hide the interruption.
      if (this.#run.signal.aborted) await this.#recordLast(this.#look('one page')).catch(() => undefined);
      if (failed) {
        if (isAccepted(failed)) await this.#recordLast(this.#look('whole'));
        if (!isRepeatable(failed, level)) throw failed;
        this.#run.note(`${failed.message}; checking what is left`);
        await this.#run.sleep(backoff(this.#state.call?.withoutProgress ?? 0, 1));
      }
      look = await this.#look(isAtomic ? 'whole' : 'newest');
    }
    if (mayCall && fold.nextStep(this.#state, survey) !== 'end') throw stuck(survey, fold.leftIn(this.#state), failed);
    await this.#recordLast(look);
  }

  /**
   * Reads the topic from its newest message downward. `newest` reads it whole all the same where nothing went, or half
   * of the last whole look, and where the last call went deeper than the look before it. `one page` is requested after
   * Ctrl-C too, for at most 10 s.
   */
  async #look(extent: 'whole' | 'newest' | 'one page'): Promise<TopicLook> {
    const { chat, now, elapsed } = this.#run;
    const before = this.#state;
    const time = new Date(now()).toISOString();
    const pages: (readonly number[])[] = [];
    const unkept: RawMessage[] = [];
    const waits: Milliseconds[] = [];
    const begun = elapsed();
    let [from, last_timestamp]: [number | null, number | null] = [null, null];
    for await (const page of topicPages(extent === 'one page' ? askOnce(chat) : chat, this.survey, 'newest')) {
      const { messages, found_oldest, history_limited, waited = 0 } = page;
      if (history_limited && !this.survey.isLimited)
        throw hiddenMessages([this.survey], this.#ownCall() ? 'incomplete' : 'rejected');
      waits.push(waited);
      last_timestamp ??= timeOf(messages.at(-1));
      pages.unshift(messages.map(({ id }) => id));
      unkept.unshift(...messages.filter((message) => this.archive?.lacks(message)));
      const isLast = extent === 'one page' || (extent === 'newest' && fold.isEnough(before, pages.flat()));
      if (found_oldest || !isLast) continue;
      from = messages[0]?.id ?? Infinity;
      break;
    }
    const ids = pages.flat();
    const step = fold.lookStep(before, time, from, ids);
    this.#state = fold.after(before, step);
    this.#progress?.upTo(this.survey.ids.length - fold.leftIn(this.#state));
    const freshUntil = expiryOf(waits, elapsed() - begun, elapsed(), this.#unsent);
    return { ids, last_timestamp, unkept, pages: pages.length, freshUntil, step, before };
  }

  /** Records the last read, which no call follows, without new messages, which are no part of the purge. */
  async #recordLast(look: TopicLook | Promise<TopicLook>): Promise<void> {
    const { step } = await look;
    await this.archive?.record({ ...step, there: [] });
  }

  /** Archives what a look showed, and newer messages, for which the last request before a call is. */
  async #archiveSeen({ ids, last_timestamp, unkept, pages, step, before }: TopicLook): Promise<void> {
    await this.archive?.add(unkept);
    const came: RawMessage[] = [];
    let isLate = ids.length > 0 && (pages > 1 || unkept.length > 0);
    for (let round = 0; isLate && round < maxCatchUps; round += 1) {
      const [known, newest] = [came.length, String(came.at(-1)?.id ?? ids.at(-1))];
      const read = topicPages(this.#run.chat, this.survey, newest, { include_anchor: false });
      for await (const { messages } of read) came.push(...messages);
      await this.archive?.add(came);
      isLate = came.length > known;
    }
    const whole = { ...step, there: [...step.there, ...came.map(({ id }) => id)] };
    this.#state = fold.after(before, whole);
    this.#refuse(timeOf(came.at(-1)) ?? last_timestamp);
    await this.archive?.record(whole);
  }

  /** @throws Failure for a message that is held or too young, or more messages than may be deleted */
  #refuse(last_timestamp: number | null): void {
    const left = this.#ownCall() && fold.leftIn(this.#state);
    refuseMore(this.survey, fold.countsOf(this.#state), this.#maxMessages, left);
    const hold = holdOf(this.#run.holds, this.survey, fold.presentIn(this.#state));
    this.#isHeld ||= hold !== undefined;
    if (hold) throw heldTopic(this.survey, hold);
    refuseNewer({ ...this.survey, last_timestamp }, this.#run.before);
  }

  /** Sends a call and returns how it ended. @throws Failure as callDeleteTopic */
  async #call({ freshUntil }: TopicLook): ReturnType<typeof callDeleteTopic> {
    const isAsked = (): boolean => this.#ownCall()?.end === 'asked';
    const before = async (): Promise<void> => {
      await this.archive?.confirm();
      if (this.#run.elapsed() > freshUntil) throw new Unsent();
      if (isAsked()) return;
      await this.archive?.record({ call: 'asked' });
      // A call that is not sent has no end: what leaves the topic meanwhile was not deleted by it.
      this.#run.signal.throwIfAborted();
      this.#state = fold.after(this.#state, { call: 'asked' });
      this.#isServerAtWork = true;
    };
    const call = await callDeleteTopic(this.#run, this.survey, before);
    if (!isAsked()) return call;
    this.#isServerAtWork = call.failure !== undefined && call.failure.details.http?.status === undefined;
    this.#state = fold.after(this.#state, { call: call.end });
    await this.archive?.record({ call: call.end });
    return call;
  }

  async #findElsewhere(): Promise<void> {
    const { found, missing, asked } = await findGone(this.#run.chat, this.survey, fold.goneIn(this.#state));
    this.missing = missing;
    this.#isSample = asked === 'sample';
    this.found(found, asked);
  }
}
