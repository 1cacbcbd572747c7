import { join } from 'node:path';
import { Failure } from '../../core/failure.ts';
import type { System } from '../../core/system.ts';
import { rememberedFor, withTake, type ClaimOptions, type Claims, type TakenUsers } from '../claims.ts';
import { inWords, liveOwner, thisOwner, type LiveOwner, type Owner } from '../disk/owner.ts';
import { onElapsed, type OpenAnswer, type RequestHistory } from '../request-history.ts';
import { lockFolder, lockFolders, withLock, type Surroundings } from './lock.ts';
import { ownFile } from './own-requests.ts';
import { hashOf, knownOf, mergeRecord, readRecord, type CarriedOver, type RequestRecord } from './request-record.ts';

/** The claims on the users of one application, named by its server and code (docs/exactly-once.md, The record). */
export async function openClaims(name: string, host: Surroundings, options: ClaimOptions): Promise<Claims> {
  const { clock, system } = host;
  const folder = await lockFolder(system);
  const base = join(folder, hashOf(name));
  const me = await thisOwner(system);
  const remember = rememberedFor(options.settle);
  const own = ownFile(base, me, remember, clock.elapsed);
  system.atExit(own.forget);
  /** By their hashes, and whether something is known of them. */
  const held = new Map<string, 'known' | 'new'>();

  const takeUnderLock = async (users: ReadonlyMap<string, string>): Promise<TakenUsers> => {
    const now = clock.elapsed();
    const record = await readRecord(base, system, users);
    const others = await othersIn(record, users, me, host);
    if (record.isMergeDue)
      await mergeRecord(base, record, remember, host, async (owner) => !(await liveOwner(owner, me, system)));
    const free = [...users].filter(([user]) => !others.has(user));
    const carried = free.flatMap(([user]): CarriedOver[] => {
      const found = record.users.get(user);
      const holder = held.has(user) ? undefined : found?.holder;
      const one = found && knownOf(user, { ...found, holder }, clock.now(), remember);
      return one ? [one] : [];
    });
    const histories = new Map<string, RequestHistory>();
    const hashes = free.map(([user]) => user);
    // Held from here on: a release meanwhile must not remove the file.
    for (const user of hashes) held.set(user, held.get(user) ?? 'new');
    for (const [user, , history] of carried) {
      held.set(user, 'known');
      histories.set(users.get(user) ?? '', onElapsed(history, clock));
    }
    if (hashes.length > 0) await own.hold(record.last + 1, hashes, carried);
    const [by] = others.values();
    const theirs = [...users].flatMap(([user, text]) => (others.has(user) ? [text] : []));
    return { histories, held: theirs, holder: by && inWords(by, by.path), now };
  };

  const claims: Omit<Claims, 'take'> = {
    isShared: false,
    lost: () => undefined,

    async takeFree(names) {
      await refuseOpen(folder, name, names, options, host);
      const users = new Map(names.map((user) => [hashOf(user), user]));
      const patience = { signal: options.signal, wait: 60_000 };
      return withLock(`${base}.lock`, host, () => takeUnderLock(users), patience);
    },

    async busy(users) {
      const now = clock.elapsed();
      const wanted = new Map(users.map((user) => [hashOf(user), user]));
      const record = await readRecord(base, system, wanted);
      const others = await othersIn(record, wanted, me, host);
      for (const user of others.keys()) if (record.users.get(user)?.history.answer) others.delete(user);
      const [first] = others.values();
      return { count: others.size, holder: first && inWords(first, first.path), now };
    },

    posting: () => Promise.resolve(),

    ended(user, end) {
      const hash = hashOf(user);
      if (held.has(hash)) held.set(hash, 'known');
      return own.append([{ ...end, users: [hash] }]);
    },

    async release(users, shown) {
      const freed = users
        .map((name) => ({ user: hashOf(name), isConfirmed: shown?.has(name) }))
        .filter(({ user }) => held.has(user));
      if (freed.length === 0) return;
      const confirmed = freed.flatMap(({ user, isConfirmed }) =>
        isConfirmed && held.get(user) === 'known' ? [user] : [],
      );
      await own.append([
        ...(confirmed.length > 0 ? [{ event: 'confirmed', time: clock.now(), users: confirmed } as const] : []),
        { event: 'freed', users: freed.map(({ user }) => user) },
      ]);
      for (const { user } of freed) held.delete(user);
      if (held.size === 0) await own.close();
    },
  };
  return withTake(claims, { clock, ...options });
}

/** A process that may send POSTs for users, and the file that says so. */
type SeenHolder = LiveOwner & { readonly path: string };

async function othersIn(
  { users }: RequestRecord,
  wanted: ReadonlyMap<string, string>,
  me: Owner,
  { system }: Surroundings,
): Promise<Map<string, SeenHolder>> {
  const others = new Map<string, SeenHolder>();
  const seen = new Map<string, SeenHolder | undefined>();
  for (const user of wanted.keys()) {
    const { holder, path = '' } = users.get(user) ?? {};
    if (!holder || holder.token === me.token) continue;
    if (!seen.has(path)) {
      const live = await liveOwner(holder, me, system);
      seen.set(path, live && { ...live, path });
    }
    const other = seen.get(path);
    if (other) others.set(user, other);
  }
  return others;
}

/** What the record in that folder knows of users; claims nothing, and waits for nobody. @throws Failure config */
async function* knownIn(folder: string, name: string, users: readonly string[], system: System) {
  const wanted = new Map(users.map((user) => [hashOf(user), user]));
  const record = await readRecord(join(folder, hashOf(name)), system, wanted);
  for (const [hash, user] of wanted) {
    const found = record.users.get(hash);
    if (found) yield { user, ...found };
  }
}

/** The open answers of users of one application. @throws Failure config where a file is damaged */
export async function openAnswersOf(
  name: string,
  users: readonly string[],
  { system }: Pick<Surroundings, 'system'>,
): Promise<Map<string, OpenAnswer>> {
  const open = new Map<string, OpenAnswer>();
  for (const folder of lockFolders(system))
    for await (const { user, history } of knownIn(folder, name, users, system))
      if (history.answer) open.set(user, history.answer);
  return open;
}

/** Refuses users with an open request in the usual folder, where nothing can be recorded now. @throws Failure config */
async function refuseOpen(
  folder: string,
  name: string,
  users: readonly string[],
  { settle }: ClaimOptions,
  { system, clock }: Surroundings,
): Promise<void> {
  const [usual] = lockFolders(system);
  if (folder === usual) return;
  for await (const { user, holder, history } of knownIn(usual, name, users, system)) {
    const { posted = -Infinity, unanswered = 0, answer } = history;
    if (!holder && !answer && unanswered === 0 && posted + settle <= clock.now()) continue;
    const what = `${usual} cannot be written, and holds an open request for '${user}': nothing was sent`;
    throw new Failure('config', what, {
      hint: 'Make the folder writable again, then run the same command; other users can be given licenses meanwhile.',
    });
  }
}
