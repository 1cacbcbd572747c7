import { createHash } from 'node:crypto';
import type { License } from '../../api/license-key.ts';
import { Failure, usage } from '../../core/failure.ts';
import { applyRoster } from '../../jobs/apply-roster.ts';
import { planRows } from '../../jobs/plan-roster.ts';
import { readRows, refuseRepeats, uniqueUser, type Placed } from '../../jobs/read-roster.ts';
import { rosterJournal } from '../../jobs/roster-journal.ts';
import type { AppliedRow, Applying } from '../../jobs/roster-run.ts';
import { rosterFields, type LicenseFields } from '../../spec/license.ts';
import { optional } from '../../spec/field.ts';
import { formatOf, type RosterFormat } from '../../store/roster.ts';
import type { Claims } from '../../store/claims.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { apiOfEachApp, defaultConcurrency, rosterOptions, workerOptions } from '../roster.ts';
import { keyCell } from './show.ts';
import { freeOrTell } from '../../jobs/ensure-license.ts';
import { appCodeOf, refuseReadOnly, settleOptions, settlingOf } from './options.ts';

/** On a terminal more changes than these are asked about once. */
const manyChanges = 100;

const columns = ['remote_user', 'app_code', 'size_allowance', 'status', 'license'] as const;

export default command({
  name: 'license apply',
  summary: 'Give every user of a file one license',
  about: [
    'The file is CSV with a header, a JSON object on each line, or a JSON array. Columns: remote_user, size_allowance and, if you like, ' +
      'app_code, which picks the stored key of that application; others are ignored. A file with bad rows is refused whole, every bad ' +
      'line named, and nothing is sent.',
    'A user without a license gets one; a license of another size is resized; one of the right size stays. Each row ends as created, ' +
      'resized, unchanged, failed or unknown. Exit code 9 if a row is unknown, else 8 if one failed; 4 where the key is refused.',
    'Every step is on disk before and after its request: the same command goes on after Ctrl-C, a crash or a full disk. A user never ' +
      'gets two licenses, as long as the server carries a request out within --settle, or not at all.',
  ],
  args: { file: { kind: 'string', file: true, placeholder: 'FILE', help: 'The roster; -f FILE is the same' } },
  options: {
    file_option: {
      kind: 'string',
      flag: 'file',
      short: 'f',
      nonempty: true,
      placeholder: 'FILE',
      help: 'The roster; - is standard input',
    },
    ...rosterOptions,
    ...optional({ app_code: rosterFields.app_code }),
    ...workerOptions,
    journal: {
      kind: 'string',
      nonempty: true,
      placeholder: 'FILE',
      help: 'Where the steps are recorded (default: in the state folder, a journal for each server and file)',
    },
    exit_code: { kind: 'boolean', help: 'With --dry-run: exit code 10 if anything would change' },
    ...settleOptions,
  },
  examples: [
    'chatelaine license apply roster.csv --dry-run',
    'chatelaine license apply roster.csv',
    'chatelaine license apply - --input-format csv -o ndjson < roster.csv',
  ],

  async *run(
    {
      file: argument,
      file_option,
      input_format,
      concurrency = defaultConcurrency,
      journal,
      exit_code,
      settle,
      ...typed
    },
    context,
  ) {
    const file = argument ?? file_option;
    if (file === undefined || (argument !== undefined && file_option !== undefined))
      throw usage('give one roster: FILE or --file FILE');
    if (exit_code && !context.options.dry_run) throw usage('--exit-code needs --dry-run');
    refuseStrangeFields(context.options);
    const text = await context.read(file);
    const rows = await readRowsOf(file, text, input_format, typed.app_code, context);
    const applying = { licensing: apiOfEachApp(context), concurrency };
    if (context.options.dry_run) {
      yield* plan(rows, applying, exit_code ?? false);
      return;
    }
    const target = await targetOf(rows, context);
    yield* apply(rows, { ...applying, ...settlingOf(context, settle) }, { text, target, journal }, context);
  },

  show: {
    toTheEnd: true,
    whole: ['license'],
    columns,
    cell: (row, column) => (column === 'license' && row.license ? keyCell(row.license) : undefined),
    others: true,
  },
});

/** A name that no row has would be noticed at the first row, when licenses have been made already. */
function refuseStrangeFields({ fields = '', dry_run }: Context['options']): void {
  const known = [...columns, dry_run ? 'change' : 'error'];
  const strange = fields
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !known.includes(name));
  if (strange.length > 0)
    throw usage(
      strange.map((name) => `There is no field '${name}' in the result.`),
      `Its fields are ${known.join(', ')}.`,
    );
}

async function readRowsOf(
  file: string,
  text: string,
  format: RosterFormat | undefined,
  typed: number | undefined,
  context: Context,
): Promise<LicenseFields[]> {
  const placed = await readRows(text, format ?? formatOf(file, text), rosterFields, uniqueUser);
  if (placed.length === 0) throw usage(`${file}: no rows`);
  const ownCode = placed.some(({ row }) => row.app_code === undefined) ? await appCodeOf(context, typed) : undefined;
  const rows: Placed<LicenseFields>[] = placed.map(({ place, row }) => ({
    place,
    row: { remote_user: row.remote_user, app_code: row.app_code ?? ownCode ?? 0, size_allowance: row.size_allowance },
  }));
  refuseRepeats(rows, uniqueUser);
  return rows.map(({ row }) => row);
}

interface Target {
  readonly app_code: number;
  readonly origin: string;
}

/** Where each application's licenses are made; a missing credential is told before anything is sent. */
async function targetOf(rows: readonly LicenseFields[], context: Context): Promise<Target[]> {
  const codes = [...new Set(rows.map(({ app_code }) => app_code))].sort((one, other) => one - other);
  const targets: Target[] = [];
  for (const app_code of codes) {
    const account = await context.licensingAccount({ app_code });
    refuseReadOnly(account);
    targets.push({ app_code, origin: context.identityOf(account) });
  }
  return targets;
}

interface Job {
  readonly text: string;
  readonly target: readonly Target[];
  readonly journal: string | undefined;
}

async function* apply(
  rows: readonly LicenseFields[],
  how: Pick<Applying, 'licensing' | 'concurrency' | 'settle' | 'sleep' | 'note'>,
  { text, target, journal: file }: Job,
  context: Context,
): AsyncGenerator<ToldRow> {
  const header = { job: 'license apply', target, input: createHash('sha256').update(text).digest('hex') };
  const journal = await context.journal(header, file);
  let isDone = false;
  try {
    const record = rosterJournal(journal);
    const job = `license apply ${header.input} ${file ?? ''}`;
    const claimed = await claim(rows, journal.records.length > 0 ? job : undefined, job, target, context);
    const progress = context.progress('licenses', rows.length);
    try {
      await askAboutMany(rows, how, context);
      const { now, signal, warn } = context;
      const applying = { ...how, abandoned: claimed.abandoned, journal: record, now, signal, warn };
      for await (const row of applyRoster(rows, applying)) {
        progress.step();
        if (!record.isOpen(row)) await claimed.free(row);
        yield { ...row, error: row.error === undefined ? null : context.clean(row.error) };
      }
      isDone = true;
    } finally {
      progress.end();
      await claimed.freeAll(rows.filter((row) => !record.isOpen(row)));
    }
  } finally {
    await (isDone ? journal.finish() : journal.close());
  }
}

/** The reason stands in every row, so that tables and CSV have its column whatever the first row is. */
interface ToldRow extends Omit<AppliedRow, 'error'> {
  readonly error: string | null;
}

/** The rows' users, kept from other processes until their outcome is known. */
interface Claimed {
  /** Whether another job died while it was at work on one of the rows. */
  readonly abandoned: boolean;
  /** Gives a row back, now or with others a little later. */
  free(row: LicenseFields): Promise<void>;
  freeAll(rows: readonly LicenseFields[]): Promise<void>;
}

/** Claims are given back in portions, since each time their file is written anew. */
const freeEvery = 2000;

/** `known` is the job whose open steps are on record here; what any other left open is not known. */
async function claim(
  rows: readonly LicenseFields[],
  known: string | undefined,
  job: string,
  target: readonly Target[],
  context: Context,
): Promise<Claimed> {
  const taken = new Map<number, { readonly claims: Claims; users: string[] }>();
  let abandoned = false;
  for (const { app_code, origin } of target) {
    const claims = await context.claims(job, origin, app_code);
    const users = rows.filter((row) => row.app_code === app_code).map(({ remote_user }) => remote_user);
    const jobs = await claims.take(users);
    abandoned ||= [...jobs].some((other) => other !== known);
    taken.set(app_code, { claims, users: [] });
  }
  let last = context.now();
  const give = async (): Promise<void> => {
    last = context.now();
    for (const { claims, users } of taken.values()) await freeOrTell(claims, users.splice(0), context);
  };
  const put = ({ app_code, remote_user }: LicenseFields): void => void taken.get(app_code)?.users.push(remote_user);
  return {
    abandoned,
    async free(row) {
      put(row);
      if (context.now() - last > freeEvery) await give();
    },
    async freeAll(left) {
      left.forEach(put);
      await give();
    },
  };
}

/** A question on a terminal only: a script has said what it wants. */
async function askAboutMany(
  rows: readonly LicenseFields[],
  how: Pick<Applying, 'licensing' | 'concurrency'>,
  context: Context,
): Promise<void> {
  if (rows.length <= manyChanges || !context.interactive() || context.options.yes) return;
  const changes = (await planRows(rows, how)).filter(({ decision }) => decision.step !== 'unchanged').length;
  if (changes > manyChanges) await context.confirm(`${changes} licenses will be created or resized. Go on?`);
}

interface PlannedRow extends LicenseFields {
  readonly status: 'create' | 'resize' | 'unchanged';
  readonly license: AppliedRow['license'];
  /** The change of size, as in `4 -> 6`; null where a license is created or left. */
  readonly change: string | null;
}

async function* plan(
  rows: readonly LicenseFields[],
  how: Pick<Applying, 'licensing' | 'concurrency'>,
  tell: boolean,
): AsyncGenerator<PlannedRow> {
  let changes = 0;
  for (const { row, decision } of await planRows(rows, how)) {
    if (decision.step !== 'unchanged') changes += 1;
    const license = decision.step === 'create' ? null : decision.license;
    const change = decision.step === 'resize' ? `${sizeText(decision.license)} -> ${row.size_allowance}` : null;
    yield { ...row, status: decision.step, license, change };
  }
  if (tell && changes > 0) throw new Failure('differences', `${changes} licenses would change`);
}

function sizeText({ size_allowance }: License): string {
  return typeof size_allowance === 'number' || typeof size_allowance === 'string' ? String(size_allowance) : '?';
}
