import { hash } from 'node:crypto';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject, parseJson, writeJson } from '../../core/json.ts';
import { removing } from '../../core/shell-word.ts';
import type { System } from '../../core/system.ts';
import { refuseNewer, remove, writePrivate } from '../disk/files.ts';
import { readPrivate } from '../disk/private-file.ts';
import { isOwner, type Owner } from '../disk/owner.ts';
import { inAll, isAnswered, logsOf, type AnswerLog, type Answered } from './answer-log.ts';
import type { Surroundings } from './lock.ts';

/** Users are kept as hashes: the file reveals no names. */
export interface ClaimsFile {
  readonly claims: readonly Claim[];
  readonly posted: readonly Posted[];
  /** The last one of a user counts. Read once: most of a large roster may be in the logs, one by one. */
  readonly answers: Iterable<Answered>;
}

/** The version of that file. */
const fileVersion = 1;

export interface Claim {
  readonly owner: Owner;
  readonly users: readonly string[];
}

/** User, time of its last POST, when that may be forgotten, and how many POSTs had no answer; none where that is left out. */
export type Posted = readonly [user: string, time: Milliseconds, until: Milliseconds, unanswered?: number];

export interface ClaimEdit<T> {
  /** Undefined leaves the file as it is. */
  readonly file: ClaimsFile | undefined;
  readonly result: T;
}

/**
 * Reads the file with the logs beside it, and replaces it by what the work makes of it; its caller holds the lock.
 * @throws Failure config where it is damaged, or newer
 */
export async function editClaims<T>(
  path: string,
  log: AnswerLog,
  { system, clock }: Surroundings,
  work: (file: ClaimsFile) => Promise<ClaimEdit<T>>,
): Promise<T> {
  const known = await readClaims(path, system);
  const logged = await log.take(
    known.claims.map(({ owner }) => owner),
    system,
  );
  const { file, result } = await work({ ...known, answers: inAll([known.answers, logged.answers]) });
  if (file) {
    const posted = file.posted.filter(([, , until]) => until > clock.now());
    await writePrivate(
      path,
      `${writeJson({ version: fileVersion, claims: file.claims, posted, answers: [...new Map(file.answers)] })}\n`,
    );
    // Whoever ends before this only leaves an answer open that a list has shown.
    for (const ended of logged.ended) await remove(ended);
  }
  return result;
}

/** The open answers, for a reader without the lock: a log is removed only after its answers are in the file, so logs are read first. */
export async function readAnswers(path: string, system: System): Promise<Iterable<Answered>> {
  const logs = await logsOf(path, system);
  return inAll([(await readClaims(path, system)).answers, ...logs.map(({ answers }) => answers)]);
}

export async function readClaims(path: string, system: System): Promise<ClaimsFile> {
  const text = await readPrivate(path, system);
  return text === undefined ? noClaims : parseFile(path, text);
}

const noClaims: ClaimsFile = { claims: [], posted: [], answers: [] };

function parseFile(path: string, text: string): ClaimsFile {
  try {
    const file = parseJson(text);
    if (isObject(file)) refuseNewer(path, file['version'], fileVersion);
    if (isClaimsFile(file)) return { ...noClaims, ...file };
    throw new SyntaxError('not a file of claims');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('config', `the file of claims ${path} is damaged`, {
      hint: `Make sure that no chatelaine runs, and remove it: ${removing(path)}`,
      cause,
    });
  }
}

function isClaimsFile(file: unknown): file is Pick<ClaimsFile, 'claims'> & Partial<ClaimsFile> {
  if (!isObject(file)) return false;
  const { claims, posted = [], answers = [] } = file;
  return [
    Array.isArray(claims) && claims.every(isClaim),
    Array.isArray(posted) && posted.every(isPosted),
    Array.isArray(answers) && answers.every(isAnswered),
  ].every(Boolean);
}

function isClaim(claim: unknown): claim is Claim {
  if (!isObject(claim)) return false;
  const { owner, users } = claim;
  return isOwner(owner) && Array.isArray(users) && users.every((user) => typeof user === 'string');
}

function isPosted(posted: unknown): posted is Posted {
  const parts: readonly unknown[] = Array.isArray(posted) ? posted : [];
  const [user, time, until, unanswered = 0] = parts;
  return typeof user === 'string' && [time, until, unanswered].every(Number.isFinite);
}

/** The name of a user in the file. Made of the bytes that it shows: a slice of the whole hash would keep all of it in memory. */
export function hashOf(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 10);
}
