import { notePlanned } from '../../api/http/call.ts';
import { keyOf, sizeOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { openInWords, similarTo } from '../../jobs/license/case-words.ts';
import { changeLicense, whileOwned, type ChangePorts, type LicenseChange } from '../../jobs/license/change-license.ts';
import { changesOf } from '../../jobs/license/history.ts';
import { throwOfListed } from '../../jobs/license/lookups.ts';
import { each } from '../../jobs/work/each.ts';
import type { PlannedChange } from '../../output/presentation.ts';
import { flagField } from '../../schema/field.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import { mayChange, noWrites, type LicenseUser } from '../../store/record/writes.ts';
import type { Accounts, Disk, Invocation, Ledgers, Services, Terminal, Time } from '../context.ts';
import { askAbout, changedFrom, dryChange, isAsAsked, plannedFrom, withUndo } from './change-in-plan.ts';
import { openLookups, openWriting, spansOf, trustOption } from './options.ts';
import { similarUsersHint, withCodeAdvice, type ChangedLicense } from './show.ts';

export interface ChangingParts extends Invocation, Services, Accounts, Terminal, Time, Disk, Ledgers {}

export const renamingOptions = {
  allow_duplicate: { ...flagField('Give the license to a user who has another one'), rare: 'never-two' } as const,
  ...trustOption,
};

/** The parts of a run that changes licenses on one server. */
type Changing = Awaited<ReturnType<typeof openChanging>>;

export async function openChanging(
  account: LicensingCredential,
  trust_list: boolean | undefined,
  context: ChangingParts,
  licensing: (app_code: number) => LicensingApi = () => context.licensing(),
) {
  const { app_code = 0 } = account;
  const lookups = openLookups(licensing, { trust_list }, context);
  const how = { rules: spansOf(context), lookups, concurrency: 1 };
  const { placesOf, history, run } = await openWriting([{ app_code, account }], how, context);
  const places = placesOf(app_code);
  const origin = context.accounts.identityOf(account);
  return { signal: context.signal, lookups, places, history, run, app_code, origin };
}

interface NamedChange {
  readonly api: LicensingApi;
  readonly code: string;
  /** The license as it was when it was chosen; absent if only its key is known. */
  readonly listed?: License | undefined;
  readonly fieldsOf: (found: License, code: string) => EditedFields;
  /** What the license is afterwards. */
  readonly status: string;
  readonly method?: LicenseChange['method'];
  /** Called under the locks, with the user who gets the license. @throws Failure where that user must not get it */
  readonly check?: ((given: LicenseUser) => Promise<void>) | undefined;
}

/** Changes one license, or says what a dry run would change. @throws Failure */
export async function changeOne(
  { listed, ...change }: NamedChange,
  ports: ChangePorts & { readonly app_code: number },
  { options }: Invocation,
): Promise<ChangedLicense> {
  const { api, code, fieldsOf, status, method = 'PATCH', check } = change;
  const known = listed ?? (await view(change));
  const fields = fieldsOf(known, code);
  const users = usersOf(known, fields, ports.app_code);
  // A pending request of an earlier run may still change the license.
  const earlier = (await ports.places.store.allKnown(users)).flatMap(({ pending }) => pending);
  const isSettled = !earlier.some((write) => mayChange(write, sizeOf(known), code));
  if (isSettled && isAsAsked(known, fields)) return unchanged(known, fields);
  const [, given] = users;
  if (options.dry_run) {
    if (given) await check?.(given);
    await notePlanned(api.update({ code, fields, method }));
    return dryChange(known, code, fields, status);
  }
  const changing = whileOwned(users, textOf(known, 'remote_user'), code, api, ports.places, async (found) => {
    const after = fieldsOf(found, code);
    if (isAsAsked(found, after)) return unchanged(found, after);
    if (given) await check?.(given);
    const license = await changeLicense({ api, users, found: { ...found, key: code }, fields: after, method }, ports);
    return { ...license, before: changedFrom(found, after), after, status };
  });
  return listed ? changing.catch(throwOfListed) : changing;
}

function unchanged(license: License, after: EditedFields): ChangedLicense {
  return { ...license, before: {}, after, status: 'unchanged' };
}

function view({ api, code }: Pick<NamedChange, 'api' | 'code'>): Promise<License> {
  return api.view(code).catch((cause: unknown) => {
    throw withCodeAdvice(cause);
  });
}

interface LicenseChanges extends Pick<NamedChange, 'fieldsOf' | 'status' | 'check'> {
  /** Licenses by their keys, as they were when they were chosen; undefined where only the key is known. */
  readonly chosen: ReadonlyMap<string, License | undefined>;
  readonly ask?: string;
}

/** Changes one license after another; on a terminal it asks first. It ends with the command that undoes the run. */
export async function* changeEach({ chosen, ...changes }: LicenseChanges, changing: Changing, context: ChangingParts) {
  const api = context.licensing();
  const named = Array.from(chosen, ([code, listed]): NamedChange => ({ ...changes, api, code, listed }));
  const agreed = await agree(named, changes.ask, context);
  const label = ({ code }: NamedChange) => `the license that ends with ${code.slice(-4)}`;
  yield* withUndo(
    each(agreed, label, (one) => changeOne(one, changing, context)),
    changing.run,
    context,
  );
}

/** The licenses that a person at a terminal agreed to. @throws Failure of a lookup; cancelled on no */
async function agree(named: readonly NamedChange[], ask: string | undefined, context: ChangingParts) {
  if (ask === undefined || !context.terminal.canAsk() || context.options.yes || context.options.dry_run) return named;
  const seen: NamedChange[] = [];
  const changes: PlannedChange[] = [];
  for (const change of named) {
    const { code, fieldsOf, status } = change;
    const listed = change.listed ?? (await view(change));
    seen.push({ ...change, listed });
    const after = fieldsOf(listed, code);
    if (!isAsAsked(listed, after)) changes.push(plannedFrom(listed, code, after, status));
  }
  const whose = changes.length === 1 ? `the license of '${changes[0]?.user ?? ''}'` : `${changes.length} licenses`;
  if (changes.length > 0) await askAbout(changes, `${ask} ${whose}?`, context);
  return seen;
}

/** The user of a license, where the server names one, and the user that a change gives it, where that is another. */
function usersOf(found: License, fields: EditedFields, usual: number): LicenseUser[] {
  const [remote_user, app] = [textOf(found, 'remote_user'), Number(textOf(found, 'app_code'))];
  const app_code = Number.isInteger(app) ? app : usual;
  const own = remote_user === undefined ? [] : [{ remote_user, app_code }];
  const [name, code] = [fields.remote_user ?? remote_user, fields.app_code ?? app_code];
  if (name === undefined || (name === remote_user && code === app_code)) return own;
  return [...own, { remote_user: name, app_code: code }];
}

/** @throws Failure rejected where the user has another license, under this name or a similar one, or may have one */
export async function refuseSecond(
  user: LicenseUser,
  isOwn: (license: License, user: string) => boolean,
  { lookups, places }: Changing,
  hint = 'A second license cannot be deleted. If you want it, repeat with --allow-duplicate.',
): Promise<void> {
  const { remote_user } = user;
  const found = await lookups.of(user.app_code).lookUp(remote_user, 'all forms');
  if (found.shows === 'incomplete') throw found.failure;
  const other = 'licenses' in found && found.licenses.find((license) => !isOwn(license, remote_user));
  const { open } = found.shows === 'licenses' ? noWrites : await places.store.known(user);
  if (!other && !open) return;
  const shown =
    found.shows === 'licenses' ? `${remote_user} already has a license` : other && similarTo(other, remote_user);
  const has = (other && shown) || (open && openInWords(user, open)) || '';
  throw new Failure('rejected', `${has}: nothing was changed`, { hint });
}

/**
 * The licenses of these users; of one who has none, those to which an earlier run has given the new name.
 * @throws Failure not_found for a user who has neither
 */
export async function licensesOfUsers(
  users: readonly string[],
  isGiven: (user: string, name: string) => boolean,
  { history, lookups, app_code, origin }: Changing,
): Promise<Map<string, License>> {
  const past = changesOf(await history.past('remote_user')).filter((one) => one.origin === origin);
  const chosen = new Map<string, License>();
  for (const user of users) {
    const licenses = [...(await lookups.licensesOf({ remote_user: user, app_code }))];
    const moved = licenses.length > 0 ? [] : past.filter((one) => one.remote_user_before === user);
    const given = moved.filter(({ remote_user }) => isGiven(user, remote_user));
    for (const remote_user of new Set(given.map((one) => one.remote_user)))
      for (const license of await lookups.licensesOf({ remote_user, app_code }))
        if (given.some(({ license_code_end: end }) => end === keyOf(license).slice(-4))) licenses.push(license);
    if (licenses.length === 0)
      throw new Failure('not_found', `the user '${user}' has no license`, { hint: similarUsersHint(user) });
    for (const license of licenses) chosen.set(keyOf(license), license);
  }
  return chosen;
}
