import { keyOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { changeLicense, whileLocked } from '../../jobs/license/change-license.ts';
import { changesOf } from '../../jobs/license/history.ts';
import { Lookups } from '../../jobs/license/lookups.ts';
import { each } from '../../jobs/work/each.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import type { UserName } from '../../store/record/writes.ts';
import type { PlannedChange } from '../../output/plan.ts';
import type { Accounts, Disk, Invocation, Ledgers, Services, Terminal, Time } from '../context.ts';
import { askAbout } from './ask-about.ts';
import { changedFrom, changeNote, isEmpty, plannedFrom, dryChange } from './change-in-plan.ts';
import { codeAdvice, likeIt, wholeList, type ChangedLicense } from './show.ts';
import { openWriting, spansOf } from './options.ts';

export interface ChangingParts extends Invocation, Services, Accounts, Terminal, Time, Disk, Ledgers {}

/** Licenses by their keys, as they were when they were chosen; undefined where the key alone is known. */
type ChosenLicenses = ReadonlyMap<string, License | undefined>;

interface LicenseChanges {
  readonly chosen: ChosenLicenses;
  readonly fieldsOf: (found: License, code: string) => EditedFields;
  readonly status: string;
  readonly ask?: string;
  /** Called with the locks of a license's names. @throws Failure where it must not be changed */
  readonly check?: (users: readonly UserName[]) => Promise<void>;
}

/** The parts of a run that change licenses on one server. */
export type Changing = Awaited<ReturnType<typeof openChanging>>;

export async function openChanging(
  account: LicensingCredential,
  trust_list: boolean | undefined,
  context: ChangingParts,
  licensing: (app_code: number) => LicensingApi = () => context.licensing(),
) {
  const rules = spansOf(context);
  const app_code = account.app_code ?? 0;
  const lookups = new Lookups({ licensing, elapsed: context.clock.elapsed, trustList: trust_list === true });
  const { placesOf, history, run } = await openWriting(
    [{ app_code, account }],
    { rules, lookups, concurrency: 1 },
    context,
  );
  const places = placesOf(app_code);
  const { note, signal, clock } = context;
  return { ...clock, ...rules, note, signal, lookups, places, store: places.store, history, run };
}

/** Changes one license after another; on a terminal it asks first. At the end, the command that undoes the run. */
export async function* changeEach(changes: LicenseChanges, changing: Changing, context: ChangingParts) {
  const api = context.licensing();
  const view = (code: string) => {
    const line = context.again({ remote_user: code }, []);
    return api.view(code).catch((cause: unknown) => orName(cause, code, api, line));
  };
  const chosen = await agree(changes, view, context);
  const label = ([code]: readonly [string, unknown]) => `the license that ends with ${code.slice(-4)}`;
  const { app_code } = await context.licensingAccount();
  const changeOne = async ([code, listed]: readonly [string, License | undefined]): Promise<ChangedLicense> => {
    const { fieldsOf, check, status } = changes;
    if (listed && isEmpty(changedFrom(listed, fieldsOf(listed, code))))
      return { ...listed, before: {}, after: fieldsOf(listed, code), status: 'unchanged' };
    if (context.options.dry_run) {
      const found = listed ?? (await view(code));
      const fields = fieldsOf(found, code);
      await check?.(usersOf(found, fields, app_code));
      return dryChange({ found, code, fields, status }, api.update(code, fields));
    }
    const license = { code, listed, view, usual: app_code, fieldsOf: (known: License) => fieldsOf(known, code) };
    return changeLocked(license, changing, async (found, users) => {
      const fields = fieldsOf(found, code);
      const before = changedFrom(found, fields);
      if (isEmpty(before)) return { ...found, before, after: fields, status: 'unchanged' };
      await check?.(users);
      const change = { users, found: { ...found, key: code }, fields };
      const changed = await changeLicense(change, { ...changing, api });
      return { ...changed, before, after: fields, status };
    });
  };
  yield* withUndo(each([...chosen], label, changeOne), changing.run, context);
}

interface NamedLicense {
  readonly code: string;
  /** As it was when it was chosen; absent: the key alone is known. */
  readonly listed?: License | undefined;
  readonly view: LicensingApi['view'];
  /** The application of a license that names none. */
  readonly usual: number | undefined;
  readonly fieldsOf: (known: License) => EditedFields;
}

/**
 * Reads the license, locks its user and the one that the change gives it, and reads it again: where it has another user
 * by then, it begins again. @throws Failure rejected where the license is not of the user any more that was meant
 */
export async function changeLocked<T>(
  { code, listed, view, usual, fieldsOf }: NamedLicense,
  changing: Changing,
  work: (found: License, users: readonly UserName[]) => Promise<T>,
): Promise<T> {
  for (let known = listed ?? (await view(code)); ;) {
    const user = textOf(known, 'remote_user');
    const users = usersOf(known, fieldsOf(known), usual);
    const next = await whileLocked(users, changing, async () => {
      const found = await view(code);
      const now = textOf(found, 'remote_user');
      if (now === user) return { result: await work(found, users) };
      if (!listed) return { found };
      const text = `the license of '${user ?? ''}' belongs to '${now ?? ''}' now; it was not changed`;
      throw new Failure('rejected', text, { hint: 'To change it anyway, repeat the command with its key.' });
    });
    if ('result' in next) return next.result;
    known = next.found;
  }
}

/** The user of a license, and the one that a change gives it; none where the server does not say whose it is. */
export function usersOf(found: License, fields: EditedFields, usual: number | undefined): UserName[] {
  const [user, app] = [textOf(found, 'remote_user'), Number(textOf(found, 'app_code'))];
  const app_code = Number.isInteger(app) ? app : (usual ?? 0);
  const names = [user, fields.remote_user ?? user].flatMap((remote_user, index) =>
    remote_user === undefined
      ? []
      : [{ remote_user, app_code: index === 0 ? app_code : (fields.app_code ?? app_code) }],
  );
  const [own, given] = names;
  const isSame = own?.remote_user === given?.remote_user && own?.app_code === given?.app_code;
  return isSame && own ? [own] : names;
}

/** The licenses that a person at a terminal agreed to. @throws Failure of a look; cancelled on no */
async function agree(
  { chosen, fieldsOf, ask, status }: LicenseChanges,
  view: LicensingApi['view'],
  context: ChangingParts,
) {
  if (ask === undefined || !context.interactive() || context.options.yes || context.options.dry_run) return chosen;
  const seen = new Map<string, License>();
  const changes: PlannedChange[] = [];
  for (const [code, known] of chosen) {
    const license = known ?? (await view(code));
    seen.set(code, license);
    const after = fieldsOf(license, code);
    if (!isEmpty(changedFrom(license, after))) changes.push(plannedFrom(license, code, after, status));
  }
  const whose = changes.length === 1 ? `the license of '${changes[0]?.user ?? ''}'` : `${changes.length} licenses`;
  if (changes.length > 0) await askAbout(changes, `${ask} ${whose}?`, context);
  return seen;
}

/**
 * The licenses of these users, and those that a run has moved from one of them to the name that it is to get.
 * @throws Failure not_found for a user who has none
 */
export async function licensesOfUsers(
  users: readonly string[],
  isGiven: (user: string, name: string) => boolean,
  account: LicensingCredential,
  { history, lookups }: Changing,
  context: ChangingParts,
): Promise<Map<string, License>> {
  const { app_code = 0 } = account;
  const origin = context.accounts.identityOf(account);
  const past = changesOf(await history.past('remote_user', '"remote_user_before"')).filter(
    (one) => one.origin === origin,
  );
  const chosen = new Map<string, License>();
  for (const user of users) {
    const count = chosen.size;
    const moved = past.filter((one) => one.remote_user_before === user && isGiven(user, one.remote_user));
    for (const remote_user of new Set([user, ...moved.map((one) => one.remote_user)])) {
      const found = await lookups.lookUp({ remote_user, app_code }, 'given');
      if (found.shows === 'incomplete') throw found.failure;
      for (const license of found.shows === 'licenses' ? found.licenses : [])
        if (remote_user === user || moved.some(({ license_code_end: end }) => end === keyOf(license).slice(-4)))
          chosen.set(keyOf(license), license);
    }
    if (chosen.size > count) continue;
    throw new Failure('not_found', `the user '${user}' has no license`, { hint: likeIt(user) });
  }
  return chosen;
}

/** Yields the changes of a run; at the end it concludes with them, and the command that undoes them. */
export async function* withUndo(licenses: AsyncIterable<ChangedLicense>, run: string, context: Terminal) {
  const changed: ChangedLicense[] = [];
  try {
    for await (const license of licenses) {
      changed.push(license);
      yield license;
    }
  } finally {
    concludeChanges(changed, run, context);
  }
}

/** The last line of a run that can be undone. */
export function undoLine(run: string): string {
  return `undo: ${commandLine('license undo', [run])}`;
}

export function concludeChanges(licenses: readonly ChangedLicense[], run: string, { conclude }: Terminal): void {
  const [first, ...others] = licenses.filter(({ before, planned }) => !isEmpty(before) && !planned);
  if (first === undefined) return;
  conclude(others.length === 0 ? changeNote(first) : `${others.length + 1} ${first.status}`);
  const app_code = first.before.app_code;
  conclude(
    app_code === undefined
      ? undoLine(run)
      : `license undo cannot revert this; to move it back: ${commandLine('license edit', ['CODE'], { app_code })}`,
  );
}

/** A user's name in place of a key is a usual mistake. @throws Failure the cause, for a user with the line to type */
export async function orName(cause: unknown, name: string, { list }: LicensingApi, line: string): Promise<never> {
  if (!(cause instanceof Failure) || cause.kind !== 'not_found') throw cause;
  // The text may be a key: it is looked for in the list, and is in no query.
  const listed = await wholeList(list({}));
  throw listed.some((license) => textOf(license, 'remote_user') === name)
    ? cause.as('not_found', `'${name}' is the name of a user, not a key`, { hint: `Write: ${line}` })
    : cause.as('not_found', cause.message, { hint: codeAdvice(listed, cause) });
}
