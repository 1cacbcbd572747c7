import { keyOf, licenseNames, sizeOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { namesIn } from '../../core/table-names.ts';
import { changeInWords } from '../../jobs/license/case-words.ts';
import { givenNames, nameGiven, type GivenNames, type SendChange } from '../../jobs/license/given-names.ts';
import { recordedChange } from '../../jobs/license/history.ts';
import type { LicenseUser } from '../../jobs/license/license-user.ts';
import { each } from '../../jobs/work/each.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import { hashOf } from '../../store/disk/files.ts';
import { begunIn } from '../../store/journal.ts';
import type { HistoryEntry } from '../../store/record/history.ts';
import type { Accounts, Disk, Invocation, Ledgers, Services, Terminal, Time } from '../context.ts';
import { askAbout, type PlannedChange } from './plan-lines.ts';
import { codeAdvice, likeIt, wholeList, type ChangedLicense, type FieldsBefore } from './show.ts';
import { defaultSettle } from './options.ts';

/** The earlier values of the asked fields that change. */
export function changedFrom(license: License | undefined, asked: EditedFields): FieldsBefore {
  const changed = licenseNames.flatMap((name) => {
    const was = license && textOf(license, name);
    if (was === undefined || asked[name] === undefined || was === String(asked[name])) return [];
    return [[name, name === 'remote_user' ? was : Number(was)] as const];
  });
  return Object.fromEntries(changed);
}

function changeNote({ before: { size_allowance: size, ...others }, after, status }: ChangedLicense): string {
  const resized = size === undefined ? [] : [`resized ${changeInWords(Number(size), after?.size_allowance ?? 0)}`];
  const renamed = namesIn(others).map((name) => `${name} ${inQuotes(others[name])} -> ${inQuotes(after?.[name])}`);
  return [...(status === 'changed' ? [] : [status]), ...resized, ...renamed].join(', ');
}

const inQuotes = (value: string | number | undefined) => (typeof value === 'string' ? `'${value}'` : value);

const isEmpty = (before: FieldsBefore): boolean => Object.keys(before).length === 0;

export interface ChangingParts extends Invocation, Services, Accounts, Terminal, Time, Disk, Ledgers {}

interface LicenseChange {
  /** Licenses by their keys, as they were when they were chosen; undefined where the key alone is known. */
  readonly chosen: ReadonlyMap<string, License | undefined>;
  readonly fieldsOf: (user: string, code: string) => EditedFields;
  readonly status: string;
  readonly ask?: string;
  /** Called once the new names are claimed, before anything is changed. */
  readonly check?: (names: GivenNames) => Promise<void>;
  /** Says that the job has begun, once the changes are agreed to, until the result is written; a dry run has none. */
  readonly open?: () => Promise<void>;
  readonly past?: readonly EarlierRename[];
}

type ChosenLicense = readonly [code: string, License | undefined];

/** Changes one license after another; on a terminal it asks first. At the end, the command that undoes the run. */
export async function* changeEach(change: LicenseChange, account: LicensingCredential, context: ChangingParts) {
  const { run, record } = context.record.recorder(account);
  const api = context.licensing();
  const view = (code: string) => {
    const line = context.again({ remote_user: code }, []);
    return api.view(code).catch((cause: unknown) => orName(cause, code, api, line));
  };
  const chosen = await agree(change, view, context);
  const names = namesOf(account, context);
  const nameOf = ([code, license]: ChosenLicense): LicenseUser | undefined =>
    license && nameGiven(license, change.fieldsOf(textOf(license, 'remote_user') ?? '', code), account.app_code);
  const isHeld = (one: ChosenLicense): number => (names.isHeld(nameOf(one)) ? 1 : 0);
  /** @throws Failure rejected where the license is not of the user any more that was meant */
  const changeOne = async ([code, listed]: ChosenLicense): Promise<ChangedLicense> => {
    const past = change.past?.filter(({ end }) => end === code.slice(-4)) ?? [];
    const isRight = listed && past.length === 0 && isEmpty(changedFrom(listed, change.fieldsOf(userOf(listed), code)));
    const found = isRight ? listed : await view(code);
    const user = userOf(found);
    const earlier = past.find(({ to, before }) => user === to || user === before.remote_user);
    const meant = (listed && userOf(listed)) ?? past[0]?.before.remote_user ?? user;
    if (!earlier && user !== meant) {
      for (const { end: license_code_end, before, to: remote_user } of past)
        await record({ event: 'refused', remote_user, remote_user_before: before.remote_user, license_code_end });
      const text = `the license of '${meant}' is that of '${user}' by now; it was not changed`;
      throw new Failure('rejected', text, { hint: 'To change it anyway, repeat the command with its key.' });
    }
    const after = { ...change.fieldsOf(user, code), ...(earlier && { remote_user: earlier.to }) };
    // Where it has the earlier name it was not changed, or put back since.
    const was = user === earlier?.to ? { ...found, fields: { ...found.fields, ...earlier.before } } : found;
    const before = changedFrom(was, after);
    if (isEmpty(before)) return { ...found, before, after, status: 'unchanged' };
    const isLeft = isEmpty(changedFrom(found, after));
    const update: SendChange = async (before) => (isLeft ? found : api.update(code, after, found, before));
    const changed = await recordedChange({ ...was, key: code }, after, record, update, isLeft ? undefined : names);
    return { ...changed, before, after, status: change.status };
  };
  const label = ([code]: ChosenLicense) => `the license that ends with ${code.slice(-4)}`;
  const given = [...chosen].flatMap((one) => nameOf(one) ?? []);
  yield* names.during(given, async function* () {
    await change.check?.(names);
    await change.open?.();
    // A name that another run has ends this one: all others are given before.
    const inOrder = [...chosen].sort((one, other) => isHeld(one) - isHeld(other));
    yield* withUndo(each(inOrder, label, changeOne), run, context);
  });
}

/** The names that a run gives to licenses of that server; a dry run gives none. */
export function namesOf(
  account: LicensingCredential,
  { options, ledgers, clock, ...terminal }: Ledgers & Time & Terminal & Invocation,
) {
  const claimsOf = async (app_code: number) =>
    options.dry_run ? undefined : ledgers.claims(account, app_code, defaultSettle);
  return givenNames({ ...terminal, ...clock, settle: defaultSettle, claimsOf });
}

/** The licenses that a person at a terminal agreed to. @throws Failure of a look; cancelled on no */
async function agree({ chosen, fieldsOf, ask }: LicenseChange, view: LicensingApi['view'], context: ChangingParts) {
  if (ask === undefined || !context.interactive() || context.options.yes || context.options.dry_run) return chosen;
  const seen = new Map<string, License>();
  const changes: PlannedChange[] = [];
  for (const [code, known] of chosen) {
    const license = known ?? (await view(code));
    seen.set(code, license);
    const after = fieldsOf(userOf(license), code);
    const { size_allowance: size, remote_user: name = '' } = after;
    const becomes = size === undefined ? `-> ${name}` : changeInWords(sizeOf(license), size);
    const change = [ask.toLowerCase(), userOf(license), `${becomes}, ends with ${code.slice(-4)}`] as const;
    if (!isEmpty(changedFrom(license, after))) changes.push(change);
  }
  const whose = changes.length === 1 ? `the license of '${changes[0]?.[1] ?? ''}'` : `${changes.length} licenses`;
  if (changes.length > 0) await askAbout([[changes]], `${ask} ${whose}?`, context);
  return seen;
}

/** An interrupted run of the job renamed it: the end of the key, the fields before, and the name that it got. */
interface EarlierRename {
  readonly end: string | undefined;
  readonly before: EditedFields;
  readonly to: string;
}

/**
 * The job of a command on codes, or on users: then with their licenses, and those that an interrupted run renamed.
 * @throws Failure not_found for a user who has none
 */
export async function openChanges(
  job: string,
  input: { readonly codes?: readonly string[]; readonly users?: readonly string[] | undefined; readonly to?: string },
  account: LicensingCredential,
  context: ChangingParts,
) {
  const { app_code } = account;
  const origin = context.accounts.identityOf(account);
  const header = { job, origin, input: hashOf(Buffer.from(JSON.stringify({ ...input, app_code }))) };
  const open = async () => {
    if (context.options.dry_run) return;
    const journal = await context.record.journal(header);
    if (begunIn(journal) === undefined) await journal.append({ begun: context.clock.now() });
    context.record.untilWritten(journal);
  };
  const journal = await context.record.readJournal(header);
  const begun = (journal && begunIn(journal)) ?? Infinity;
  const entries = begun < Infinity ? await context.record.past('remote_user', JSON.stringify(job)) : [];
  const past = earlierRenames(entries.filter((one) => one.origin === origin && Date.parse(one.time) >= begun));
  const chosen = new Map<string, License | undefined>(input.codes?.map((code) => [code, undefined]));
  for (const user of input.users ?? []) {
    const count = chosen.size;
    const moved = past.filter(({ before }) => before.remote_user === user);
    for (const remote_user of new Set([user, ...moved.map(({ to }) => to)]))
      for (const license of (await context.licensing().ofUser({ remote_user, app_code })).exact)
        if (remote_user === user || moved.some(({ end }) => end === keyOf(license).slice(-4)))
          chosen.set(keyOf(license), license);
    if (chosen.size > count) continue;
    throw new Failure('not_found', `the user '${user}' has no license`, { hint: likeIt(user) });
  }
  return { open, past, chosen };
}

function earlierRenames(entries: readonly HistoryEntry[]): EarlierRename[] {
  const renames = new Map<string, EarlierRename>();
  for (const entry of entries) {
    const { event, remote_user: to, remote_user_before, license_code_end: end } = entry;
    const { size_allowance_before: size_allowance } = entry;
    const before = { remote_user: remote_user_before ?? to, ...(size_allowance !== undefined && { size_allowance }) };
    const key = JSON.stringify([end, before.remote_user, to]);
    if (event === 'refused') renames.delete(key);
    else if (!renames.has(key)) renames.set(key, { end, before, to });
  }
  return [...renames.values()];
}

/** @throws Failure rejected where the server does not say it */
export function userOf(license: License): string {
  const user = textOf(license, 'remote_user');
  if (user !== undefined) return user;
  throw new Failure('rejected', 'the server does not say whose license it is; it was not changed');
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

export function concludeChanges(licenses: readonly ChangedLicense[], run: string, { conclude }: Terminal): void {
  const [first, ...others] = licenses.filter(({ before }) => !isEmpty(before));
  if (first === undefined) return;
  const text = others.length === 0 ? changeNote(first) : `${others.length + 1} licenses were changed`;
  const app_code = first.before.app_code;
  conclude(
    app_code === undefined
      ? `${text}; to undo it: ${commandLine('license undo', [run])}`
      : `${text}; no undo moves it back: ${commandLine('license edit', ['CODE'], { app_code })}`,
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
