// The purge of one topic, from its archive to the last look: it decides by the fold of purge-state.ts, and performs.
import type { MessageHead } from '../../api/chat/chat-messages.ts';
import { backoff } from '../../api/http/retry.ts';
import { Failure } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';
import type { LookStep } from '../../store/archive/line-file.ts';
import type { PurgeEvent as HistoryEvent } from '../../store/record/history.ts';
import { heldTopic, holdOf } from './holds.ts';
import { PurgeArchive } from './purge-archive.ts';
import type { PurgeChat, PurgeParts, TopicLimits } from './purge-folders.ts';
import { deletable, inPart, leftOver, PurgeProgress, stuck, tooMany, type PurgeOutcome } from './purge-report.ts';
import * as requests from './purge-requests.ts';
import type { PurgeRun } from './purge-run.ts';
import * as fold from './purge-state.ts';
import type { TopicSurvey } from './survey-topics.ts';

/** A look, and the state before it. */
interface Looked extends requests.TopicLook {
  readonly before: fold.PurgeState;
  readonly step: LookStep;
}

export class TopicPurge {
  readonly survey: TopicSurvey;
  readonly #chat: PurgeChat;
  readonly #limits: TopicLimits;
  readonly #parts: PurgeParts;
  readonly #progress: PurgeProgress;
  #state: fold.PurgeState;
  /** Undefined with --no-archive, and before it is open. */
  #archive: PurgeArchive | undefined;
  /** Whether the server may go on with a call that has no response. */
  #isServerAtWork = false;
  #isHeld = false;
  /** Whether the history knows of its begin, and of no end. */
  #isTold = false;
  /** Messages that left the topic and were found nowhere so far. */
  #missing: readonly number[] = [];
  #isSample = false;
  /** Where messages that left the topic were found. */
  readonly #places = new Set<string>();

  constructor(chat: PurgeChat, survey: TopicSurvey, limits: TopicLimits, parts: PurgeParts) {
    this.survey = survey;
    this.#chat = chat;
    this.#limits = limits;
    this.#parts = parts;
    this.#progress = new PurgeProgress(survey, limits.archives, parts);
    this.#state = fold.after(fold.nothingKnown, { survey: survey.ids });
  }

  /** Ids that are missing everywhere else, for the search in private channels. */
  get missing(): readonly number[] {
    return this.#missing;
  }

  outcome(): PurgeOutcome {
    const { messages, start, deeper } = this.#state;
    const counts = fold.countsOf(this.#state);
    const status = this.#isHeld && counts.deleted === 0 ? 'held' : fold.statusOf(counts);
    const isLeast = this.#lastSeen() === 'open' || this.#lastSeen() === 'answered';
    return { status, counts, deleted: counts.deleted, arrived: messages.size - start.size, deeper, isLeast };
  }

  /**
   * Archives the messages, deletes in rounds, and looks at the end for what is left here or under another name. An
   * empty topic is only looked at: nothing of it was confirmed. @throws Failure, after which the purge is left open
   */
  async run(): Promise<void> {
    try {
      await this.#begin();
      await this.#deleteAll();
      await this.#findElsewhere();
      await this.#look('whole');
      this.#progress.end();
      await this.#archive?.confirm();
      await this.#archive?.close();
    } catch (cause) {
      this.#progress.end();
      // What was renamed meanwhile is not deleted; a server that does not answer is not asked again.
      if (requests.isAnswering(cause) && !this.#parts.signal.aborted)
        await this.#findElsewhere().catch(() => undefined);
      throw await this.leave(cause);
    }
  }

  /** The failure of a purge that came to its end; undefined where all is deleted. */
  failure(): Failure | undefined {
    return leftOver(this.survey, this.#state, this.outcome(), { places: this.#places, isSample: this.#isSample });
  }

  /** Ends the purge in the records of its run, of its archive and in the history. @throws Failure */
  async end(run: PurgeRun): Promise<void> {
    const { counts, status } = this.outcome();
    try {
      const end = { deleted: counts.deleted, status: status === 'unseen' ? status : undefined };
      await this.#tell('purged');
      await run.end(this.survey, end, async () => this.#archive?.finish(counts));
    } catch (cause) {
      throw await this.leave(cause);
    }
  }

  /** Leaves the purge open, since it or its run failed: what that means for it. */
  async leave(cause: unknown): Promise<unknown> {
    if (this.#isTold) await this.#tell('left');
    // What ended a purge says more than an archive that cannot be closed after it.
    await this.#archive?.close().catch(() => undefined);
    const last = this.#lastSeen();
    if (!(cause instanceof Failure) || !last) return cause;
    return inPart(cause, this.survey, { left: fold.leftIn(this.#state), last, again: this.#parts.again() });
  }

  /** Takes messages that another place shows. `unasked`: those for which these are a sample. */
  found(messages: readonly MessageHead[], unasked: readonly number[] = []): void {
    this.#state = fold.after(this.#state, { elsewhere: messages.map(({ id }) => id), unasked });
    const elsewhere = messages.filter(({ id }) => this.#state.messages.get(id) === 'elsewhere');
    for (const { display_recipient: channel, subject } of elsewhere)
      this.#places.add(`#${String(channel)} > ${String(subject)}`);
  }

  async #begin(): Promise<void> {
    const { archives } = this.#limits;
    if (archives.isKept) {
      const keeping = { ...this.#parts, ...archives };
      const [archived, note] = [(count: number) => this.#progress.archived(count), this.#progress.note];
      this.#archive = await PurgeArchive.open(this.#chat, this.survey, { ...keeping, archived, note });
      this.#state = fold.after(this.#archive.known, { survey: this.survey.ids });
    }
    await this.#tell('purging');
  }

  /**
   * Calls delete_topic until no message of the survey is left, through `complete: false`, `partially_completed`,
   * timeouts and errors of old servers; not where the look before shows nothing, unless the plan hides messages.
   * @throws Failure auth, rejected; usage or incomplete above `maxMessages`; incomplete where there is no progress
   */
  async #deleteAll(): Promise<void> {
    const { survey } = this;
    const level = await this.#chat.level();
    const isAtomic = level !== undefined && level < topicLevels.batches;
    const mayCall = survey.ids.length > 0 || survey.isLimited;
    let looked = await this.#look('whole');
    let failed: Failure | undefined;
    while (mayCall && fold.nextStep(this.#state, survey) === 'call') {
      await this.#archiveSeen(looked);
      failed = await this.#callOnce();
      if (this.#parts.signal.aborted) await this.#lookOnce();
      if (failed) {
        if (requests.isAccepted(failed)) await this.#recordWithoutCall(await this.#look('whole'));
        if (!requests.isRepeatable(failed, level)) throw failed;
        this.#parts.note(`${failed.message}; checking what is left`);
        await this.#parts.sleep(backoff(this.#state.call?.withoutProgress ?? 0, 1));
      }
      looked = await this.#look(isAtomic ? 'whole' : 'newest');
    }
    if (mayCall && fold.nextStep(this.#state, survey) === 'give up')
      throw stuck(survey, fold.leftIn(this.#state), failed);
    await this.#recordWithoutCall(looked);
  }

  /**
   * Reads the topic from its newest message downward. `newest` reads it whole all the same where nothing went, or half
   * of the last whole look, and where the last call went deeper than the look before it.
   */
  async #look(extent: requests.LookExtent): Promise<Looked> {
    const before = this.#state;
    const time = new Date(this.#parts.now()).toISOString();
    const isEnough = (ids: readonly number[]): boolean => fold.isEnough(before, ids);
    const look = await requests.lookAt(this.#chat, this.survey, extent, isEnough, this.#archive);
    const step = fold.lookStep(before, time, look.from, look.ids);
    this.#state = fold.after(before, step);
    this.#progress.left(fold.leftIn(this.#state));
    return { ...look, before, step };
  }

  /** After Ctrl-C: how many went, as one request shows. Its failure does not hide the interruption. */
  async #lookOnce(): Promise<void> {
    const looked = await this.#look('one page').catch(() => undefined);
    if (looked) await this.#recordWithoutCall(looked);
  }

  /** What came into the topic is then no part of the purge. */
  async #recordWithoutCall({ step }: Looked): Promise<void> {
    await this.#archive?.record({ ...step, there: [] });
  }

  async #archiveSeen({ before, step, ...look }: Looked): Promise<void> {
    const came = await requests.archiveSeen(this.#chat, this.survey, look, this.#archive);
    const whole = { ...step, there: [...step.there, ...came] };
    this.#state = fold.after(before, whole);
    this.#refuse();
    await this.#archive?.record(whole);
  }

  /** @throws Failure for a message that is held, or more messages than may be deleted */
  #refuse(): void {
    const { holds, maxMessages } = this.#limits;
    const counts = fold.countsOf(this.#state);
    if (deletable(counts) > maxMessages)
      throw tooMany(this.survey, counts, maxMessages, this.#lastSeen() && fold.leftIn(this.#state));
    const hold = holdOf(holds, this.survey, fold.presentIn(this.#state));
    this.#isHeld ||= hold !== undefined;
    if (hold) throw heldTopic(this.survey, hold);
  }

  /** @returns how the call failed; undefined where it was answered */
  async #callOnce(): Promise<Failure | undefined> {
    const before = async (): Promise<void> => {
      await this.#archive?.confirm();
      await this.#archive?.record({ call: 'asked' });
      this.#state = fold.after(this.#state, { call: 'asked' });
      this.#isServerAtWork = true;
    };
    const { end, failure } = await requests.callDeleteTopic(this.#chat, this.survey, before, this.#parts);
    this.#isServerAtWork = failure !== undefined && failure.details.http?.status === undefined;
    this.#state = fold.after(this.#state, { call: end });
    await this.#archive?.record({ call: end });
    return failure;
  }

  async #findElsewhere(): Promise<void> {
    const gone = [...this.#state.messages].flatMap(([id, state]) => (state === 'present' ? [] : [id]));
    const { found, missing, unasked } = await requests.findGone(this.#chat, this.survey.channel, fold.ascending(gone));
    this.#missing = missing;
    this.#isSample = unasked.length > 0;
    this.found(found, unasked);
  }

  /** How far this run's last call is known; undefined where none was sent. */
  #lastSeen(): 'open' | 'answered' | 'seen' | undefined {
    const { call } = this.#state;
    if (!call || call.isOfEarlierRun) return undefined;
    if (this.#isServerAtWork) return 'open';
    return call.isLooked || call.end === 'failed' || call.end === 'broken' ? 'seen' : 'answered';
  }

  async #tell(event: HistoryEvent['event']): Promise<void> {
    const { channel, topic_name, spellings } = this.survey;
    const { counts, arrived, status } = this.outcome();
    const { deleted, unseen } = counts;
    const what = { email: this.#limits.archives.account, stream_id: channel.stream_id, channel: channel.name };
    const ended = event === 'purging' ? {} : { deleted, unseen, arrived, status };
    const messages = this.#state.messages.size;
    const archive = this.#archive?.folder;
    await this.#parts.record({ event, ...what, topic_name, spellings, archive, messages, ...ended });
    this.#isTold = event === 'purging';
  }
}
