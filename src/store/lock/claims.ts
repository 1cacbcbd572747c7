import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Milliseconds } from '../../core/duration.ts';
import { Failure } from '../../core/failure.ts';
import type { Fingerprints } from '../../core/fingerprints.ts';
import { parseJson, writeJson } from '../../core/json.ts';
import { readPrivateBytes, writePrivate } from '../disk/files.ts';
import { lockFolder, withLock, type Surroundings } from './lock.ts';
import { isGone, thisOwner, type Owner } from '../disk/owner.ts';

/**
 * Which process of this machine is creating licenses of which users of one application (contract, section 1: `ensure` is safe in
 * parallel). A claim comes before the look at the server's list, so that nobody plans on a list that another is changing.
 */
export interface Claims {
  /**
   * Claims the users, waiting while a living process holds one of them. Resolves with the jobs of processes that died holding one of
   * them: they may have asked for a license that the server has not committed yet.
   * @throws Failure unavailable when the wait is over, config when no folder can be written
   */
  take(users: Fingerprints): Promise<ReadonlySet<string>>;
  /** Gives users back whose license is known. What is not given back counts as abandoned once this process has ended. */
  free(users: Fingerprints): Promise<void>;
}

interface Claim {
  readonly owner: Owner;
  readonly job: string;
  /** Fingerprints: a claim does not tell who the users are. */
  readonly users: Float64Array;
}

/** The file begins with a line of these; the users of all of them follow as numbers. */
interface StoredClaim extends Omit<Claim, 'users'> {
  /** How many of the numbers are its users. */
  readonly users: number;
}

export interface ClaimOptions {
  /** What the claims are for: a job knows what it left open itself. */
  readonly job: string;
  readonly signal: AbortSignal;
  /** Told once when there is something to wait for. */
  readonly note: (text: string) => void;
}

const longestWait: Milliseconds = 300_000;
/** Many that wait for one user would else keep the machine busy with looking. */
const longestPause: Milliseconds = 400;

/** The claims on the users of one application, named by its origin and code. */
export async function openClaims(
  name: string,
  world: Surroundings,
  { job, signal, note }: ClaimOptions,
): Promise<Claims> {
  const file = join(await lockFolder(world.machine), `${hash(name)}.claims`);
  const me = await thisOwner(world.machine);
  const change = <T>(edit: (claims: readonly Claim[]) => Promise<Change<T>>, given?: AbortSignal): Promise<T> =>
    withLock(
      `${file}.lock`,
      world,
      async () => {
        const { claims, result } = await edit(await read(file, world));
        if (claims) await write(file, claims);
        return result;
      },
      { signal: given, wait: 60_000 },
    );

  return {
    async take(users) {
      const end = world.clock.now() + longestWait;
      for (let round = 0; ; round += 1) {
        const outcome = await change((claims) => attempt(claims, users, { owner: me, job }, world), signal);
        if ('abandoned' in outcome) return outcome.abandoned;
        if (round === 0) note(`waiting for process ${outcome.holder.pid}, which is at work on the same licenses`);
        if (world.clock.now() > end) throw held(outcome.holder);
        await world.clock.sleep(Math.min(40 * (round + 1), longestPause) * (0.5 + world.clock.random()), signal);
      }
    },

    // Also after Ctrl-C and the deadline: what is not given back makes others wait.
    async free(users) {
      if (users.values.length === 0) return;
      await change((claims) => Promise.resolve({ claims: without(claims, users, me), result: undefined }));
    },
  };
}

interface Change<T> {
  /** Undefined leaves the file as it is. */
  readonly claims: readonly Claim[] | undefined;
  readonly result: T;
}

type Outcome = { readonly abandoned: ReadonlySet<string> } | { readonly holder: Owner };

async function attempt(
  claims: readonly Claim[],
  wanted: Fingerprints,
  mine: Omit<Claim, 'users'>,
  { machine }: Surroundings,
): Promise<Change<Outcome>> {
  const abandoned = new Set<string>();
  const kept: Claim[] = [];
  for (const claim of claims) {
    if (claim.users.some((user) => wanted.has(user)) && claim.owner.token !== mine.owner.token) {
      if (!(await isGone(claim.owner, mine.owner, machine)))
        return { claims: undefined, result: { holder: claim.owner } };
      abandoned.add(claim.job);
    }
    const rest = claim.users.filter((user) => !wanted.has(user));
    if (rest.length > 0) kept.push({ ...claim, users: rest });
  }
  return { claims: [...kept, { ...mine, users: wanted.values }], result: { abandoned } };
}

function without(claims: readonly Claim[], users: Fingerprints, me: Owner): readonly Claim[] {
  return claims
    .map((claim) =>
      claim.owner.token === me.token ? { ...claim, users: claim.users.filter((user) => !users.has(user)) } : claim,
    )
    .filter((claim) => claim.users.length > 0);
}

async function write(file: string, claims: readonly Claim[]): Promise<void> {
  const stored: StoredClaim[] = claims.map(({ owner, job, users }) => ({ owner, job, users: users.length }));
  const numbers = claims.map(({ users }) => Buffer.from(users.buffer, users.byteOffset, users.byteLength));
  await writePrivate(file, `${writeJson({ claims: stored })}\n`, ...numbers);
}

async function read(file: string, { machine }: Surroundings): Promise<readonly Claim[]> {
  const bytes = await readPrivateBytes(file, machine);
  if (bytes === undefined) return [];
  try {
    return claimsIn(bytes);
  } catch (cause) {
    throw new Failure('config', `the file of claims ${file} is damaged`, {
      hint: `Make sure that no chatelaine runs, and remove it: rm '${file}'`,
      cause,
    });
  }
}

function claimsIn(bytes: Buffer): Claim[] {
  const end = bytes.indexOf('\n');
  const { claims } = parseJson(bytes.toString('utf8', 0, end)) as { claims: readonly StoredClaim[] };
  const numbers = new Float64Array(Uint8Array.from(bytes.subarray(end + 1)).buffer);
  let at = 0;
  const found = claims.map(({ owner, job, users }) => ({ owner, job, users: numbers.subarray(at, (at += users)) }));
  if (at !== numbers.length) throw new RangeError(`${at} users, and ${numbers.length} numbers`);
  return found;
}

function held({ pid }: Owner): Failure {
  return new Failure('unavailable', `process ${pid} is at work on the same licenses`, {
    hint: 'Run the command again when it has ended.',
  });
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 20);
}
