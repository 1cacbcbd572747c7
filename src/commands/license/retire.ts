import { textOf, type License } from '../../api/licensing/license.ts';
import type { LicensingApi } from '../../api/licensing/licensing.ts';
import { Failure, orWarn } from '../../core/failure.ts';
import { commandLine } from '../../core/shell-word.ts';
import { isObject } from '../../core/json.ts';
import { recordedChange } from '../../jobs/license/recorded-change.ts';
import { changeInWords, sizeOf } from '../../jobs/license/decide.ts';
import { each } from '../../jobs/work/each.ts';
import { licenseCode, licenseExtras, licenseFields } from '../../schema/license.ts';
import { hashOf } from '../../store/disk/files.ts';
import type { Journal } from '../../store/journal.ts';
import { command } from '../command.ts';
import type { Invocation, Recorder, Terminal, Time } from '../context.ts';
import { refuseReadOnly } from '../../store/account/credentials.ts';
import { planLines, type PlannedChange } from './plan-lines.ts';
import { beforeFields, changedFrom, changedShow, changeNote, type ChangedLicense } from './put-back.ts';

export default command({
  about: [
    'For a user who left: the API cannot delete a license, so its user becomes left-YEAR-MONTH-NAME-KEY, with the last four characters of the key, which nobody will have, and its size ' +
      'the smallest. The key itself is not withdrawn by that. Take the user out of the roster too, or license apply creates a new license.',
    'On a terminal the users are shown, and it asks. What each license was is on disk before its request: the same command resumes after ' +
      'a crash, and a license that is retired already is left as it is. One whose user has changed meanwhile is refused.',
  ],
  args: { license_code: { ...licenseCode, many: true } },
  examples: ['chatelaine license view --remote-user physio-7731 -q | chatelaine license retire -'],

  dryRun: ['requests'],

  async *run({ license_code: typed }, context) {
    const codes = [...new Set(typed)];
    const account = await context.licensingAccount();
    refuseReadOnly(account);
    const api = context.licensing();
    const asked = await askAbout(codes, api, context);
    const input = hashOf(Buffer.from(JSON.stringify(codes)));
    const header = { job: 'license retire', origin: context.identityOf(account), input };
    const journal = context.options.dry_run ? undefined : await context.journal(header);
    const retiring = {
      ...context,
      ...context.recorder(account),
      api,
      journal,
      past: earlierIn(journal?.records ?? []),
    };
    let isDone = false;
    try {
      yield* each(
        [...codes.entries()],
        ([, code]) => `the license that ends with ${code.slice(-4)}`,
        ([index, code]) => retire(code, index, asked.get(code), retiring),
      );
      isDone = true;
    } finally {
      if (journal) await orWarn(isDone ? journal.finish() : journal.close(), context.warn);
    }
  },

  fields: [...licenseExtras, ...beforeFields, 'status'],

  show: {
    ...changedShow,
    data: ({ status, ...license }) => ({ ...changedShow.data(license), status }),
    outcome: { by: 'status', nothing: 'unchanged', columns: ['remote_user_before', 'size_allowance_before', 'status'] },
  },
});

/** What a license was before this job changed it, and the user that it gave it. */
interface Earlier {
  readonly remote_user: string;
  readonly size_allowance?: number;
  readonly to: string;
}

interface Retiring
  extends Pick<Invocation, 'options'>, Pick<Terminal, 'interactive' | 'conclude'>, Pick<Time, 'now'>, Recorder {
  readonly api: Pick<LicensingApi, 'view' | 'update'>;
  /** Undefined in a dry run. */
  readonly journal: Pick<Journal, 'append'> | undefined;
  /** By the place of a code among those that were typed: no code is recorded. */
  readonly past: ReadonlyMap<number, Earlier>;
}

/** @throws Failure rejected where the license is not of the user any more that was meant */
async function retire(
  code: string,
  index: number,
  asked: string | undefined,
  retiring: Retiring,
): Promise<ChangedLicense & { readonly status: 'retired' | 'unchanged' }> {
  const { api, journal, past, now, conclude, run, record } = retiring;
  const found = await api.view(code);
  const user = userOf(found);
  const earlier = past.get(index);
  const meant = earlier ? [earlier.remote_user, earlier.to] : [asked ?? user];
  if (!meant.includes(user)) {
    await journal?.append({ license: index, step: 'forget', time: now() });
    throw new Failure(
      'rejected',
      `the license of '${meant[0] ?? ''}' is that of '${user}' by now; it was not changed`,
      {
        hint: 'To retire it all the same, repeat the command.',
      },
    );
  }
  const fields = { remote_user: earlier?.to ?? retiredName(user, code, retiring), size_allowance: smallest };
  // Where it has the earlier name it was not changed, or put back since.
  const isRenamed = earlier !== undefined && user === earlier.to;
  const was = isRenamed ? { key: undefined, fields: { ...earlier } } : found;
  const before = changedFrom(was, fields);
  const isLeft = Object.keys(changedFrom(found, fields)).length === 0;
  if (!isLeft)
    await journal?.append({
      license: index,
      step: 'retire',
      ...before,
      remote_user: isRenamed ? earlier.remote_user : user,
      to: fields.remote_user,
      time: now(),
    });
  const update = () => api.update(code, fields);
  const license = isLeft ? found : await recordedChange(found, fields, record, update);
  if (Object.keys(before).length === 0) return { ...license, before, status: 'unchanged' };
  conclude(`retired, ${changeNote(before, fields, run, retiring)}`);
  return { ...license, before, status: 'retired' };
}

const smallest = licenseFields.size_allowance.min;

/**
 * A name that no other license has, such as another one of that user. A name that is one already stays: a license can be retired twice.
 * @throws Failure rejected where it would be too long
 */
function retiredName(user: string, code: string, { now, interactive }: Pick<Retiring, 'now' | 'interactive'>): string {
  if (/^left-\d{4}-\d\d-/.test(user)) return user;
  const name = `left-${new Date(now()).toISOString().slice(0, 7)}-${user}-${code.slice(-4)}`;
  if (name.length < licenseFields.remote_user.below) return name;
  const shorter = { remote_user: 'left-NAME', size_allowance: smallest };
  throw new Failure('rejected', `'${name}' is too long for the name of a user`, {
    hint: `Give it a shorter one: ${commandLine('license edit', [interactive() ? code : 'CODE'], shorter)}`,
    retryable: false,
  });
}

function userOf(license: License): string {
  const user = textOf(license, 'remote_user');
  if (user !== undefined) return user;
  throw new Failure('rejected', 'the server does not say whose license it is; it was not changed');
}

/** The users that a person at a terminal agreed to, by code. @throws Failure of a look; cancelled on no */
async function askAbout(
  codes: readonly string[],
  { view }: Pick<LicensingApi, 'view'>,
  {
    interactive,
    confirm,
    note,
    options,
  }: Pick<Terminal, 'interactive' | 'confirm' | 'note'> & Pick<Invocation, 'options'>,
): Promise<ReadonlyMap<string, string>> {
  const users = new Map<string, string>();
  if (!interactive() || options.yes || options.dry_run) return users;
  const changes: PlannedChange[] = [];
  for (const code of codes) {
    const license = await view(code);
    users.set(code, userOf(license));
    changes.push([
      'retire',
      userOf(license),
      `${changeInWords(sizeOf(license), smallest)}, ends with ${code.slice(-4)}`,
    ]);
  }
  note(planLines(changes, '--dry-run'));
  await confirm(
    codes.length === 1 ? `Retire the license of '${changes[0]?.[1] ?? ''}'?` : `Retire ${codes.length} licenses?`,
  );
  return users;
}

/** What earlier runs of the job were about to change; of a license the last record counts. */
function earlierIn(records: readonly unknown[]): ReadonlyMap<number, Earlier> {
  const earlier = new Map<number, Earlier>();
  for (const record of records) {
    if (!isObject(record) || typeof record['license'] !== 'number') continue;
    const { license, step, remote_user, size_allowance, to } = record;
    if (step === 'forget') earlier.delete(license);
    else if (typeof remote_user === 'string' && typeof to === 'string')
      earlier.set(license, { remote_user, to, ...(typeof size_allowance === 'number' && { size_allowance }) });
  }
  return earlier;
}
