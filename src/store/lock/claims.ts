import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import { isObject, parseJson, writeJson } from '../../core/json.ts';
import { shellWord } from '../../core/shell-word.ts';
import {
  rememberedFor,
  type ClaimOptions,
  type FreeUsers,
  type LocalClaims,
  type OpenAnswer,
  type PastPosts,
  type ReleasedUser,
} from '../claims.ts';
import { readPrivate, writePrivate } from '../disk/files.ts';
import { isGone, thisOwner, type Owner } from '../disk/owner.ts';
import { held, holderInWords, waiting } from './claim-holder.ts';
import { lockFolder, withLock, type Surroundings } from './lock.ts';

/** Users are kept as hashes: the file reveals no names. */
interface ClaimsFile {
  readonly claims: readonly Claim[];
  readonly posted: readonly Posted[];
  readonly answers: readonly Answered[];
}

/** The version of that file; one without a version is the first, which kept no answers. */
const fileVersion = 2;

interface Claim {
  readonly owner: Owner;
  readonly users: readonly string[];
}

/** User, time of its last POST, and when that may be forgotten. */
type Posted = readonly [user: string, time: Milliseconds, until: Milliseconds];

/** User, and what the last answered POST was answered. */
type Answered = readonly [user: string, answer: OpenAnswer];

const longestWait: Milliseconds = 300_000;
/** Keeps many processes that wait for one user from busy polling. */
const longestPause: Milliseconds = 400;

/** The claims on the users of one application, named by its server and code. */
export async function openClaims(name: string, world: Surroundings, options: ClaimOptions): Promise<LocalClaims> {
  const { clock, machine } = world;
  const path = join(await lockFolder(machine), `${hashOf(name)}.claims`);
  const me = await thisOwner(machine);
  const remember = rememberedFor(options.settle);
  const edit = <T>(work: (file: ClaimsFile) => Promise<ClaimEdit<T>>, signal?: AbortSignal): Promise<T> =>
    withLock(`${path}.lock`, world, () => editFile(path, world, work), { signal, wait: 60_000 });

  return {
    async take(users) {
      const wanted = new Map(users.map((user) => [hashOf(user), user]));
      const end = clock.elapsed() + longestWait;
      for (let round = 0; ; round += 1) {
        const outcome = await edit((file) => attempt(file, wanted, me, remember, world), options.signal);
        if ('posted' in outcome) return outcome;
        const { holder } = outcome;
        if (round === 0) options.note(waiting(holder, me, path));
        if (clock.elapsed() > end) throw held(holder, me, path);
        await clock.sleep(Math.min(40 * (round + 1), longestPause) * (0.5 + clock.random()), options.signal);
      }
    },

    takeFree(users) {
      const wanted = new Map(users.map((user) => [hashOf(user), user]));
      return edit((file) => attemptFree(file, wanted, me, remember, world, path), options.signal);
    },

    posting: () => Promise.resolve(),

    // Without the signal: an answer that is not recorded could be asked for again.
    async answered(answers) {
      const given = new Map([...answers].map(([user, answer]) => [hashOf(user), answer]));
      await edit((file) => {
        const kept = file.answers.filter(([user]) => !given.has(user));
        return Promise.resolve({ file: { ...file, answers: [...kept, ...given] }, result: undefined });
      });
    },

    // Without the signal: a claim that is not given back after Ctrl-C makes other processes wait.
    async release(users) {
      if (users.length === 0) return;
      await edit((file) => Promise.resolve({ file: without(file, users, me, remember), result: undefined }));
    },
  };
}

interface ClaimEdit<T> {
  /** Undefined leaves the file as it is. */
  readonly file: ClaimsFile | undefined;
  readonly result: T;
}

async function editFile<T>(
  path: string,
  { machine, clock }: Surroundings,
  work: (file: ClaimsFile) => Promise<ClaimEdit<T>>,
): Promise<T> {
  const text = await readPrivate(path, machine);
  const { file, result } = await work(text === undefined ? noClaims : parseFile(path, text));
  if (file) {
    const posted = file.posted.filter(([, , until]) => until > clock.now());
    await writePrivate(
      path,
      `${writeJson({ version: fileVersion, claims: file.claims, posted, answers: file.answers })}\n`,
    );
  }
  return result;
}

const noClaims: ClaimsFile = { claims: [], posted: [], answers: [] };

/** Users of dead processes are remembered as posted now, so that a third process knows of them if this one dies too. */
async function attempt(
  { claims, posted, answers }: ClaimsFile,
  wanted: ReadonlyMap<string, string>,
  me: Owner,
  remember: Milliseconds,
  { machine, clock }: Surroundings,
): Promise<ClaimEdit<{ readonly holder: Owner } | PastPosts>> {
  const [now, elapsed] = [clock.now(), clock.elapsed()];
  const kept: Claim[] = [];
  const abandoned: string[] = [];
  for (const claim of claims) {
    const rest = claim.users.filter((user) => !wanted.has(user));
    if (rest.length < claim.users.length && claim.owner.token !== me.token) {
      if (!(await isGone(claim.owner, me, machine))) return { file: undefined, result: { holder: claim.owner } };
      for (const user of claim.users) if (wanted.has(user)) abandoned.push(user);
    }
    if (rest.length > 0) kept.push({ ...claim, users: rest });
  }
  const remembered = [...posted, ...abandoned.map((user): Posted => [user, now, now + remember])];
  const asked = new Map<string, Milliseconds>();
  for (const [hash, time] of remembered) {
    const user = wanted.get(hash);
    const age = Math.max(0, now - time);
    if (user !== undefined) asked.set(user, Math.max(asked.get(user) ?? -Infinity, elapsed - age));
  }
  const open = new Map<string, OpenAnswer>();
  for (const [hash, answer] of answers) {
    const user = wanted.get(hash);
    if (user !== undefined) open.set(user, answer);
  }
  const mine = { owner: me, users: [...wanted.keys()] };
  return {
    file: { claims: [...kept, mine], posted: remembered, answers },
    result: { posted: asked, answers: open },
  };
}

/** Claims the users that no living process holds. */
async function attemptFree(
  file: ClaimsFile,
  wanted: ReadonlyMap<string, string>,
  me: Owner,
  remember: Milliseconds,
  world: Surroundings,
  path: string,
): Promise<ClaimEdit<FreeUsers>> {
  const others = new Map<string, Owner>();
  for (const { owner, users } of file.claims) {
    const asked = owner.token === me.token ? [] : users.filter((user) => wanted.has(user));
    if (asked.length > 0 && !(await isGone(owner, me, world.machine)))
      for (const user of asked) others.set(user, owner);
  }
  const [first] = others.values();
  const names = [...others.keys()].flatMap((user) => wanted.get(user) ?? []);
  const holder = first && holderInWords(first, me, path);
  const free = new Map([...wanted].filter(([user]) => !others.has(user)));
  if (free.size === 0)
    return { file: undefined, result: { posted: new Map(), answers: new Map(), held: names, holder } };
  const taken = await attempt(file, free, me, remember, world);
  if ('holder' in taken.result) return attemptFree(file, wanted, me, remember, world, path);
  return { file: taken.file, result: { ...taken.result, held: names, holder } };
}

function without(
  { claims, posted, answers }: ClaimsFile,
  users: readonly ReleasedUser[],
  me: Owner,
  remember: Milliseconds,
): ClaimsFile {
  const released = new Map(users.map(({ remote_user, posted: time }) => [hashOf(remote_user), time]));
  const shown = new Set(users.flatMap(({ remote_user, isShown }) => (isShown ? [hashOf(remote_user)] : [])));
  const own = (claim: Claim): Claim =>
    claim.owner.token === me.token ? { ...claim, users: claim.users.filter((user) => !released.has(user)) } : claim;
  const fresh = [...released].flatMap(([user, time]): Posted[] =>
    time === undefined ? [] : [[user, time, time + remember]],
  );
  return {
    claims: claims.map(own).filter((claim) => claim.users.length > 0),
    posted: [...posted.filter(([user]) => released.get(user) === undefined), ...fresh],
    answers: answers.filter(([user]) => !shown.has(user)),
  };
}

function parseFile(path: string, text: string): ClaimsFile {
  try {
    const file = parseJson(text);
    if (isNewer(file)) throw newerFile(path);
    if (isClaimsFile(file)) return { ...noClaims, ...file };
    throw new SyntaxError('not a file of claims');
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure('config', `the file of claims ${path} is damaged`, {
      hint: `Make sure that no chatelaine runs, and remove it: rm ${shellWord(path)}`,
      cause,
    });
  }
}

function isNewer(file: unknown): boolean {
  return isObject(file) && typeof file['version'] === 'number' && file['version'] > fileVersion;
}

function newerFile(path: string): Failure {
  return new Failure('config', `the file of claims ${path} was written by a newer chatelaine`, {
    hint: 'Upgrade chatelaine; nothing was sent.',
  });
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
  if (!isObject(claim) || !isObject(claim['owner'])) return false;
  const { owner, users } = claim;
  return typeof owner['token'] === 'string' && Array.isArray(users) && users.every((user) => typeof user === 'string');
}

function isPosted(posted: unknown): posted is Posted {
  const parts: readonly unknown[] = Array.isArray(posted) ? posted : [];
  const [user, time, until] = parts;
  return typeof user === 'string' && Number.isFinite(time) && Number.isFinite(until);
}

function isAnswered(answered: unknown): answered is Answered {
  const parts: readonly unknown[] = Array.isArray(answered) ? answered : [];
  const [user, answer] = parts;
  if (typeof user !== 'string' || !isObject(answer)) return false;
  const { status, time, key_end } = answer;
  return Number.isFinite(status) && Number.isFinite(time) && (key_end === undefined || typeof key_end === 'string');
}

/** Made of the bytes that it shows: a slice of the whole hash would keep all of it in memory. */
function hashOf(text: string): string {
  return hash('sha256', text, 'buffer').toString('hex', 0, 10);
}
