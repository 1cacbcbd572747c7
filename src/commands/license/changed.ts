import { keyOf, licenseNames, sizeOf, textOf, type EditedFields, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import { commandLine } from '../../core/shell-word.ts';
import { namesIn } from '../../core/table-names.ts';
import { changeInWords } from '../../jobs/license/case-words.ts';
import { recordedChange } from '../../jobs/license/history.ts';
import { each } from '../../jobs/work/each.ts';
import type { LicensingCredential } from '../../store/account/credentials.ts';
import { hashOf } from '../../store/disk/files.ts';
import type { Journal } from '../../store/journal.ts';
import type { Accounts, Disk, Invocation, Services, Terminal, Time } from '../context.ts';
import { askAbout, type PlannedChange } from './plan-lines.ts';
import { codeAdvice, likeIt, wholeList, type ChangedLicense, type FieldsBefore } from './show.ts';

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

export type ChangingParts = Pick<Invocation, 'options' | 'again'> & Services & Accounts & Terminal & Time & Disk;

interface LicenseChange extends Partial<ChangeJournal> {
  /** Licenses by their keys, as they were when they were chosen; undefined where the key alone is known. */
  readonly chosen: ReadonlyMap<string, License | undefined>;
  readonly fieldsOf: (user: string, code: string) => EditedFields;
  readonly status: string;
  readonly ask?: string;
}

/** Changes one license after another; on a terminal it asks first. At the end, the command that undoes the run. */
export async function* changeEach(
  change: LicenseChange,
  account: LicensingCredential,
  context: ChangingParts,
): AsyncGenerator<ChangedLicense> {
  const { run, record } = context.record.recorder(account);
  const api = context.licensing();
  const view = (code: string) => {
    const line = context.again({ remote_user: code }, []);
    return api.view(code).catch((cause: unknown) => orName(cause, code, api, line));
  };
  const chosen = await agree(change, view, context);
  const journal = await change.open?.();
  /** @throws Failure rejected where the license is not of the user any more that was meant */
  const changeOne = async ([code, listed]: readonly [string, License | undefined]): Promise<ChangedLicense> => {
    const license = idOf(code);
    const earlier = change.past?.get(license);
    const isRight = listed && !earlier && isEmpty(changedFrom(listed, change.fieldsOf(userOf(listed), code)));
    const found = isRight ? listed : await view(code);
    const user = userOf(found);
    const whose = earlier ? [earlier.remote_user, earlier.to] : [userOf(listed ?? found)];
    if (!whose.includes(user)) {
      await journal?.append({ license, step: 'forget', time: context.clock.now() });
      const text = `the license of '${whose[0] ?? ''}' is that of '${user}' by now; it was not changed`;
      throw new Failure('rejected', text, { hint: 'To change it anyway, repeat the command with its key.' });
    }
    const after = { ...change.fieldsOf(user, code), ...(earlier && { remote_user: earlier.to }) };
    // Where it has the earlier name it was not changed, or put back since.
    const was = user === earlier?.to ? { ...found, fields: { ...found.fields, ...earlier } } : found;
    const before = changedFrom(was, after);
    if (isEmpty(before)) return { ...found, before, after, status: 'unchanged' };
    const isLeft = isEmpty(changedFrom(found, after));
    const names = { remote_user: userOf(was), to: after.remote_user };
    if (!isLeft) await journal?.append({ license, step: 'change', ...before, ...names, time: context.clock.now() });
    const update = async () => (isLeft ? found : api.update(code, after, found));
    return { ...(await recordedChange(was, after, record, update)), before, after, status: change.status };
  };
  const label = ([code]: readonly [string, unknown]) => `the license that ends with ${code.slice(-4)}`;
  yield* withUndo(each([...chosen], label, changeOne), run, context);
}

/** The licenses that a person at a terminal agreed to. @throws Failure of a look; cancelled on no */
async function agree(
  { chosen, fieldsOf, ask }: LicenseChange,
  view: LicensingApi['view'],
  context: ChangingParts,
): Promise<LicenseChange['chosen']> {
  if (ask === undefined || !context.interactive() || context.options.yes || context.options.dry_run) return chosen;
  const seen = new Map<string, License>();
  const changes: PlannedChange[] = [];
  for (const [code, known] of chosen) {
    const license = known ?? (await view(code));
    seen.set(code, license);
    const after = fieldsOf(userOf(license), code);
    const size = changeInWords(sizeOf(license), after.size_allowance ?? 0);
    const change = [ask.toLowerCase(), userOf(license), `${size}, ends with ${code.slice(-4)}`] as const;
    if (!isEmpty(changedFrom(license, after))) changes.push(change);
  }
  const whose = changes.length === 1 ? `the license of '${changes[0]?.[1] ?? ''}'` : `${changes.length} licenses`;
  if (changes.length > 0) await askAbout([[changes]], `${ask} ${whose}?`, context);
  return seen;
}

type Earlier = { readonly remote_user: string; readonly size_allowance?: number; readonly to: string };

interface ChangeJournal {
  /** Opens it once the changes are agreed to, until the result is written; a dry run has none. */
  readonly open: () => Promise<Journal | undefined>;
  /** Licenses that earlier runs of the job renamed, as they were before, with the name that they gave them. */
  readonly past: ReadonlyMap<string, Earlier>;
}

/** The journal knows a license by this: no key is recorded. */
const idOf = (text: string): string => hashOf(Buffer.from(text));

/**
 * The journal of a command on codes, or on users: then with their licenses, and those that an interrupted run renamed.
 * @throws Failure not_found for a user who has none
 */
export async function openChanges(
  job: string,
  input: { readonly codes?: readonly string[]; readonly users?: readonly string[] | undefined; readonly to?: string },
  account: LicensingCredential,
  context: ChangingParts,
): Promise<ChangeJournal & Pick<LicenseChange, 'chosen'>> {
  const { app_code } = account;
  const header = {
    job,
    origin: context.accounts.identityOf(account),
    input: idOf(JSON.stringify({ ...input, app_code })),
  };
  const open = async () => {
    const journal = context.options.dry_run ? undefined : await context.record.journal(header);
    if (journal) context.record.untilWritten(journal);
    return journal;
  };
  const earlier = (await context.record.readJournal(header))?.records ?? [];
  const past = new Map<string, Earlier>();
  for (const { license, remote_user, size_allowance: size, to } of earlier.filter(isObject)) {
    if (typeof license !== 'string') continue;
    if (typeof remote_user !== 'string' || typeof to !== 'string') past.delete(license);
    else past.set(license, { remote_user, to, ...(typeof size === 'number' && { size_allowance: size }) });
  }
  const chosen = new Map<string, License | undefined>(input.codes?.map((code) => [code, undefined]));
  for (const user of input.users ?? []) {
    const count = chosen.size;
    const moved = [...past.values()].filter(({ remote_user }) => remote_user === user).map(({ to }) => to);
    for (const remote_user of new Set([user, ...moved]))
      for (const license of (await context.licensing().ofUser({ remote_user, app_code })).exact)
        if (remote_user === user || past.has(idOf(keyOf(license)))) chosen.set(keyOf(license), license);
    if (chosen.size > count) continue;
    throw new Failure('not_found', `the user '${user}' has no license`, { hint: likeIt(user) });
  }
  return { open, past, chosen };
}

/** @throws Failure rejected where the server does not say it */
export function userOf(license: License): string {
  const user = textOf(license, 'remote_user');
  if (user !== undefined) return user;
  throw new Failure('rejected', 'the server does not say whose license it is; it was not changed');
}

/** Yields the changes of a run; at the end it concludes with them, and the command that undoes them. */
export async function* withUndo(
  licenses: AsyncIterable<ChangedLicense>,
  run: string,
  context: Pick<Terminal, 'conclude'> & Pick<Invocation, 'options'>,
): AsyncGenerator<ChangedLicense> {
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

export function concludeChanges(
  licenses: readonly ChangedLicense[],
  run: string,
  { conclude }: Pick<Terminal, 'conclude'>,
): void {
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
export async function orName(
  cause: unknown,
  name: string,
  { list }: Pick<LicensingApi, 'list'>,
  line: string,
): Promise<never> {
  if (!(cause instanceof Failure) || cause.kind !== 'not_found') throw cause;
  // The text may be a key: it is looked for in the list, and is in no query.
  const listed = await wholeList(list({}));
  throw listed.some((license) => textOf(license, 'remote_user') === name)
    ? cause.as('not_found', `'${name}' is the name of a user, not a key`, { hint: `Write: ${line}` })
    : cause.as('not_found', cause.message, { hint: codeAdvice(listed, cause) });
}
