import { hash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { readdir } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { removing } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { ifThere, refuseNewer, remove, writePrivate } from '../disk/files.ts';
import { isOwner, type Owner } from '../disk/owner.ts';
import { readPrivateBytes } from '../disk/private-file.ts';
import {
  afterEvent,
  isOpenAnswer,
  isRequestEvent,
  noRequests,
  type RequestEvent,
  type RequestHistory,
} from '../request-history.ts';
import { eachRecord, recordLine, type Damaged } from '../disk/records.ts';
import type { Surroundings } from './lock.ts';

/**
 * The record of one application: `BASE.TOKEN.requests` for each process, which appends to its own alone, and
 * `BASE.requests`, in which those of ended processes are merged. What is known of a user is in the file with the last
 * numbered hold of that user, which carries over what was known before. Users are hashes: no names.
 */
export type RecordLine =
  | {
      readonly event: 'held';
      readonly hold: number;
      readonly users: readonly string[];
      readonly known: readonly CarriedOver[];
    }
  | ({ readonly users: readonly string[] } & (RequestEvent | { readonly event: 'freed' }));

/** What was known of a user when it was held, and when that may be forgotten. An open answer never is. */
export type CarriedOver = readonly [user: string, until: Milliseconds, history: RequestHistory];

export interface RecordHead {
  readonly requests: number;
  /** The process that appends; absent in the merged file. */
  readonly owner?: Owner;
  /** For how long it wants its POSTs to be remembered. */
  readonly remember?: Milliseconds;
  /** How many lines follow in the merged file, which is written whole. */
  readonly lines?: number;
}

export const version = 1;
export const suffix = '.requests';

interface UserRecord {
  readonly hold: number;
  readonly path: string;
  holder: Owner | undefined;
  history: RequestHistory;
  until: Milliseconds;
}

export interface RequestRecord {
  readonly users: Map<string, UserRecord>;
  last: number;
  readonly owners: Map<string, Owner>;
  /** Whether files should be merged: then all users are here, and not only those that were asked for. */
  readonly isMergeDue: boolean;
}

/** Files of processes, and their bytes, beyond which they are merged. */
const maxFiles = 8;
const maxBytes = 262_144;

/** Needs no lock: a file is removed only after the merged one has its lines. @throws Failure config where damaged */
export async function readRecord(
  base: string,
  system: System,
  wanted: ReadonlyMap<string, unknown>,
): Promise<RequestRecord> {
  const contents: [path: string, bytes: Buffer][] = [];
  for (const path of await filesOf(base)) {
    const bytes = await readPrivateBytes(path, system);
    if (bytes) contents.push([path, bytes]);
  }
  const own = contents.filter(([path]) => path !== base + suffix);
  const isMergeDue = own.length > maxFiles || own.reduce((sum, [, bytes]) => sum + bytes.length, 0) > maxBytes;
  const record: RequestRecord = { users: new Map(), last: 0, owners: new Map(), isMergeDue };
  for (let file = contents.shift(); file; file = contents.shift())
    readInto(record, file, isMergeDue ? undefined : wanted);
  return record;
}

/** The merged file last: whatever is merged meanwhile is in it. */
async function filesOf(base: string): Promise<string[]> {
  const names = (await ifThere(`read ${dirname(base)}`, readdir(dirname(base)))) ?? [];
  const own = names.filter((name) => name.startsWith(`${basename(base)}.`));
  const old = own.find((name) => name.endsWith('.claims') || name.endsWith('.answers'));
  if (old !== undefined) {
    const path = join(dirname(base), old);
    throw new Failure('config', `${path} is of an earlier version of chatelaine, which kept its requests otherwise`, {
      hint:
        'Make sure that no earlier chatelaine runs, check the licenses with license audit, and once --settle is over since its last run ' +
        `remove what it left: ${removing(path)}`,
    });
  }
  return own
    .filter((name) => name.endsWith(suffix))
    .sort((one, other) => other.length - one.length)
    .map((name) => join(dirname(base), name));
}

function readInto(
  record: RequestRecord,
  [path, bytes]: readonly [path: string, bytes: Buffer],
  wanted: ReadonlyMap<string, unknown> | undefined,
): void {
  const damaged: Damaged = (problem) =>
    new Failure('config', `the record of requests ${path} is damaged: ${problem}`, {
      hint: `Make sure that no chatelaine runs, check the licenses with license audit, and remove it: ${removing(path)}`,
    });
  const reading = eachRecord(bytes, damaged);
  const first = reading.next().value;
  const head = first?.record;
  if (isObject(head)) refuseNewer(path, head['requests'], version);
  if (!isRecordHead(head)) throw damaged('it does not begin as one');
  const { owner, remember = 0 } = head;
  const { users } = record;
  let [lines, size] = [0, first?.size ?? 0];
  for (const { record: line, ...read } of reading) {
    if (!isRecordLine(line)) throw damaged(`line ${read.line} is not one of such a file`);
    [lines, size] = [lines + 1, read.size];
    if (line.event === 'held') {
      const { hold, users: held, known } = line;
      record.last = Math.max(record.last, hold);
      const put = (user: string, holder: Owner | undefined, history: RequestHistory, until: Milliseconds): void => {
        if ((!wanted || wanted.has(user)) && (users.get(user)?.hold ?? -1) < hold)
          users.set(user, { hold, path, holder, history, until });
      };
      for (const [user, until, history] of known) put(user, owner, history, until);
      for (const user of held) put(user, owner, noRequests, 0);
      continue;
    }
    for (const user of line.users) {
      const found = users.get(user);
      if (found?.path !== path) continue;
      if (line.event === 'freed') found.holder = undefined;
      else {
        found.history = afterEvent(found.history, line);
        found.until = Math.max(found.until, line.time + remember);
      }
    }
  }
  if (owner) record.owners.set(path, owner);
  // Both the head and the first hold are there from the beginning, or neither.
  if (owner ? lines === 0 : lines !== head.lines || size < bytes.length) throw damaged('it is cut');
}

/** What a hold carries over; undefined: nothing is known. A user that nobody gave back counts as asked for now. */
export function knownOf(
  user: string,
  { holder, history, until }: UserRecord,
  now: Milliseconds,
  remember: Milliseconds,
): CarriedOver | undefined {
  if (holder) return [user, now + remember, { ...history, posted: now }];
  if (until > now && history !== noRequests) return [user, until, history];
  return history.answer && [user, until, { answer: history.answer }];
}

const portion = 1000;

/** Puts what ended processes left into one file; its caller holds the lock. */
export async function mergeRecord(
  base: string,
  { users, last, owners }: RequestRecord,
  remember: Milliseconds,
  { clock }: Surroundings,
  isEnded: (owner: Owner) => Promise<boolean>,
): Promise<void> {
  const ended: string[] = [];
  for (const [path, owner] of owners) if (await isEnded(owner)) ended.push(path);
  if (ended.length === 0) return;
  const merged = new Set([base + suffix, ...ended]);
  // Of a user whom the file of a living process has too, it must be known that this is forgotten.
  const isAlone = ended.length === owners.size;
  const known = [...users].flatMap(([user, one]): CarriedOver[] => {
    if (!merged.has(one.path)) return [];
    const kept = knownOf(user, one, clock.now(), remember);
    return kept ? [kept] : isAlone ? [] : [[user, 0, noRequests]];
  });
  const lines: RecordLine[] = [];
  for (let at = 0; at < known.length; at += portion)
    lines.push({ event: 'held', hold: last, users: [], known: known.slice(at, at + portion) });
  const head: RecordHead = { requests: version, lines: lines.length };
  await writePrivate(base + suffix, recordLine(head), ...lines.map(recordLine));
  for (const path of ended) await remove(path);
}

function isRecordHead(value: unknown): value is RecordHead {
  if (!isObject(value)) return false;
  const { requests, owner, remember, lines } = value;
  if (requests !== version) return false;
  return owner === undefined ? typeof lines === 'number' : isOwner(owner) && typeof remember === 'number';
}

function isRecordLine(value: unknown): value is RecordLine {
  if (!isObject(value)) return false;
  const { event, hold, users, known } = value;
  if (!Array.isArray(users) || !users.every((user) => typeof user === 'string')) return false;
  if (event === 'held') return typeof hold === 'number' && Array.isArray(known) && known.every(isCarriedOver);
  return event === 'freed' || isRequestEvent(value);
}

function isCarriedOver(value: unknown): value is CarriedOver {
  const parts: readonly unknown[] = Array.isArray(value) ? value : [];
  const [user, until, history] = parts;
  if (!isObject(history)) return false;
  const { posted, answer } = history;
  const isHistory =
    (posted === undefined || typeof posted === 'number') && (answer === undefined || isOpenAnswer(answer));
  return typeof user === 'string' && typeof until === 'number' && isHistory;
}

/** The name of a user in the files. Made of its bytes: a slice of the whole hash would keep all of it in memory. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 10);
}
