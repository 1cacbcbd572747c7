/** The lines of one run in the record of writes, and what they say together. Pure: no clock, no file. */
import { hash } from 'node:crypto';
import type { Milliseconds } from '../../core/duration.ts';
import { foldName } from '../../core/fold-name.ts';
import { isObject } from '../../core/json.ts';
import { isOwner, type Owner } from '../disk/owner.ts';
import { lineIn, summedLine, type Damaged } from '../disk/records.ts';
import {
  isForgotten,
  type AskedWrite,
  type KeptEnd,
  type RecordedWrite,
  type UserName,
  type WriteEnd,
  type WritingRun,
} from './writes.ts';

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

export type EndLine = { readonly end: number; readonly time: Milliseconds } & WriteEnd;

/** A write that is under way, pending or open. */
export interface Entry extends Omit<BeginLine, 'begin'> {
  end?: KeptEnd & { readonly end: number; readonly time: Milliseconds };
  /** When it ended, on the clock of whoever reads it. */
  endedAt?: Milliseconds;
}

const version = 1;

export function headLine(head: RunHead): string {
  return summedLine({ record: version, ...head });
}

/** What the file of a run says, as far as it was read: its writes that are under way, pending or open. */
export class RunRecord {
  readonly token: string;
  readonly head: RunHead;
  /** The bytes that were read. */
  size: number;
  /** Its process has ended: others write what became known of it. */
  isGone = false;
  readonly all = new Map<number, Entry>();
  readonly #byName = new Map<string, Set<number>>();

  private constructor(token: string, head: RunHead, size: number) {
    this.token = token;
    this.head = head;
    this.size = size;
  }

  /** Undefined where a crash cut its first line: nothing was sent. @throws what `damaged` makes of other damage */
  static begin(bytes: Buffer, token: string, damaged: Damaged): RunRecord | undefined {
    const end = bytes.indexOf(10);
    if (end < 0) return undefined;
    const { json, isWhole } = lineIn(bytes.toString('utf8', 0, end));
    if (!isWhole || !isHead(json?.value)) throw damaged('it does not begin as a record of writes');
    return new RunRecord(token, json.value, end + 1);
  }

  /** Reads on; a last line without its end counts for nothing, since its request was never sent. @throws as `begin` */
  read(bytes: Buffer, damaged: Damaged, seen: (line: WriteLine, entry: Entry) => void = () => undefined): void {
    for (let end = bytes.indexOf(10, this.size); end >= 0; end = bytes.indexOf(10, this.size)) {
      const { json, isSummed, isWhole } = lineIn(bytes.toString('utf8', this.size, end));
      const line = json?.value;
      if (!isSummed || !isWhole || !isWriteLine(line))
        throw damaged(`the line at byte ${this.size} is not what was written`);
      this.size = end + 1;
      const entry = this.apply(line);
      if (entry) seen(line, entry);
    }
  }

  /** Changes the entry that a line is about, which leaves once nobody needs to know it any more. */
  apply(line: WriteLine): Entry | undefined {
    if ('begin' in line) {
      const { begin, ...entry } = line;
      this.all.set(begin, entry);
      for (const { folded } of entry.users)
        this.#byName.set(folded, (this.#byName.get(folded) ?? new Set()).add(begin));
      return entry;
    }
    const entry = this.all.get(line.end);
    if (!entry) return undefined;
    if (line.is === 'no answer' || line.is === 'answered') {
      entry.end = line;
      return entry;
    }
    this.all.delete(line.end);
    for (const { folded } of entry.users) {
      const numbers = this.#byName.get(folded);
      numbers?.delete(line.end);
      if (numbers?.size === 0) this.#byName.delete(folded);
    }
    return entry;
  }

  /** Those for a user, by the folded name. */
  of({ exact, folded }: UserHashes): RecordedWrite[] {
    return [...(this.#byName.get(folded) ?? [])].flatMap((number) => {
      const entry = this.all.get(number);
      const isExact = entry?.users.some((user) => user.exact === exact) === true;
      return entry ? [{ ...this.recorded(number, entry), isExact }] : [];
    });
  }

  /** Whether something in it is under way, pending or open. */
  isNeeded(now: Milliseconds): boolean {
    return [...this.all.values()].some((entry) => !isForgotten(entry, now));
  }

  recorded(number: number, { asked, end, endedAt }: Entry): RecordedWrite {
    const { run, command } = this.head;
    return { id: `${this.token}-${number}`, run, command, asked, end, endedAt, isExact: false };
  }

  /** The lines that the file needs once it is written again. */
  lines(): string[] {
    const lines = [headLine(this.head)];
    for (const [begin, { time, users, asked, end }] of this.all) {
      lines.push(summedLine({ begin, time, users, asked }));
      if (end) lines.push(summedLine(end));
    }
    return lines;
  }
}

/** Writes that the server may still process: of a run that has ended, until n times `settle` after the end. */
export function countedIn(records: Iterable<RunRecord>, now: Milliseconds): Map<string, Milliseconds> {
  const counted = new Map<string, Milliseconds>();
  for (const { token, isGone, all } of records)
    for (const [number, { asked, end, endedAt = now }] of all) {
      if (end?.is === 'answered' || end?.n === 0) continue;
      if (isGone && end && now >= endedAt + end.n * asked.settle) continue;
      counted.set(`${token}-${number}`, asked.settle);
    }
  return counted;
}

export function hashesOf(salt: string, { app_code, remote_user }: UserName): UserHashes {
  return {
    exact: hashOf(`${salt} ${app_code} ${remote_user}`),
    folded: hashOf(`${salt} ${app_code} folded ${foldName(remote_user)}`),
  };
}

/** Made of its bytes: a slice of the whole hash would keep all of it in memory. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 10);
}

function isHead(value: unknown): value is RunHead {
  return isObject(value) && value['record'] === version && isOwner(value['owner']);
}

/** What has its sum is what was written. */
function isWriteLine(value: unknown): value is WriteLine {
  return isObject(value) && (typeof value['begin'] === 'number' || typeof value['end'] === 'number');
}
