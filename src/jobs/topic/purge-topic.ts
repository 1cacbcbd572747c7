// The purge of one topic, from its archive to the last look: it decides by the fold of purge-state.ts, and performs.
import type { ChatApi } from '../../api/chat/chat.ts';
import type { RawMessage } from '../../api/chat/chat-messages.ts';
import { backoff } from '../../api/http/retry.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { topicLevels } from '../../schema/topic.ts';
import type { LookStep } from '../../store/archive/line-file.ts';
import type { Progress, WorkMessages } from '../work/work-messages.ts';
import { heldTopic, holdOf, type TopicHold } from './holds.ts';
import { PurgeArchive, type ArchiveParts } from './purge-archive.ts';
import { deletable, inPart, leftOver, stuck, tooMany, type PurgeOutcome } from './purge-report.ts';
import * as requests from './purge-requests.ts';
import * as fold from './purge-state.ts';
import type { Doomed, PurgeArchives } from './survey-topics.ts';

export type PurgeChat = Pick<ChatApi, 'messages' | 'level' | 'channels' | 'deleteTopic' | 'organization' | 'upload'>;

/** Parts of the run that a purge uses. */
export interface PurgeParts extends WorkMessages, ArchiveParts {
  /** Ctrl-C, SIGTERM and the deadline. */
  readonly signal: AbortSignal;
  /** The line that continues the purge. */
  again(): string;
  sleep(span: Milliseconds): Promise<void>;
}

export interface TopicLimits {
  readonly archives: PurgeArchives;
  /** False with --no-archive. */
  readonly isKept: boolean;
  readonly holds: readonly TopicHold[];
  /** Infinity for any number. */
  readonly maxMessages: number;
}

/** A look, and the state before it. */
interface Looked extends requests.TopicLook {
  readonly before: fold.PurgeState;
  readonly step: LookStep;
}

export class TopicPurge {
  readonly survey: Doomed;
  readonly #chat: PurgeChat;
  readonly #limits: TopicLimits;
  readonly #parts: PurgeParts;
  #state: fold.PurgeState;
  /** Undefined with --no-archive, and before it is open. */
  archive: PurgeArchive | undefined;
  /** Messages that left the topic and were found nowhere so far. */
  missing: readonly number[] = [];
  /** Whether the server may go on with a call that has no response. */
  #isServerAtWork = false;
  #isHeld = false;
  #isSample = false;
  /** Where messages that left the topic were found. */
  readonly #places = new Set<string>();
  #shown: { readonly label: string; readonly line: Progress } | undefined;

  constructor(chat: PurgeChat, survey: Doomed, limits: TopicLimits, parts: PurgeParts) {
    [this.survey, this.#chat, this.#limits, this.#parts] = [survey, chat, limits, parts];
    this.#state = fold.after(fold.nothingKnown, { survey: survey.ids });
  }

  outcome(): PurgeOutcome {
    const { messages, start, deeper } = this.#state;
    const counts = fold.countsOf(this.#state);
    const status = this.#isHeld && counts.deleted === 0 ? 'held' : fold.statusOf(counts);
    const call = this.#ownCall();
    const isLeast = this.#isServerAtWork || (call !== undefined && !call.isLooked && fold.isAnswered(call.end));
    return { status, counts, total: messages.size, arrived: messages.size - start.size, deeper, isLeast };
  }

  /** Archives the messages, in full before the first call, or what an interrupted purge lacks of them. */
  async begin(): Promise<void> {
    const { isKept, archives } = this.#limits;
    if (!isKept) return;
    const show = (count: number): void => this.#show('archived', count);
    const keeping = { chat: this.#chat, survey: this.survey, place: archives, parts: this.#parts };
    this.archive = await PurgeArchive.open(keeping, show);
    this.#state = fold.after(this.archive.known(), { survey: this.survey.ids });
  }

  /**
   * Deletes in rounds, and looks at the end for what is left here or under another name. An empty topic is only looked
   * at: nothing of it was confirmed. @throws Failure, after which the purge is left open
   */
  async run(): Promise<void> {
    try {
      await this.#deleteAll();
      await this.#findElsewhere();
      await this.#look('whole');
      await this.archive?.confirm();
      await this.archive?.close();
    } catch (cause) {
      // What was renamed meanwhile is not deleted; a server that does not answer is not asked again.
      if (requests.isAnswering(cause) && !this.#parts.signal.aborted)
        await this.#findElsewhere().catch(() => undefined);
      throw cause;
    } finally {
      this.#shown?.line.end();
    }
  }

  /** The failure of a purge that came to its end; undefined where all is deleted. */
  failure(): Failure | undefined {
    return leftOver(this.survey, this.#state, this.outcome(), { places: this.#places, isSample: this.#isSample });
  }

  /** What a failure, of the purge or of its run, means for the topic. */
  failedBy(cause: unknown): unknown {
    if (!(cause instanceof Failure) || !this.#ownCall()) return cause;
    const left = { left: fold.leftIn(this.#state), isServerAtWork: this.#isServerAtWork };
    return inPart(cause, this.survey, left, this.#parts.again());
  }

  /** Takes messages that another place shows. `unasked`: those for which these are a sample. */
  found(messages: readonly RawMessage[], unasked: readonly number[] = []): void {
    this.#state = fold.after(this.#state, { elsewhere: messages.map(({ id }) => id), unasked });
    const elsewhere = messages.filter(({ id }) => this.#state.messages.get(id) === 'elsewhere');
    for (const { display_recipient: channel, subject } of elsewhere)
      this.#places.add(`#${String(channel)} > ${String(subject)}`);
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
    const level = await this.#chat.level();
    const isAtomic = level !== undefined && level < topicLevels.batches;
    const mayCall = survey.ids.length > 0 || survey.isLimited;
    let looked = await this.#look('whole');
    let failed: Failure | undefined;
    while (mayCall && fold.nextStep(this.#state, survey) === 'call') {
      await this.#archiveSeen(looked);
      failed = await this.#call();
      // After Ctrl-C one request shows how many went; its failure does not hide the interruption.
      if (this.#parts.signal.aborted) await this.#lookAtLast('one page').catch(() => undefined);
      if (failed) {
        if (requests.isAccepted(failed)) await this.#lookAtLast('whole');
        if (!requests.isRepeatable(failed, level)) throw failed;
        this.#parts.note(`${failed.message}; checking what is left`);
        await this.#parts.sleep(backoff(this.#state.call?.withoutProgress ?? 0, 1));
      }
      looked = await this.#look(isAtomic ? 'whole' : 'newest');
    }
    if (mayCall && fold.nextStep(this.#state, survey) === 'give up')
      throw stuck(survey, fold.leftIn(this.#state), failed);
    await this.#recordLast(looked);
  }

  /**
   * Reads the topic from its newest message downward. `newest` reads it whole all the same where nothing went, or half
   * of the last whole look, and where the last call went deeper than the look before it.
   */
  async #look(extent: requests.LookExtent): Promise<Looked> {
    const before = this.#state;
    const time = new Date(this.#parts.now()).toISOString();
    const isEnough = (ids: readonly number[]): boolean => fold.isEnough(before, ids);
    const look = await requests.lookAt(this.#chat, this.survey, extent, isEnough, this.archive);
    const step = fold.lookStep(before, time, look.from, look.ids);
    this.#state = fold.after(before, step);
    this.#show('deleted', this.survey.ids.length - fold.leftIn(this.#state));
    return { ...look, before, step };
  }

  async #lookAtLast(extent: requests.LookExtent): Promise<void> {
    await this.#recordLast(await this.#look(extent));
  }

  /** Of a look that no call follows: what came into the topic is no part of the purge. */
  async #recordLast({ step }: Looked): Promise<void> {
    await this.archive?.record({ ...step, there: [] });
  }

  async #archiveSeen({ before, step, ...look }: Looked): Promise<void> {
    const came = await requests.archiveSeen(this.#chat, this.survey, look, this.archive);
    const whole = { ...step, there: [...step.there, ...came] };
    this.#state = fold.after(before, whole);
    this.#refuse();
    await this.archive?.record(whole);
  }

  /** @throws Failure for a message that is held, or more messages than may be deleted */
  #refuse(): void {
    const { holds, maxMessages } = this.#limits;
    const counts = fold.countsOf(this.#state);
    if (deletable(counts) > maxMessages)
      throw tooMany(this.survey, counts, maxMessages, this.#ownCall() && fold.leftIn(this.#state));
    const hold = holdOf(holds, this.survey, fold.presentIn(this.#state));
    this.#isHeld ||= hold !== undefined;
    if (hold) throw heldTopic(this.survey, hold);
  }

  /** @returns how the call failed; undefined where it was answered */
  async #call(): Promise<Failure | undefined> {
    const before = async (): Promise<void> => {
      await this.archive?.confirm();
      await this.archive?.record({ call: 'asked' });
      this.#state = fold.after(this.#state, { call: 'asked' });
      this.#isServerAtWork = true;
    };
    const { end, failure } = await requests.callDeleteTopic(this.#chat, this.survey, before, this.#parts);
    this.#isServerAtWork = failure !== undefined && failure.details.http?.status === undefined;
    this.#state = fold.after(this.#state, { call: end });
    await this.archive?.record({ call: end });
    return failure;
  }

  async #findElsewhere(): Promise<void> {
    const gone = [...this.#state.messages].flatMap(([id, state]) => (state === 'present' ? [] : [id]));
    const { found, missing, unasked } = await requests.findGone(this.#chat, this.survey.channel, fold.ascending(gone));
    this.missing = missing;
    this.#isSample = unasked.length > 0;
    this.found(found, unasked);
  }

  /** The time of a line of progress counts from its first number on. */
  #show(label: string, count: number): void {
    if (this.#shown?.label !== label) {
      this.#shown?.line.end();
      this.#shown = { label, line: this.#parts.progress(label, this.survey.ids.length) };
    }
    this.#shown.line.upTo(count);
  }
}
