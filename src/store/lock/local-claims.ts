import { join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Clock, System } from '../../core/system.ts';
import {
  rememberedFor,
  type ClaimOptions,
  type FreeUsers,
  type LocalClaims,
  type OpenAnswer,
  type PastPosts,
  type ReleasedUser,
} from '../claims.ts';
import { inWords, liveOwner, remedy, thisOwner, type LiveOwner, type Owner } from '../disk/owner.ts';
import {
  editClaims,
  hashOf,
  readAnswers,
  type Claim,
  type ClaimEdit,
  type ClaimsFile,
  type Posted,
} from './claims-file.ts';
import { AnswerLog, inAll } from './answer-log.ts';
import { refuseOpen } from './unwritable-claims.ts';
import { lockFolder, lockFolders, withLock, type Surroundings } from './lock.ts';

const longestWait: Milliseconds = 300_000;
/** Keeps many processes that wait for one user from busy polling. */
const longestPause: Milliseconds = 400;

/** The claims on the users of one application, named by its server and code. */
export async function openClaims(name: string, host: Surroundings, options: ClaimOptions): Promise<LocalClaims> {
  const { clock, system } = host;
  const folder = await lockFolder(system);
  const path = join(folder, fileOf(name));
  const refuse = (wanted: ReadonlyMap<string, string>): Promise<void> =>
    refuseOpen(folder, fileOf(name), wanted, options, host);
  const me = await thisOwner(system);
  const remember = rememberedFor(options.settle);
  const log = new AnswerLog(path, me, clock.elapsed);
  const edit = <T>(work: (file: ClaimsFile) => Promise<ClaimEdit<T>>, signal?: AbortSignal): Promise<T> =>
    withLock(`${path}.lock`, host, () => editClaims(path, log, host, work), { signal, wait: 60_000 });

  return {
    async take(users) {
      const wanted = new Map(users.map((user) => [hashOf(user), user]));
      await refuse(wanted);
      const end = clock.elapsed() + longestWait;
      for (let round = 0; ; round += 1) {
        const outcome = await edit((file) => attempt(file, wanted, me, remember, host), options.signal);
        if ('posted' in outcome) return outcome;
        const { holder } = outcome;
        if (round === 0)
          options.note(`waiting for ${inWords(holder, path)}, which is creating licenses of the same users`);
        if (clock.elapsed() > end)
          throw new Failure('unavailable', `${holder.name} is creating licenses of the same users`, {
            hint: remedy(holder, path),
          });
        await clock.sleep(Math.min(40 * (round + 1), longestPause) * (0.5 + clock.random()), options.signal);
      }
    },

    async takeFree(users) {
      const wanted = new Map(users.map((user) => [hashOf(user), user]));
      await refuse(wanted);
      return edit((file) => attemptFree(file, wanted, me, remember, host, path), options.signal);
    },

    busy(users) {
      const wanted = new Map(users.map((user) => [hashOf(user), user]));
      return edit(async (file) => {
        const others = await othersIn(file, wanted, me, system);
        for (const [user] of file.answers) others.delete(user);
        const [first] = others.values();
        return { file: undefined, result: { count: others.size, holder: first && inWords(first, path) } };
      }, options.signal);
    },

    posting: () => Promise.resolve(),

    answered: (answers) => log.append([...answers].map(([user, answer]) => [hashOf(user), answer])),

    // Without the signal: a claim that is not given back after Ctrl-C makes other processes wait.
    async release(users) {
      if (users.length === 0) return;
      await edit((file) => Promise.resolve({ file: without(file, users, me, remember), result: undefined }));
    },
  };
}

function fileOf(name: string): string {
  return `${hashOf(name)}.claims`;
}

/** The open answers of users of one application; claims nothing, and waits for nobody. @throws Failure config */
export async function openAnswersOf(
  name: string,
  users: readonly string[],
  { system }: Pick<Surroundings, 'system'>,
): Promise<Map<string, OpenAnswer>> {
  const wanted = new Map(users.map((user) => [hashOf(user), user]));
  const found = [];
  for (const folder of lockFolders(system)) found.push(await readAnswers(join(folder, fileOf(name)), system));
  return openOf(inAll(found), wanted);
}

/** Users of dead processes are remembered as posted now, so that a third process knows of them if this one dies too. */
async function attempt(
  { claims, posted, answers }: ClaimsFile,
  wanted: ReadonlyMap<string, string>,
  me: Owner,
  remember: Milliseconds,
  { system, clock }: Surroundings,
): Promise<ClaimEdit<{ readonly holder: LiveOwner } | PastPosts>> {
  const now = clock.now();
  const kept: Claim[] = [];
  const abandoned: string[] = [];
  for (const claim of claims) {
    const rest = claim.users.filter((user) => !wanted.has(user));
    if (rest.length < claim.users.length && claim.owner.token !== me.token) {
      const holder = await liveOwner(claim.owner, me, system);
      if (holder) return { file: undefined, result: { holder } };
      for (const user of claim.users) if (wanted.has(user)) abandoned.push(user);
    }
    if (rest.length > 0) kept.push({ ...claim, users: rest });
  }
  const remembered = [...posted, ...abandoned.map((user): Posted => [user, now, now + remember])];
  const mine = { owner: me, users: [...wanted.keys()] };
  const open = new Map(answers);
  return {
    file: { claims: [...kept, mine], posted: remembered, answers: open },
    result: {
      posted: agesOn(remembered, wanted, clock),
      unanswered: unansweredOf(posted, wanted),
      answers: openOf(open, wanted),
    },
  };
}

/** When the wanted users were asked for, on the clock `elapsed`; a time in the future counts as now. */
function agesOn(
  posted: readonly Posted[],
  wanted: ReadonlyMap<string, string>,
  clock: Pick<Clock, 'now' | 'elapsed'>,
): Map<string, Milliseconds> {
  const asked = new Map<string, Milliseconds>();
  for (const [hash, time] of posted) {
    const user = wanted.get(hash);
    const age = Math.max(0, clock.now() - time);
    if (user !== undefined) asked.set(user, Math.max(asked.get(user) ?? -Infinity, clock.elapsed() - age));
  }
  return asked;
}

function unansweredOf(posted: readonly Posted[], wanted: ReadonlyMap<string, string>): Map<string, number> {
  return new Map(
    posted.flatMap(([hash, , , count = 0]) => {
      const user = wanted.get(hash);
      return user === undefined || count === 0 ? [] : [[user, count] as const];
    }),
  );
}

function openOf(answers: ClaimsFile['answers'], wanted: ReadonlyMap<string, string>): Map<string, OpenAnswer> {
  const open = new Map<string, OpenAnswer>();
  for (const [hash, answer] of answers) {
    const user = wanted.get(hash);
    if (user !== undefined) open.set(user, answer);
  }
  return open;
}

/** Which of the users others hold. */
async function othersIn(
  { claims }: ClaimsFile,
  wanted: ReadonlyMap<string, string>,
  me: Owner,
  system: System,
): Promise<Map<string, LiveOwner>> {
  const others = new Map<string, LiveOwner>();
  for (const { owner, users } of claims) {
    const asked = owner.token === me.token ? [] : users.filter((user) => wanted.has(user));
    const live = asked.length > 0 && (await liveOwner(owner, me, system));
    if (live) for (const user of asked) others.set(user, live);
  }
  return others;
}

/** Claims the users that no living process holds. */
async function attemptFree(
  file: ClaimsFile,
  wanted: ReadonlyMap<string, string>,
  me: Owner,
  remember: Milliseconds,
  host: Surroundings,
  path: string,
): Promise<ClaimEdit<FreeUsers>> {
  const others = await othersIn(file, wanted, me, host.system);
  const [first] = others.values();
  const names = [...others.keys()].flatMap((user) => wanted.get(user) ?? []);
  const holder = first && inWords(first, path);
  const free = new Map([...wanted].filter(([user]) => !others.has(user)));
  if (free.size === 0)
    return { file: undefined, result: { posted: new Map(), answers: new Map(), held: names, holder } };
  const taken = await attempt(file, free, me, remember, host);
  if ('holder' in taken.result) return attemptFree(file, wanted, me, remember, host, path);
  return { file: taken.file, result: { ...taken.result, held: names, holder } };
}

function without(
  { claims, posted, answers }: ClaimsFile,
  users: readonly ReleasedUser[],
  me: Owner,
  remember: Milliseconds,
): ClaimsFile {
  const released = new Map(users.map((user) => [hashOf(user.remote_user), user]));
  const own = (claim: Claim): Claim =>
    claim.owner.token === me.token ? { ...claim, users: claim.users.filter((user) => !released.has(user)) } : claim;
  const fresh = [...released].flatMap(([user, { posted: time, unanswered = 0 }]): Posted[] => {
    if (time === undefined) return [];
    return [unanswered > 0 ? [user, time, time + remember, unanswered] : [user, time, time + remember]];
  });
  const open = new Map<string, OpenAnswer>();
  for (const [user, answer] of answers) if (!released.get(user)?.isShown) open.set(user, answer);
  return {
    claims: claims.map(own).filter((claim) => claim.users.length > 0),
    posted: [...posted.filter(([user]) => released.get(user)?.posted === undefined), ...fresh],
    answers: open,
  };
}
