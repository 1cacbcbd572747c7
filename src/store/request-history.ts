import type { Milliseconds } from '../core/duration.ts';
import { isObject } from '../core/json.ts';
import type { Clock } from '../core/system.ts';

/** A line of the record of this computer, or of a job's journal (docs/exactly-once.md, The record). */
export type RequestEvent =
  | PostEnd
  /** `sent`: a POST begins; `unsent`: it was not; `refused`: it created nothing; `confirmed`: a list shows it. */
  | { readonly event: 'sent' | 'unsent' | 'ended' | 'refused' | 'confirmed' | 'resized'; readonly time: Milliseconds }
  | { readonly event: 'resizing'; readonly time: Milliseconds; readonly size_before?: number | undefined };

/** How a POST ended that may have created a license. */
export type PostEnd =
  | ({ readonly event: 'answered' } & OpenAnswer)
  /** Without an answer. `unanswered`: so many in a row; a journal counts them by `sent`. */
  | { readonly event: 'ended'; readonly time: Milliseconds; readonly unanswered: number };

/** An answered POST that no list shows: kept, never sent again (docs/exactly-once.md, Answered is not confirmed). */
export interface OpenAnswer {
  readonly status: number;
  /** When it came, by the clock of the machine that sent the POST. */
  readonly time: Milliseconds;
  /** The last four characters of the answered key; undefined where the answer had none. */
  readonly key_end?: string | undefined;
}

export interface RequestHistory {
  /** When the last POST ended; undefined: none is known. */
  readonly posted?: Milliseconds | undefined;
  readonly unanswered?: number | undefined;
  /** What was answered, and no list has shown. */
  readonly answer?: OpenAnswer | undefined;
  /** What a list has shown since; `posted` is then no later than that. */
  readonly outcome?: 'created' | 'resized' | undefined;
  /** The size before the first resize. */
  readonly size_before?: number | undefined;
}

/** The history of a record: after a kill, the end of a POST may be missing in it. */
export type RecordedHistory = Omit<RequestHistory, 'posted'> & { readonly posted?: PostMoment | undefined };

export type PostMoment = Milliseconds | 'end not recorded';

export type RequestHistories = ReadonlyMap<string, RequestHistory>;

export const noRequests: RequestHistory = {};

/** Whether a POST may have created a license that no list has shown. */
export function isUnconfirmed({ posted, answer, outcome }: RecordedHistory): boolean {
  return outcome === undefined && (posted !== undefined || answer !== undefined);
}

/** A license that was asked for stays so until an outcome is recorded. An interrupted resize is simply done again. */
export function afterEvent(known: RecordedHistory, event: RequestEvent): RecordedHistory {
  const { time } = event;
  const { answer, size_before } = known;
  const isOpen = isUnconfirmed(known);
  const unanswered = isOpen ? (known.unanswered ?? 0) : 0;
  switch (event.event) {
    case 'sent':
      // A POST that is sent although an earlier one was answered may end without an answer: the earlier answer stays.
      return { posted: 'end not recorded', unanswered: unanswered + 1, answer, size_before };
    case 'unsent':
      if (!isOpen || answer) return known;
      return unanswered > 1 ? { posted: time, unanswered: unanswered - 1, size_before } : { size_before };
    case 'refused':
      return isOpen && !answer ? { size_before } : known;
    case 'ended':
      if (!('unanswered' in event)) return isOpen ? { ...known, posted: time } : known;
      return { posted: time, unanswered: event.unanswered, answer, size_before };
    case 'answered':
      return { posted: time, answer: { status: event.status, time, key_end: event.key_end }, size_before };
    case 'confirmed':
      if (known.posted === undefined && !answer) return known;
      return { posted: earlier(known.posted, time), outcome: 'created', size_before };
    case 'resized':
      return { posted: time, outcome: isOpen || known.outcome === 'created' ? 'created' : 'resized', size_before };
    case 'resizing':
      return { ...known, size_before: size_before ?? event.size_before };
  }
}

/** No record overrules another: of two POSTs the later one counts, and so does the later answer. */
export function joinHistories(one: RequestHistory, other?: RequestHistory): RequestHistory;
export function joinHistories(one: RecordedHistory, other?: RecordedHistory): RecordedHistory;
export function joinHistories(one: RecordedHistory, other: RecordedHistory = noRequests): RecordedHistory {
  return {
    ...one,
    posted: laterPost(one.posted, other.posted),
    unanswered: later(one.unanswered, other.unanswered),
    answer: (one.answer?.time ?? -Infinity) >= (other.answer?.time ?? -Infinity) ? one.answer : other.answer,
  };
}

function laterPost(one: PostMoment | undefined, other: PostMoment | undefined): PostMoment | undefined {
  return typeof one === 'string' || typeof other === 'string' ? 'end not recorded' : later(one, other);
}

/** The earlier moment; a POST without a recorded end counts as later. */
export function earlier(one: PostMoment | undefined, other: Milliseconds): Milliseconds {
  return typeof one === 'number' ? Math.min(one, other) : other;
}

/** The greater number, where one is known. */
export function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** With its moment on the clock `elapsed`. A moment in the future, and one that is not recorded, count as now. */
export function onElapsed(history: RecordedHistory, { now, elapsed }: Pick<Clock, 'now' | 'elapsed'>): RequestHistory {
  const { posted, ...others } = history;
  if (posted === undefined) return history === noRequests ? noRequests : others;
  return { ...others, posted: elapsed() - (typeof posted === 'number' ? Math.max(0, now() - posted) : 0) };
}

/** With moments of a clock that is so far behind, on the one of the reader. */
export function shiftAll(histories: RequestHistories, ahead: Milliseconds): RequestHistories {
  const shift = ({ posted, ...rest }: RequestHistory): RequestHistory =>
    posted === undefined ? rest : { ...rest, posted: posted + ahead };
  return new Map([...histories].map(([user, history]) => [user, shift(history)]));
}

const events: ReadonlySet<unknown> = new Set(
  'sent unsent refused confirmed resized resizing ended answered'.split(' '),
);

export function isRequestEvent(value: unknown): value is RequestEvent {
  if (!isObject(value) || !events.has(value['event'])) return false;
  const { event, time, unanswered, size_before } = value;
  return event === 'answered' ? isOpenAnswer(value) : Number.isFinite(time) && areNumbers(unanswered, size_before);
}

export function isRequestHistory(value: unknown): value is RequestHistory {
  if (!isObject(value)) return false;
  const { posted, unanswered, answer } = value;
  return areNumbers(posted, unanswered) && (answer === undefined || isOpenAnswer(answer));
}

function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((one) => one === undefined || Number.isFinite(one));
}

export function isOpenAnswer(value: unknown): value is OpenAnswer {
  if (!isObject(value)) return false;
  const { status, time, key_end } = value;
  return Number.isFinite(status) && Number.isFinite(time) && (key_end === undefined || typeof key_end === 'string');
}
