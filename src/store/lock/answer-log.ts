import { basename, dirname, join } from 'node:path';
import { appendFileSync, open, readdir, type FileHandle } from '../../core/outside.ts';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { removing } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { isOpenAnswer, type OpenAnswer } from '../claims.ts';
import { isMissing, storageFailure, syncFolder } from '../disk/files.ts';
import { readPrivateBytes } from '../disk/private-file.ts';
import { liveOwner, type Owner } from '../disk/owner.ts';
import { eachRecord, recordLine } from '../disk/records.ts';

/** User, and what the last answered POST was answered. */
export type Answered = readonly [user: string, answer: OpenAnswer];

/** What was answered since the file of claims was last written. */
interface LoggedAnswers {
  /** Read once, one by one: a large roster has as many as rows. @throws Failure config where a log is damaged */
  readonly answers: Iterable<Answered>;
  /** Logs to which nothing is appended any more. */
  readonly ended: readonly string[];
}

/** A killed process loses nothing that is written; what a power cut may lose, the journal of the job has. */
const syncEvery: Milliseconds = 1000;

/**
 * Answers beside a file of claims, written as soon as they are known: the file itself is written whole, which takes too long for each
 * answer of a large roster. A log belongs to one process. Whoever writes the file next puts in what ended logs hold.
 */
export class AnswerLog {
  readonly #path: string;
  readonly #me: Owner;
  readonly #elapsed: () => Milliseconds;
  #count = 0;
  #open: Promise<WrittenLog> | undefined;

  constructor(path: string, me: Owner, elapsed: () => Milliseconds) {
    this.#path = path;
    this.#me = me;
    this.#elapsed = elapsed;
  }

  /** @throws Failure unavailable when the disk is full; config */
  async append(answers: readonly Answered[]): Promise<void> {
    const log = await (this.#open ??= this.#create());
    // The log may end in a cut line.
    if (log.failure) throw log.failure;
    try {
      appendFileSync(log.file.fd, answers.map(recordLine).join(''));
      if (this.#elapsed() - log.synced < syncEvery) return;
      log.synced = this.#elapsed();
      log.syncing = log.file.datasync();
      await log.syncing;
    } catch (cause) {
      throw (log.failure = storageFailure(`cannot write ${log.path}`, cause));
    }
  }

  /** Every log, for the holder of the lock: that of this process ends, and those of processes that hold no users have ended. */
  async take(holders: readonly Owner[], system: System): Promise<LoggedAnswers> {
    await this.#end();
    const logs = await logsOf(this.#path, system);
    const ended: string[] = [];
    for (const { path, token } of logs) {
      const holder = token === this.#me.token ? undefined : holders.find((owner) => owner.token === token);
      if (!holder || !(await liveOwner(holder, this.#me, system))) ended.push(path);
    }
    return { answers: inAll(logs.map(({ answers }) => answers)), ended };
  }

  async #create(): Promise<WrittenLog> {
    this.#count += 1;
    const path = `${this.#path}.${this.#me.token}.${this.#count}${suffix}`;
    try {
      const file = await open(path, 'ax', 0o600);
      await syncFolder(dirname(path));
      return { path, file, synced: -Infinity, syncing: Promise.resolve(), failure: undefined };
    } catch (cause) {
      this.#open = undefined;
      throw storageFailure(`cannot write ${path}`, cause);
    }
  }

  /** What is appended from now on is in another log. */
  async #end(): Promise<void> {
    const ending = this.#open;
    this.#open = undefined;
    const log = await ending?.catch(() => undefined);
    if (!log) return;
    await log.syncing.catch(() => undefined);
    await log.file.datasync().catch(() => undefined);
    await log.file.close();
  }
}

interface WrittenLog {
  readonly path: string;
  readonly file: FileHandle;
  synced: Milliseconds;
  syncing: Promise<void>;
  failure: Failure | undefined;
}

const suffix = '.answers';

/** The answers in all logs beside that file of claims. */
export async function logsOf(
  path: string,
  system: System,
): Promise<(Pick<LoggedAnswers, 'answers'> & { readonly path: string; readonly token: string })[]> {
  const beginning = `${basename(path)}.`;
  const names = await readdir(dirname(path)).catch((cause: unknown) => {
    if (isMissing(cause)) return [];
    throw storageFailure(`cannot read ${dirname(path)}`, cause);
  });
  const logs = [];
  for (const name of names.filter((one) => one.startsWith(beginning) && one.endsWith(suffix)).sort()) {
    const [token = ''] = name.slice(beginning.length).split('.');
    const log = join(dirname(path), name);
    logs.push({ path: log, token, answers: parsed(log, await readPrivateBytes(log, system)) });
  }
  return logs;
}

/** The items of each source, one source after another. */
export function* inAll<T>(sources: readonly Iterable<T>[]): Generator<T> {
  for (const source of sources) yield* source;
}

function* parsed(path: string, bytes: Buffer = Buffer.alloc(0)): Generator<Answered> {
  const damaged = (problem: string): Failure =>
    new Failure('config', `the log of answers ${path} is damaged: ${problem}`, {
      hint: `Make sure that no chatelaine runs, check the licenses with license audit, and remove it: ${removing(path)}`,
    });
  for (const record of eachRecord(bytes, damaged))
    if (isAnswered(record)) yield record;
    else throw damaged('not an answer');
}

export function isAnswered(answered: unknown): answered is Answered {
  const parts: readonly unknown[] = Array.isArray(answered) ? answered : [];
  const [user, answer] = parts;
  return typeof user === 'string' && isOpenAnswer(answer);
}
