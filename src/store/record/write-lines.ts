/** The lines of one run in the record of writes, and what they say together. Pure: no clock, no file. */
import type { Milliseconds } from '../../core/duration.ts';
import { isObject } from '../../core/json.ts';
import { isOwner, type Owner } from '../disk/owner.ts';
import { lineIn, summedLine, type Damaged } from '../disk/records.ts';
import type { AskedWrite, CountedWrite, OpenWrite, PendingWrite, WriteEnd, WritingRun } from './writes.ts';

/** A name is kept as two hashes: exactly, and folded as all names that are similar. */
export interface UserHashes {
  readonly exact: string;
  readonly folded: string;
}

export interface RunHead extends WritingRun {
  readonly owner: Owner;
}

/** `begin`: a request is about to be sent; `end`: how it ended, or what is known of it since. */
export type WriteLine = BeginLine | EndLine;

interface BeginLine {
  readonly begin: number;
  readonly time: Milliseconds;
  readonly users: readonly UserHashes[];
  readonly asked: AskedWrite;
}

type EndLine = { readonly end: number; readonly time: Milliseconds } & WriteEnd;

/** A write that is under way, pending or open. */
export interface Entry extends Omit<BeginLine, 'begin'> {
  end?: EndLine & { readonly is: 'answered' | 'no answer' };
  /** When it ended, on the clock of whoever reads it. */
  endedAt?: Milliseconds;
  /** Its number among all that the reader has seen begin. */
  place: number;
}

/** The writes of one run that are under way, pending or open, by their numbers and by the names of their users. */
export class Entries {
  readonly #all = new Map<number, Entry>();
  readonly #byName = new Map<string, number[]>();

  get size(): number {
    return this.#all.size;
  }

  /** Changes the entry that a line is about, which leaves once nobody needs to know it any more. */
  after(line: WriteLine): Entry | undefined {
    if ('begin' in line) return this.#begin(line);
    const entry = this.#all.get(line.end);
    if (!entry) return undefined;
    if (line.is === 'no answer' || line.is === 'answered') entry.end = line;
    else this.#all.delete(line.end);
    return entry;
  }

  #begin({ begin, ...begun }: BeginLine): Entry {
    const known = this.#all.get(begin);
    const entry = { ...begun, place: known?.place ?? 0 };
    this.#all.set(begin, entry);
    for (const name of known ? [] : begun.users.flatMap(({ exact, folded }) => [exact, folded]))
      if (!this.#byName.get(name)?.push(begin)) this.#byName.set(name, [begin]);
    return entry;
  }

  get(number: number): Entry | undefined {
    return this.#all.get(number);
  }

  all(): Iterable<readonly [number, Entry]> {
    return this.#all;
  }

  /** Those of a user, by one of the hashes of the name. */
  *of(name: string): Generator<readonly [number, Entry]> {
    for (const number of this.#byName.get(name) ?? []) {
      const entry = this.#all.get(number);
      if (entry) yield [number, entry];
    }
  }
}

export interface RunFile {
  readonly token: string;
  readonly head: RunHead;
  readonly entries: Entries;
}

const version = 1;

export function headLine(head: RunHead): string {
  return summedLine({ record: version, ...head });
}

/** The lines that a file needs once it is written again. */
export function linesOf({ head, entries }: Pick<RunFile, 'head' | 'entries'>): string[] {
  const lines = [headLine(head)];
  for (const [begin, { time, users, asked, end }] of entries.all()) {
    lines.push(summedLine({ begin, time, users, asked }));
    if (end) lines.push(summedLine(end));
  }
  return lines;
}

/** Whether a line about an entry says something new: an end is written once. */
export function isNews(entry: Entry | undefined, line: WriteLine): boolean {
  return entry !== undefined && 'end' in line && (line.is !== 'no answer' || !entry.end);
}

export interface ReadLine {
  readonly line: WriteLine;
  readonly entry: Entry;
}

/** Undefined where a crash cut its first line: nothing was sent. @throws what `damaged` makes of other damage */
export function readRunFile(bytes: Buffer, token: string, damaged: Damaged) {
  const end = bytes.indexOf(10);
  if (end < 0) return undefined;
  const first = lineIn(bytes.toString('utf8', 0, end));
  const head = first.isWhole ? first.json?.value : undefined;
  if (!isHead(head)) throw damaged('it does not begin as a record of writes');
  const entries = new Entries();
  return { token, head, entries, ...readLines(bytes, end + 1, entries, damaged) };
}

/** Reads from a place on; a last line without its end counts for nothing, since its request was never sent. */
export function readLines(bytes: Buffer, from: number, entries: Entries, damaged: Damaged) {
  const lines: ReadLine[] = [];
  let size = from;
  for (let end = bytes.indexOf(10, size); end >= 0; size = end + 1, end = bytes.indexOf(10, size)) {
    const { json, isSummed, isWhole } = lineIn(bytes.toString('utf8', size, end));
    const line = json?.value;
    if (!isSummed || !isWhole || !isWriteLine(line)) throw damaged(`the line at byte ${size} is not what was written`);
    const entry = entries.after(line);
    if (entry) lines.push({ line, entry });
  }
  return { lines, size };
}

const day: Milliseconds = 86_400_000;

/**
 * Whether nobody needs to know of it: a name that was given may be shown late, but not later than `settle`; what was
 * not processed counts among the requests without a response for a day.
 */
export function isForgotten({ asked, end, endedAt = Infinity }: Entry, now: Milliseconds): boolean {
  if (asked.kind === 'change' && end?.is === 'answered') return now >= endedAt + asked.settle;
  return end?.is === 'no answer' && end.n === 0 && now >= endedAt + day;
}

/** Writes for a user of which nobody knows whether it was processed, or is shown yet. */
export function pendingIn(
  { token, head, entries }: RunFile,
  { folded }: UserHashes,
  now: Milliseconds,
): PendingWrite[] {
  const { run, command } = head;
  return [...entries.of(folded)].flatMap(([number, entry]) => {
    const { asked, end, endedAt } = entry;
    if (!end || endedAt === undefined || isForgotten(entry, now)) return [];
    if (end.is === 'answered' && asked.kind === 'creation') return [];
    return [{ id: `${token}-${number}`, run, command, asked, ended: endedAt, n: end.is === 'answered' ? 1 : end.n }];
  });
}

/** Answered creations for a user that no list has shown. */
export function openIn({ token, head, entries }: RunFile, { exact }: UserHashes): OpenWrite[] {
  return [...entries.of(exact)].flatMap(([number, entry]) => openOf(`${token}-${number}`, head, entry) ?? []);
}

export function openOf(id: string, { run, command }: RunHead, entry: Entry): OpenWrite | undefined {
  const { asked, end, endedAt } = entry;
  if (end?.is !== 'answered' || asked.kind !== 'creation' || endedAt === undefined) return undefined;
  const { status, time, key_end } = end;
  return { id, run, command, status, time, answered: endedAt, key_end };
}

/** Writes that the server may still process: of a run that has ended, until n times `settle` after the end. */
export function countedIn(
  { token, entries, isGone }: RunFile & { readonly isGone: boolean },
  now: Milliseconds,
): CountedWrite[] {
  return [...entries.all()].flatMap(([number, { asked, end, endedAt = now }]) => {
    if (end?.is === 'answered' || end?.n === 0) return [];
    if (isGone && end && now >= endedAt + end.n * asked.settle) return [];
    return [{ id: `${token}-${number}`, settle: asked.settle }];
  });
}

function isHead(value: unknown): value is RunHead {
  if (!isObject(value) || value['record'] !== version || !isOwner(value['owner'])) return false;
  return typeof value['run'] === 'string' && typeof value['command'] === 'string';
}

function isWriteLine(value: unknown): value is WriteLine {
  if (!isObject(value) || !Number.isFinite(value['time'])) return false;
  const { begin, end, users, asked, is, n, status } = value;
  if (typeof end === 'number')
    return is === 'no answer' ? Number.isFinite(n) : is === 'answered' ? Number.isFinite(status) : ends.has(is);
  const isAsked = isObject(asked) && Number.isFinite(asked['settle']) && Number.isFinite(asked['unanswered']);
  return typeof begin === 'number' && isAsked && Array.isArray(users) && users.every(isHashes);
}

const ends: ReadonlySet<unknown> = new Set(['refused', 'shown', 'not carried out']);

function isHashes(value: unknown): value is UserHashes {
  return isObject(value) && typeof value['exact'] === 'string' && typeof value['folded'] === 'string';
}
