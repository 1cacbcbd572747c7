import { hash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { randomBytes, readdir } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { removing } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { ifThere, orFailure, refuseNewer, remove, writePrivate } from '../disk/files.ts';
import { readPrivateBytes, writableState } from '../disk/private.ts';
import {
  afterEvent,
  isRequestEvent,
  isRequestHistory,
  earlier,
  noRequests,
  type PostMoment,
  type RecordedHistory,
  type RequestEvent,
  type RequestHistory,
} from '../request-history.ts';
import { appendTo, eachRecord, summedLine, type Damaged } from '../disk/records.ts';
import { lockHolder, type Surroundings } from './lock.ts';

/** A line of the record of one application, `BASE.record`, appended under its lock. Users are hashes: no names. */
export type RecordLine = UserEvent & { readonly users: readonly string[] };

type UserEvent =
  | RequestEvent
  | { readonly event: 'freed' }
  | { readonly event: 'held'; readonly time: Milliseconds; readonly hold: Hold };

/** A process that claims users: `BASE.BY.holder` is there until it has given all of them back, or has died. */
interface Hold {
  readonly by: string;
  /** For how long its POSTs are remembered. */
  readonly remember: Milliseconds;
  /** Whose run it is: one that resumes the job knows its users by it. */
  readonly job?: string | undefined;
}

export interface UserRecord {
  readonly hold?: Hold | undefined;
  /** The one of the last hold. */
  readonly job?: string | undefined;
  readonly history: RecordedHistory;
  /** When the history may be forgotten. An open answer never is. */
  readonly until: Milliseconds;
}

type KnownUser = UserRecord & { readonly user: string };

export interface RequestRecord {
  readonly users: Map<string, UserRecord>;
  readonly isStale: boolean;
  /** When it was seen that the record had lost its end, which may have been about any user. */
  readonly lostEnd: PostMoment | undefined;
}

const version = 1;
const suffix = '.record';

/** How much longer than twice its first line a file may be. */
const maxGrowth = 262_144;

/** Unless its lock is held, a line that is being appended looks cut. @throws Failure config if damaged */
export async function readRecord(base: string, system: System): Promise<RequestRecord> {
  await refuseEarlier(base);
  const path = base + suffix;
  const bytes = await readPrivateBytes(path, system);
  if (!bytes) return { users: new Map(), isStale: true, lostEnd: undefined };
  const damaged: Damaged = (problem) =>
    new Failure('config', `the record of requests ${path} is damaged: ${problem}`, {
      hint: `Make sure that no chatelaine runs, check the licenses with license audit, and remove it: ${removing(path)}`,
    });
  const reading = eachRecord(bytes, damaged);
  const first = reading.next().value;
  const { record, users: known, lost } = isObject(first?.record) ? first.record : {};
  refuseNewer(path, record, version);
  if (!first || record !== version || !Array.isArray(known) || !known.every(isKnownUser))
    throw damaged('it does not begin as one');
  const users = new Map(known.map(({ user, ...one }) => [user, one]));
  let { size } = first;
  for (const { record: line, ...read } of reading) {
    if (!isRecordLine(line)) throw damaged(`line ${read.line} is not one of such a file`);
    for (const user of line.users) users.set(user, afterLine(users.get(user), line));
    size = read.size;
  }
  const isCut = size < bytes.length;
  const lostEnd = isCut ? 'end not recorded' : typeof lost === 'number' ? lost : undefined;
  return { users, isStale: isCut || size > 2 * first.size + maxGrowth, lostEnd };
}

async function refuseEarlier(base: string): Promise<void> {
  const folder = dirname(base);
  const names = (await ifThere(`read ${folder}`, readdir(folder), writableState)) ?? [];
  const earlier = names.find(
    (name) => name.startsWith(`${basename(base)}.`) && /\.(claims|answers|requests)$/.test(name),
  );
  if (earlier === undefined) return;
  const path = join(folder, earlier);
  throw new Failure('config', `${path} is of an earlier version of chatelaine, which kept its requests otherwise`, {
    hint:
      'Make sure that no earlier chatelaine runs, check the licenses with license audit, and once --settle is over since its last run ' +
      `remove what it left: ${removing(path)}`,
  });
}

/** What is known of a user after a line. */
export function afterLine(known: UserRecord | undefined, line: UserEvent): UserRecord {
  const { hold, job, history = noRequests, until = 0 } = known ?? {};
  if (line.event === 'freed') return { history, until, job };
  if (line.event !== 'held') {
    const later = Math.max(until, line.time + (hold?.remember ?? 0));
    return { hold, history: afterEvent(history, line), until: later, job };
  }
  const { time, hold: next } = line;
  const held = { hold: next, job: next.job };
  // Who never gave the user back may have sent a POST until now.
  if (hold && hold.by !== next.by)
    return { ...held, history: { ...history, posted: time }, until: time + next.remember };
  return { ...held, history: until > time ? history : openAnswerOf(history), until };
}

function openAnswerOf({ answer }: RecordedHistory): RequestHistory {
  return answer ? { answer } : noRequests;
}

/** Appends lines, or rewrites the record with them, under its lock; on disk when this resolves. @throws Failure */
export async function addLines(base: string, lines: readonly RecordLine[], host: Surroundings, read?: RequestRecord) {
  const path = base + suffix;
  const text = lines.flatMap((line) => (line.users.length > 0 ? [summedLine(line)] : [])).join('');
  if (read?.isStale || !(await orFailure(`write ${path}`, appendTo(path, text)))) {
    const { users, lostEnd } = read ?? (await readRecord(base, host.system));
    const now = host.clock.now();
    const live = await liveHolders(base, [...users.values(), ...lines], host.system);
    const known = [...users].flatMap(([user, { hold, history, until, job }]): KnownUser[] => {
      if (hold && !live.has(hold.by))
        return [{ user, job, history: { ...history, posted: now }, until: now + hold.remember }];
      const kept = hold || until > now ? history : openAnswerOf(history);
      return hold || kept !== noRequests ? [{ user, hold, job, history: kept, until }] : [];
    });
    const lost = lostEnd === undefined ? undefined : earlier(lostEnd, now);
    await writePrivate(path, summedLine({ record: version, users: known, lost }), text);
  }
}

export function holderPath(base: string, by: string): string {
  return `${base}.${by}.holder`;
}

/** The name of a run among those that send POSTs to that server; `width`: how many it has under way at most. */
export function runName(origin: string, width: number): string {
  return `${hashOf(origin)}_${width}_${randomBytes(8).toString('hex')}`;
}

/** How many POSTs the run of that name has under way at most, if it is one that sends them to that server. */
export function widthIn(by: string, origin: string): number {
  const [of, width = '0'] = by.split('_');
  return of === hashOf(origin) ? Number(width) : 0;
}

/** Of those who hold users, who is not certainly gone. What others of a name of `runName` left, their queue counts. */
async function liveHolders(base: string, all: readonly (UserRecord | RecordLine)[], system: System) {
  const [folder, live] = [dirname(base), new Set<string>()];
  const holders = new Set(all.flatMap((one) => ('hold' in one && one.hold ? [one.hold.by] : [])));
  for (const name of await orFailure(`read ${folder}`, readdir(folder))) {
    const [of, by = '', end] = name.split('.');
    if (of !== basename(base) || end !== 'holder') continue;
    const path = holderPath(base, by);
    if (holders.has(by) && (await lockHolder(path, system))) live.add(by);
    else if (!by.includes('_')) await remove(path);
  }
  return live;
}

export function isRecordLine(value: unknown): value is RecordLine {
  if (!isObject(value)) return false;
  const { event, time, hold, users } = value;
  if (!Array.isArray(users) || !users.every((user) => typeof user === 'string')) return false;
  return event === 'held' ? isHold(hold) && Number.isFinite(time) : event === 'freed' || isRequestEvent(value);
}

function isHold(value: unknown): value is Hold {
  if (!isObject(value)) return false;
  const { by, remember, job } = value;
  const isJob = job === undefined || typeof job === 'string';
  return typeof by === 'string' && /^\w{1,64}$/.test(by) && Number.isFinite(remember) && isJob;
}

function isKnownUser(value: unknown): value is KnownUser {
  if (!isObject(value)) return false;
  const { user, hold, history, until } = value;
  if (typeof user !== 'string' || !Number.isFinite(until)) return false;
  return (hold === undefined || isHold(hold)) && isRequestHistory(history);
}

/** The name of a user in the files. Made of its bytes: a slice of the whole hash would keep all of it in memory. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 10);
}
