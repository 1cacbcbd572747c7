import { isKillable, type Process } from './computer.ts';
import type { Ended, LicensingPlan } from './licensing-history.ts';
import { ownerOf, type Mishap } from './licensing-server.ts';
import { replies } from './replies.ts';

/** What runs said, waited for and wrote into the history of their computer. */
export function judgeWords(ended: Ended): string[] {
  return [
    ...[...createdTwice(ended), ...oldAsNew(ended), ...pricesOf(ended), ...untold(ended)],
    ...[...notZero(ended), ...notUnknown(ended), ...otherWords(ended), ...waitsForEnded(ended)],
  ];
}

interface Created {
  readonly run: Process;
  readonly user: string;
  readonly code: string;
}

/** What runs that ended well said that they created; one that was killed may have printed it before. */
function createdIn({ runs, healed }: Ended): Created[] {
  // 11: the user has several, among them the created one.
  const ends = new Set<number | undefined>([0, 11]);
  const all = [...runs, ...healed.flatMap(([, tries]) => tries)].filter(({ exit }) => ends.has(exit));
  return all.flatMap((run) =>
    rowsIn(run).flatMap((row) => {
      const isCreated = row.status === undefined ? saysCreated(run) : row.status === 'created';
      const code = row.license_code ?? row.license?.license_code;
      return isCreated && code !== undefined ? [{ run, user: row.remote_user, code }] : [];
    }),
  );
}

function rowsIn({ stdout }: Process): Row[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => ofOwner(JSON.parse(line) as Row));
}

function ofOwner<T extends { readonly remote_user: string; readonly app_code?: number | null }>(row: T): T {
  return { ...row, remote_user: ownerOf(row.remote_user, row.app_code) };
}

function historyOf({ disk, share }: Ended['computers'][number]): HistoryLine[] {
  return historyLines([...disk.files(), ...(share?.files() ?? [])]).map((line) =>
    ofOwner(JSON.parse(line) as HistoryLine),
  );
}

/** The lines of histories that no power cut has torn. */
export function historyLines(files: Iterable<readonly [path: string, content: Buffer]>): string[] {
  return [...files].flatMap(([path, content]) =>
    /\/history-\d+\.ndjson$/.test(path)
      ? content
          .toString()
          .split('\n')
          .filter((line) => line.endsWith('}'))
      : [],
  );
}

interface HistoryLine {
  readonly event: string;
  readonly remote_user: string;
  readonly app_code?: number;
  readonly license_code_end?: string;
}

interface Row {
  readonly remote_user: string;
  readonly app_code?: number | null;
  /** Of a roster's row. */
  readonly status?: string;
  readonly license?: { readonly license_code?: string } | null;
  readonly license_code?: string;
}

/** A job that goes on after a kill, or with a journal that a disk kept, says it of what the run before it asked for. */
function createdTwice(ended: Ended): string[] {
  const { runs, mishaps = [], habits } = ended.plan;
  if (runs.some(({ fate }) => isKillable(fate) || fate?.disk)) return [];
  // Nothing contradicts another user's key where lists show none, or where the deadline comes before they are read.
  const isUnread = ended.runs.some(({ stderr }) => stderr.includes('could not be confirmed'));
  if ((habits?.keys || isUnread) && mishaps.some(({ reply }) => reply === 'other-key')) return [];
  const codes = createdIn(ended).map(({ code }) => code);
  const twice = new Set(codes.filter((code, at) => codes.indexOf(code) < at));
  return [...twice].map((code) => `two runs say that they created ${code}`);
}

/** A license of another program was there before, and so was what an earlier run was answered. */
function oldAsNew(ended: Ended): string[] {
  const { licenses, plan } = ended;
  const isLate = plan.queue !== undefined || plan.mishaps?.some(({ commit = 0 }) => commit > 0) === true;
  return createdIn(ended).flatMap(({ run, user, code }) => {
    const license = licenses.find(({ license_code }) => license_code === code);
    // The server tells whole seconds.
    const isEarlier = license && Date.parse(license.created) + 1000 < run.started;
    const isOld = isEarlier && !isLate && run.line.startsWith('license create');
    // A run that was killed may have asked for each row that it had claimed: the next one cannot tell.
    const isKilled = plan.runs.some(({ fate }) => isKillable(fate) || fate?.disk);
    const isClaimed = isKilled && run.line.startsWith('license apply');
    const isOther =
      code.startsWith('OTHER-') && !isClaimed && plan.others?.some((one) => one.user === user && one.at === 0);
    return isOld || isOther ? [`"${run.line}" says that it created ${code}, which was there before`] : [];
  });
}

/** Where no fault happens, each run has an exact price: its requests, and no wait. */
function pricesOf({ plan, runs }: Ended): string[] {
  if (!isWithoutFault(plan) || plan.runs.some(({ after }, index) => index > 0 && after !== index - 1)) return [];
  return runs.flatMap((run, index) => {
    const { exit, requests, stderr, started, ended = 0, line } = run;
    const name = `run ${index + 1} (${line}), without a fault,`;
    // A name that is given, or taken away, is not always there to be.
    const wrongs = exit === 0 || isRenaming({ line }) ? [] : [`${name} is exit ${exit}: ${stderr}`];
    const took = ended - started;
    // A license that got another name a moment ago is looked for after --settle, under both.
    if (runs.slice(0, index).some((one) => isRenaming(one) && started < (one.ended ?? 0) + 5000)) return wrongs;
    if (!isRenaming({ line }) && took > (line.startsWith('license apply') ? 4000 : 1500))
      wrongs.push(`${name} takes ${took / 1000} s`);
    const price = requests.join(' ');
    const due = /^license (ensure|create)/.test(line) ? pricesFor(run) : undefined;
    if (due?.includes(price) === false) wrongs.push(`${name} sends ${price}, and not ${due.join(' or ')}`);
    return wrongs;
  });
}

/** What had no answer is waited for as long as --settle, also by a later run: of a run that ended it is known when. */
function waitsForEnded({ plan, runs }: Ended): string[] {
  const { mishaps = [] } = plan;
  const isBroken = ({ method, reply, commit = 0 }: Mishap): boolean =>
    method === 'POST' && commit === 0 && replies[reply].means === 'open' && reply !== 'nothing';
  const isOrdered = plan.runs.every(
    ({ line, after, options = '--retries' }, index) =>
      line.startsWith('license ensure') &&
      options.startsWith('--retries') &&
      after === (index > 0 ? index - 1 : undefined),
  );
  const isCalm = isWithoutFault({ ...plan, mishaps: [], runs: plan.runs.map(({ options: _, ...run }) => run) });
  if (!isOrdered || !isCalm || !mishaps.every(isBroken)) return [];
  const most = 5000 * (1 + mishaps.length);
  return runs.flatMap(({ line, started, ended = 0 }) =>
    ended - started > most
      ? [`"${line}" takes ${(ended - started) / 1000} s after ${mishaps.length} lost answers`]
      : [],
  );
}

/** Of the one license of `ensure` or `create`, which has made one where it ends well. */
function saysCreated({ line, stderr }: Process): boolean {
  return line.startsWith('license create') || /^created: /m.test(stderr);
}

/** Other spellings of the name are looked up first where the server tells them apart, and a listed key is asked for. */
function pricesFor(run: Process): string[] {
  if (saysCreated(run)) return ['GET POST GET', 'GET GET GET POST GET'];
  return /^resized /m.test(run.stderr) ? ['GET PATCH', 'GET PATCH GET'] : ['GET GET'];
}

/** Where processes are killed, stopped or interrupted, and nothing else happens, each that ends by itself is right. */
function notZero({ plan, runs }: Ended): string[] {
  const isKilled = plan.runs.some(({ fate }) => isKillable(fate));
  const isCalm = plan.runs.every(({ fate, hurt, options }) => !fate?.disk && !fate?.clock && !hurt && !options);
  // To a run that was stopped an answer of the ledger seems late.
  const isHeld = plan.ledger !== undefined && plan.runs.some(({ fate }) => fate?.stop);
  // Nobody waits for a user whom another computer has, which cannot be seen from here.
  const isUnseen = plan.isShared && (isKilled || plan.runs.some(({ computer = 0 }) => computer > 0));
  const isOther = (plan.clockAhead ?? 0) !== 0 || isUnseen || isHeld || plan.runs.some(isRenaming);
  if (!isCalm || isOther || !isWithoutFault({ ...plan, runs: [] })) return [];
  return runs.flatMap(({ exit, stderr, line }, index) => {
    // A signal can end a request in the moment in which it is sent; of its user another license may be new.
    const { interrupt, stdout } = plan.runs[index]?.fate ?? {};
    const isCut = interrupt !== undefined && exit === 9 && line.startsWith('license create');
    const isEnded = interrupt !== undefined && exit === endedBy[interrupt.by ?? 'SIGINT'];
    const isUnwritten = stdout?.code === 'ENOSPC' && exit === 8 && stderr.includes('the result could not be written');
    // One job is done by one run at a time; whoever creates one license waits.
    const isBusy =
      stderr.includes('which has done nothing for two minutes') ||
      (!line.startsWith('license ensure') && stderr.includes('is in use by'));
    // The run that writes the plan was ended.
    const isWithoutPlan = exit === 2 && stderr.includes('cannot read /home/ada/plan.ndjson');
    const isRight = exit === undefined || exit === 0 || isEnded || isCut || isUnwritten;
    // Another spelling may be another user.
    const isSimilar = plan.shape?.names !== undefined && exit === 6;
    if (isRight || isBusy || isWithoutPlan || isSimilar) return [];
    return [`run ${index + 1} (${line}) is exit ${exit}, and nothing was wrong: ${stderr}`];
  });
}

const endedBy = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Exit 9 says that a request may have been carried out, or that no list shows what was answered. */
function notUnknown({ plan, server: { posts }, runs }: Ended): string[] {
  const { shape = {}, habits, mishaps = [], queue, ledger, trouble } = plan;
  const isSlow = habits || trouble || queue || ledger || shape.stale;
  const isHidden = isSlow || shape.filters === 'ignored' || shape.list_shape;
  const isLate = mishaps.some(({ method, commit }) => method === 'POST' && commit !== 0);
  const isUnread = mishaps.some(({ method, reply }) => method === 'GET' && replies[reply].means !== 'answered');
  const isInterrupted = plan.runs.some(
    ({ fate, hurt, options }) => fate?.disk ?? fate?.interrupt ?? fate?.kill ?? fate?.clock ?? hurt ?? options,
  );
  if (isHidden || isLate || isUnread || isInterrupted || posts.some(({ reply }) => reply !== 'made')) return [];
  // What another run renamed or retired before it was confirmed may never have been this user's.
  const isMoved = (stderr: string): boolean => plan.runs.some(isRenaming) && stderr.includes('its key is that of');
  return runs.flatMap(({ exit, line, stderr }, index) =>
    exit === 9 && !isMoved(stderr)
      ? [`run ${index + 1} (${line}) is exit 9, and every request was answered: ${stderr}`]
      : [],
  );
}

function isRenaming({ line }: { readonly line: string }): boolean {
  return /^license (rename|edit|undo|retire --)/.test(line);
}

function isWithoutFault({
  runs,
  mishaps = [],
  queue,
  shape = {},
  habits,
  ledger,
  others = [],
  trouble,
}: LicensingPlan): boolean {
  const isPlain = !shape.stale && shape.filters !== 'ignored' && shape.list_shape === undefined;
  const isAlone = others.every(({ at }) => at === 0);
  const hasLedgerFault = ledger !== undefined && (ledger.faults ?? []).length > 0;
  const isCalm = runs.every(({ fate, hurt, options }) => Object.keys(fate ?? {}).length === 0 && !hurt && !options);
  return isPlain && isAlone && isCalm && mishaps.length === 0 && !queue && !trouble && !habits && !hasLedgerFault;
}

/** The counts of a run's last line and the history say what its rows and its exit code say. */
function otherWords({ plan, runs, healed, computers }: Ended): string[] {
  const isCut = plan.runs.some(({ fate }) => fate?.disk ?? fate?.kill?.how === 'power');
  if (isCut) return [];
  const all = [...runs, ...healed.flatMap(([, tries]) => tries)].filter(
    ({ exit, ended }) => exit !== undefined && ended,
  );
  const changed = computers.flatMap((computer) => historyOf(computer)).filter(({ event }) => event.startsWith('chang'));
  return all.flatMap((run) => {
    const rows = rowsIn(run);
    const counts = tally(rows.map(({ status = 'created' }) => status));
    const wrongs: string[] = [];
    const say = (what: string): void => void wrongs.push(`"${run.line}" ${what}`);
    const isWhole = run.fate.stdout === undefined && rows.length > 0;
    for (const [, count, status = ''] of run.stderr.matchAll(/(?<=^|, )(\d+) (created|resized)(?=,| on |$)/gm))
      if (isWhole && Number(count) !== counts[status]) say(`says that ${count} are ${status}`);
    const isSaid = run.stderr.includes('the history will not contain');
    for (const { remote_user: user, status } of isSaid ? [] : rows)
      if (status === 'resized' && !changed.some(({ remote_user }) => remote_user === user))
        say(`resized the license of ${user}, which no history tells`);
    return wrongs;
  });
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** The history of a computer tells each license that its runs created once. */
function untold(ended: Ended): string[] {
  const { plan, computers } = ended;
  if (plan.runs.some(({ fate }) => Object.keys(fate ?? {}).length > 0) || plan.shape?.names) return [];
  // A key that was answered, and that no list could contradict, is told; the list that does so later is told too.
  const { mishaps = [] } = plan;
  const isShort = plan.runs.some(({ options }) => options?.includes('--deadline'));
  const isRefused = plan.trouble !== undefined || mishaps.some(({ method }) => method === 'GET');
  if (mishaps.some(({ reply }) => reply === 'other-key') && (isShort || isRefused || plan.habits?.keys)) return [];
  return computers.flatMap((computer) => {
    const { name, processes } = computer;
    const ends = historyOf(computer).flatMap(({ event, remote_user, license_code_end }) => {
      return event === 'created' && license_code_end !== undefined ? [`${remote_user} ${license_code_end}`] : [];
    });
    const created = createdIn(ended).filter(({ run }) => processes.includes(run));
    return [...new Set(created.map(({ user, code }) => `${user} ${code}`))].flatMap((one) => {
      const user = one.slice(0, one.indexOf(' '));
      // A license told twice is one: a job that goes on tells it again where no list could be read before.
      const known = new Set(ends.filter((end) => end.startsWith(`${user} `)));
      const isTold = [...known].some((end) => one.endsWith(end.slice(user.length + 1)));
      // What another run has made is told by the one that finds it; it may have got another name since.
      const made = ended.server.posts.flatMap((post) => (post.user === user && post.code ? [post.code] : []));
      const there = ended.licenses.flatMap((other) => (other.remote_user === user ? [other.license_code] : []));
      if (isTold && known.size <= new Set([...made, ...there]).size) return [];
      return [`the history of ${name} tells of ${one} as ${[...known].join(', ') || 'nothing'}`];
    });
  });
}
