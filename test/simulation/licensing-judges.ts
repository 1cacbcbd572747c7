import { deadline, isByList, spanOf, type Ended, type LicensingPlan } from './licensing-history.ts';
import { disksOf, isKillable, type Process } from './computer.ts';
import { ownerOf, type Mishap } from './licensing-server.ts';
import { replies } from './replies.ts';
import { judgeChanges } from './change-judges.ts';
import { judgeWords } from './word-judges.ts';

const settle = 5000;
/** A request in progress is waited for by Ctrl-C and at the deadline, up to --timeout; then outputs are written. */
const grace = 40_000;

/** What no rule allows, and the documented limits that the history met. */
export function judgeLicensing(ended: Ended): { readonly wrongs: string[]; readonly limits: string[] } {
  const limits = [...limitsOf(ended.plan), ...notRepeated(ended)];
  const wrongs = [
    ...(limits.some((limit) => allowsTwo.has(limit)) ? [] : [...twoLicenses(ended), ...twoOfOneRun(ended)]),
    ...sentAgain(ended),
    ...tooOften(ended),
    ...notSettled(ended, limits),
    ...(limits.includes('shown after --settle') ? [] : unseenDoubles(ended)),
    ...goesOnUnfound(ended),
    ...besideUnfound(ended),
    ...barsTooSoon(ended, limits),
    ...ended.runs.flatMap((run, index) => wrongsOfRun(run, `run ${index + 1}`, ended, limits)),
    ...ended.healed.flatMap(([line, runs]) => wrongsOfHealing(line, runs, ended, limits)),
    ...leftFiles(ended),
    ...untoldRows(ended),
    ...waitsForStopped(ended),
    ...refusedKeys(ended),
    ...ended.runs.flatMap((run) => [...goesOn(run, ended), ...unheard(run, ended)]),
    ...judgeWords(ended),
    ...judgeChanges(ended),
  ];
  return { wrongs, limits };
}

/** Limits under which a user can end up with two licenses (docs/exactly-once.md, What is not promised). */
const allowsTwo = new Set([
  'carried out after --settle',
  'no order, to several runs',
  'connections that break, and no order',
  'rows that move between pages, where the list is the lookup',
  'carried out though it was refused',
  'shown after --settle',
  'a clock that was set forward',
]);

function limitsOf({
  mishaps = [],
  shape,
  clockAhead = 0,
  isShared,
  runs,
  ledger,
  queue,
  habits,
}: LicensingPlan): string[] {
  const limits = new Set<string>();
  const settle = Math.min(...runs.map(({ line, options = '' }) => spanOf({ line: `${line} ${options}` }, 'settle')));
  const stale = shape?.stale ?? 0;
  if (queue && queue.cost[1] >= settle) limits.add('carried out after --settle');
  if (queue && queue.order !== 'fifo' && runs.length > 1) limits.add('no order, to several runs');
  // What broke early is settled by what was sent later.
  if (queue && queue.order !== 'fifo' && (queue.broken ?? queue.restarts) !== undefined)
    limits.add('connections that break, and no order');
  for (const { method, reply, commit } of mishaps) {
    if (method !== 'POST') continue;
    const { means } = replies[reply];
    if (means === 'refused' && commit !== undefined) limits.add('carried out though it was refused');
    const shown = (commit ?? 0) + stale;
    if (commit !== undefined && shown >= settle) limits.add('carried out after --settle');
    if (means === 'answered' && commit === undefined) limits.add('answered and not kept');
  }
  if (habits?.newest !== undefined) limits.add('behind the end of a list');
  if (stale >= settle) limits.add('shown after --settle');
  if (isShared && runs.some(({ computer = 0, fate }) => (isKillable(fate) || fate?.disk) && computer > 0))
    limits.add('a holder that cannot be seen');
  // Where a ledger is, its clock alone counts.
  const isSet = clockAhead > 0 || runs.some(({ fate }) => (fate?.clock?.by ?? 0) > 0);
  if (isSet && !ledger) limits.add('a clock that was set forward');
  return [...limits];
}

/** Whether a license may have another name at the end than when a run printed it. */
function isRenamed({ runs }: LicensingPlan): boolean {
  return runs.some(({ line }) => /^license (rename|edit|undo|retire --)/.test(line));
}

/** Whoever was killed before its answer was recorded, or could not record it, leaves later runs without it. */
function isUntold(user: string, { server: { posts }, plan: { habits } }: Ended): boolean {
  const isHiding = habits?.newest !== undefined || habits?.gaps !== undefined;
  const lacks = ({ exit, stderr }: Process): boolean =>
    exit === undefined ||
    exit > 128 ||
    /the history will not contain|is not recorded there|the deadline of/.test(stderr);
  return isHiding && posts.some((post) => post.user === user && lacks(post.client));
}

/** Nobody has two licenses that requests of ours made, nor one beside a license that was there to be seen. */
function twoLicenses(ended: Ended): string[] {
  const { licenses, plan } = ended;
  const users = new Set(licenses.map(({ remote_user }) => remote_user));
  const isAnother = ({ line }: { readonly line: string }): boolean => /^license create| --send-again /.test(line);
  const most = Math.max(1, plan.runs.filter(isAnother).length + (plan.runs.every(isAnother) ? 0 : 1));
  return [...users].flatMap((user) => {
    const all = licenses.filter(({ remote_user }) => remote_user === user);
    const ours = all.filter(({ license_code }) => !license_code.startsWith('OTHER-'));
    const isListed = !isRenamed(plan) && plan.others?.some((other) => other.user === user && other.at === 0);
    const isBeside = isListed && ours.length > 0;
    const isGiven = isRenamed(plan) && all.length > most;
    return (ours.length > most && !isUntold(user, ended)) || isBeside || isGiven
      ? [`${user} has ${all.length} licenses, ${ours.length} of them ours`]
      : [];
  });
}

/** A run creates one license of a user, how many others may be allowed. */
function twoOfOneRun({ server: { posts }, licenses, runs, healed }: Ended): string[] {
  const codes = new Set(licenses.map(({ license_code }) => license_code));
  const kept = posts.filter(({ code }) => code !== undefined && codes.has(code));
  return [...runs, ...healed.flatMap(([, tries]) => tries)].flatMap((run) => {
    const users = kept.flatMap(({ client, user }) => (client === run ? [user] : []));
    const twice = [...new Set(users.filter((user, at) => users.indexOf(user) < at))];
    return twice.map((user) => `"${run.line}" created two licenses of ${user}`);
  });
}

/** What was answered is not sent again: by the run that heard it, nor by others once that has ended by itself. */
function sentAgain({ server: { posts }, plan, runs }: Ended): string[] {
  const isDiskFailing = plan.runs.some(({ fate = {} }) => disksOf(fate).some(({ path }) => path === undefined));
  const isCreated = isRenamed(plan) || plan.runs.some(({ line }) => line.startsWith('license create'));
  return posts.flatMap(({ user, reply, client }, index) => {
    const isCut = (replies[reply].after ?? 0) > spanOf(client, 'timeout') || client.stderr.includes('the deadline of');
    const isAnswered = replies[reply].means === 'answered' && !isCut;
    const hasHeard = client.exit !== undefined && client.exit < 128 && runs.includes(client);
    // A ledger that is lost when the answer comes does not know of it.
    const knows = (other: Process): boolean =>
      other === client ||
      (hasHeard &&
        !isDiskFailing &&
        !isCreated &&
        (!plan.ledger?.faults?.length || other.computer === client.computer) &&
        !other.line.includes('--send-again'));
    const isAgain = posts.slice(index + 1).some((post) => post.user === user && knows(post.client));
    return isAnswered && isAgain ? [`a license of ${user} was answered, and asked for again`] : [];
  });
}

/** What had no answer is sent again by one run at most --retries times. */
function tooOften({ server: { posts }, runs }: Ended): string[] {
  return runs.flatMap((run) => {
    const most = 1 + Number(/ --retries (\d+)/.exec(run.line)?.[1] ?? 5);
    const lost = posts.filter(({ client, reply }) => client === run && replies[reply].means === 'open');
    const users = lost.map(({ user }) => user);
    const often = [...new Set(users)].filter((user) => users.filter((one) => one === user).length > most);
    return often.map((user) => `"${run.line}" asked more than ${most} times for a license of ${user}`);
  });
}

/** docs/exactly-once.md, The lookup. */
function notRepeated({ plan: { shape }, runs }: Ended): string[] {
  const isNotRepeated = shape?.filters === 'ignored' && runs.some(({ exit }) => exit === 9);
  return isNotRepeated ? ['not sent again until a list that ignores the filter has shown a new license'] : [];
}

/** How a run says that lookups had no answer. */
const noLookup = /no list confirmed it|could not be confirmed/;

/** Where answers are lost, and nothing else happens, each run settles them by itself. */
function notSettled({ plan, runs }: Ended, limits: readonly string[]): string[] {
  const { mishaps = [], shape, habits, trouble } = plan;
  const isLost = ({ method, reply }: Mishap): boolean =>
    method === 'POST' && reply !== '400' && replies[reply].means !== 'answered';
  const isQuiet =
    !plan.ledger?.faults?.length &&
    plan.runs.every(
      ({ fate, line, options }) =>
        Object.keys(fate ?? {}).length === 0 && options === undefined && (plan.queue || /ensure/.test(line)),
    );
  if (
    !isQuiet ||
    limits.length > 0 ||
    trouble ||
    habits?.keys ||
    habits?.newest ||
    habits?.gaps ||
    shape?.list_shape !== undefined ||
    shape?.names !== undefined ||
    !mishaps.every(isLost)
  )
    return [];
  return runs.flatMap(({ exit, stderr, started, ended = 0 }, index) =>
    exit === 0 || stderr.includes('is in use by') || mayGiveUp(plan, ended - started, exit)
      ? []
      : [`run ${index + 1} says ${exit ?? 'nothing'}, though only answers were lost: ${stderr}`],
  );
}

/** A run gives up where its time is over, and where reads get no answer. */
function mayGiveUp({ queue }: LicensingPlan, took: number, exit: number | undefined): boolean {
  if (!queue || ![7, 8, 9].includes(exit ?? 0)) return false;
  return queue.reads !== undefined || took > deadline - settle;
}

/** Who sent more than one request for a user looks once more before it says that all is well. */
function unseenDoubles({ server: { posts }, licenses, runs }: Ended): string[] {
  // Where two runs create on purpose, each has its own.
  const isAlone = (user: string) =>
    runs.filter(({ line }) => line.includes(`create --remote-user ${user} `)).length < 2;
  return runs.flatMap((run, index) => {
    const sent = posts.flatMap(({ client, user }) => (client === run && isAlone(user) ? [user] : []));
    const again = [...new Set(sent.filter((user, at) => sent.indexOf(user) < at))];
    const { exit, ended = 0 } = run;
    const done = new Set(posts.flatMap((post) => ((post.done ?? Infinity) < ended - moment ? [post.code] : [])));
    const kept = (user: string) => licenses.filter((one) => one.remote_user === user && done.has(one.license_code));
    const unseen = exit === 0 ? again.filter((user) => kept(user).length > 1) : [];
    return unseen.map((user) => `run ${index + 1} is exit 0, and asked twice for ${user}, who has two licenses`);
  });
}

/** What a run was answered first is found, or it asks for nothing more. It may say that a lookup was refused. */
function goesOnUnfound({ server: { posts }, licenses, runs }: Ended): string[] {
  const codes = new Set(licenses.map(({ license_code }) => license_code));
  return runs.flatMap((run) => {
    const [first, ...later] = posts.filter(({ client }) => client === run);
    if (noLookup.test(run.stderr)) return [];
    const isFound = first?.reply !== 'made' || codes.has(first.code ?? '') || run.line.includes('--send-again');
    return isFound || later.length === 0 ? [] : [`"${run.line}" goes on, and what it was answered first is nowhere`];
  });
}

/** While what a run was answered first is nowhere, later runs of its computer ask for nothing either. */
function besideUnfound({ plan, server: { posts }, licenses, runs }: Ended): string[] {
  const isExcused = plan.hasTwoApps ?? (isRenamed(plan) || (plan.clockAhead ?? 0) !== 0);
  const isHurt = ({ fate = {}, hurt }: (typeof plan.runs)[number]): boolean =>
    disksOf(fate).some(({ path }) => path === undefined) || [fate.kill, fate.clock, hurt].some(Boolean);
  if (isExcused || plan.runs.some(isHurt)) return [];
  const users = new Set(licenses.map(({ remote_user }) => remote_user));
  return runs.flatMap((run) => {
    const first = posts.find(({ client }) => client === run);
    const { ended, computer, exit = 130 } = run;
    if (first?.reply !== 'made' || users.has(first.user) || ended === undefined || exit >= 128) return [];
    const later = posts.filter(
      ({ client, user }) =>
        client.computer === computer &&
        client.started >= ended &&
        !client.line.includes('--send-again') &&
        !(client.line.startsWith('license create') && user === first.user),
    );
    return later.map(
      ({ client, user }) =>
        `${user} is asked for by "${client.line}", and what "${run.line}" was answered first is nowhere`,
    );
  });
}

/** That a first license is nowhere is said when lists have had --settle to show it. */
function barsTooSoon({ plan, licenses, server, runs, healed }: Ended, limits: readonly string[]): string[] {
  const { habits, runs: planned } = plan;
  const isLate = limits.some((limit) => / after --settle$/.test(limit));
  // A name that the server changes is shown by no list as it was asked for.
  // The license or the key of another user that was answered is shown, and says nothing of the one that was asked for.
  const isOther = plan.mishaps?.some(({ reply }) => reply.startsWith('other-'));
  if (isLate || isOther || habits?.gaps || habits?.newest || plan.shape?.names) return [];
  if (planned.some(({ fate }) => fate?.clock) || (plan.clockAhead ?? 0) !== 0) return [];
  return [...runs, ...healed.flatMap(([, tries]) => tries)].flatMap(({ line, stderr, computer }) => {
    const end = /no lookup shows the license \(its key ends with (\w{4})\) that run/.exec(stderr)?.[1] ?? ' ';
    const kept = licenses.find(({ license_code }) => license_code.endsWith(end));
    // The name that a run gave it is in the history of its computer, if the run was not killed.
    const untold = server.changes.filter(({ client }) => client.exit === undefined || client.computer !== computer);
    const renamed = untold.flatMap(({ code, asked, done }) => (asked.remote_user && done ? [code] : []));
    if (!kept || renamed.includes(kept.license_code)) return [];
    return [`no lookup shows ${kept.license_code} of ${kept.remote_user}, says "${line}"`];
  });
}

/** Nobody waits for a process that is stopped but for its own user, and no longer than two minutes. */
function waitsForStopped({ plan, runs }: Ended): string[] {
  const [stopped] = plan.runs;
  if ((stopped?.fate?.stop?.span ?? 0) < 150_000) return [];
  return plan.runs.flatMap(({ line }, index) => {
    const run = runs[index];
    if (index === 0 || run?.ended === undefined || run.exit === undefined) return [];
    const isSame = line === stopped?.line;
    const took = (run.ended - run.started) / 1000;
    const lost = plan.queue?.lost?.length ?? 0;
    const most = (isSame ? 125 : 0) + (plan.queue ? 90 + 35 * lost : 10);
    return took > most ? [`"${line}" waits ${took} s beside a process that is stopped`] : [];
  });
}

/** A roster that ends well tells each of its rows once. */
function untoldRows({ plan: { roster = [] }, runs, healed }: Ended): string[] {
  const all = [...runs, ...healed.flatMap(([, tries]) => tries)];
  const whole = all.filter(({ line, exit, fate }) => line.startsWith('license apply /') && exit === 0 && !fate.stdout);
  return whole.flatMap((run) => {
    const told = rowsOf(run).map(({ remote_user }) => remote_user);
    const lacking = roster.filter(([user]) => told.filter((one) => one === user).length !== 1);
    return run.line.includes('--dry-run') || lacking.length === 0 || run.line.includes('--retire-missing')
      ? []
      : [`"${run.line}" is exit 0, and does not tell the row of ${lacking.map(([user]) => user).join(', ')} once`];
  });
}

/** Whose key is refused does not end well, and asks nothing more with it. */
function refusedKeys({ server: { refusals } }: Ended): string[] {
  return refusals.flatMap(({ client, app, at, later }) => {
    const { exit, line, stderr } = client;
    // Another failure may come first, or last.
    const isOther = /the deadline of|is in use by|could not be written|broke before|Something went wrong/.test(stderr);
    const isEnded = exit !== undefined && exit < 128 && !isOther;
    // What was answered is told, and what no list could show then is said, or unknown.
    const isRight = exit === 4 || exit === 9 || (exit === 0 && noLookup.test(stderr));
    // One that was on its way is asked again after a wait; a process that is stopped hears of the refusal later.
    const after = later.filter((moment) => moment > at + 5000 + (client.fate.stop?.span ?? 0));
    return [
      ...(isEnded && !isRight ? [`"${line}" is exit ${exit}, and the key of ${app} was refused: ${stderr}`] : []),
      ...(after.length > 0 ? [`"${line}" asked for ${after.length} licenses more with the refused key of ${app}`] : []),
    ];
  });
}

/** A run that a signal ended, once; what else befalls it is no part of it. */
function isEndedBySignal({ exit = 0, fate }: Process): boolean {
  return exit >= 128 && fate.interrupt?.again === undefined && !fate.stop && !fate.disk;
}

/** After a signal a run sends no request for a license, and waits for nothing but the answers of those under way. */
function goesOn(run: Process, { server: { posts }, plan: { ledger } }: Ended): string[] {
  const { interrupted = Infinity, ended = 0, line } = run;
  if (!isEndedBySignal(run)) return [];
  const later = posts.filter(({ client, at }) => client === run && at > interrupted + moment / 10);
  const took = ended - interrupted;
  return [
    ...later.map(({ user }) => `"${line}" asked for a license of ${user} after the signal`),
    ...(took > spanOf(run, 'timeout') + 5 * moment && !ledger
      ? [`"${line}" goes on for ${took / 1000} s after the signal`]
      : []),
  ];
}

/** What the server had before a signal, and answered after it, is told. */
function unheard(run: Process, { server: { posts }, plan: { habits, shape } }: Ended): string[] {
  // An answer with another name has to be looked for, which the signal ends.
  if (!isEndedBySignal(run) || run.fate.stdout || habits?.keys || shape?.names) return [];
  // Nobody hears the answer to a request that was given up.
  if (run.stderr.includes('timeout: no complete response')) return [];
  const told = rowsOf(run).filter(({ license }) => license?.license_code !== undefined);
  const { interrupted = 0 } = run;
  const lost = posts.filter(({ client, reply, user, at }) => {
    const isTold = told.some(({ remote_user }) => remote_user === user);
    return client === run && reply === 'made' && at < interrupted && !isTold;
  });
  return lost.map(({ user }) => `the license of ${user} was answered, and "${run.line}" does not tell it`);
}

/** What happens so shortly before the end of a run, its last look may not show. */
const moment = 1000;

/** What a run said is true of the server at its end. */
function wrongsOfRun(
  run: Process,
  name: string,
  { licenses, server, plan }: Ended,
  limits: readonly string[],
): string[] {
  if (run.state === 'running' || run.state === 'stopped') return [`${name} hangs`];
  if (run.exit === undefined) return [];
  const wrongs: string[] = [];
  if (run.exit === 1) wrongs.push(`${name} is exit 1: ${run.stderr}`);
  if (run.stderr.includes(`in use by process ${run.pid} on ${run.computer.name}`))
    wrongs.push(`${name} waits for itself: ${run.stderr}`);
  if (run.exit === 2 || run.exit === 3) wrongs.push(...notUnchanged(run, name, server));
  const last = spanOf(run, 'deadline');
  if (run.ended !== undefined && run.ended - run.started > last + spanOf(run, 'timeout') + grace)
    wrongs.push(`${name} waited ${(run.ended - run.started) / 1000} s, its --deadline is ${last / 1000} s`);
  // What these gave may have got another name since.
  if (/^license (rename|edit|undo|retire --)| --dry-run/.test(run.line)) return wrongs;
  const isDouble = / ha(s|ve) several; /.test(run.stderr);
  if (run.exit === 10 && / --plan /.test(run.line) && !isDouble && run.requests.some((method) => method !== 'GET'))
    wrongs.push(`${name} is exit 10 and sent ${run.requests.join(' ')}: ${run.stderr}`);
  if (run.exit === 0 && run.line.startsWith('license retire')) return [...wrongs, ...notRetired(name, licenses)];
  for (const { remote_user: user, status, license } of rowsOf(run)) {
    if (status === 'retired') {
      wrongs.push(...notLeft(name, user, license?.license_code, { licenses, plan }));
      continue;
    }
    const isDone = ['created', 'resized', 'unchanged'].includes(status ?? (run.exit === 0 ? 'created' : 'unsaid'));
    if (run.exit === 0 && !isDone) wrongs.push(`${name} is exit 0 with a row of ${user} that is ${status}`);
    const code = license?.license_code;
    // Where lists show parts of keys, and no answer had the whole one, none is printed; an end alone shows no part.
    const hasHeard = server.posts.some(
      (post) => post.client === run && post.user === user && ['made', 'late'].includes(post.reply),
    );
    // One key that is answered for two users is the key of none.
    const isShared = plan.mishaps?.some(({ reply }) => reply === 'other-key' || reply === 'other-user');
    const isPart = plan.habits?.keys && (!hasHeard || isShared);
    if (code === undefined && run.exit !== 0) continue;
    const isEnd = isPart && plan.habits.keys === 'ends';
    const kept = licenses.find((one) =>
      isEnd ? one.remote_user === user && one.license_code.endsWith(String(code)) : one.license_code === code,
    );
    if (!isDone || (!kept && limits.includes('answered and not kept'))) continue;
    // What was answered is printed where no lookup says otherwise.
    const isEnded =
      run.exit > 128 || run.exit === 4 || run.stderr.includes('the deadline of') || noLookup.test(run.stderr);
    const isUnread = isEnded || plan.mishaps?.some(({ method }) => method === 'GET') === true;
    // An answered key is printed; one that lists mask is not compared with it.
    if (kept?.remote_user !== user && (isUnread || plan.habits?.keys !== undefined) && isShared) continue;
    if (!kept) wrongs.push(`${name} says that ${user} has the license ${code}, which is not there`);
    else if (kept.remote_user !== user && !isRenamed(plan))
      wrongs.push(`${name} gives ${user} the license of ${kept.remote_user}`);
    else if (kept.size_allowance !== 4 && !isRenamed(plan))
      wrongs.push(`${name} says that ${user} has size 4, it is ${kept.size_allowance}`);
  }
  return wrongs;
}

/** Of --retire-missing: who is in a row keeps the license, and what was retired has another name and the least size. */
function notLeft(
  name: string,
  user: string,
  code: string | undefined,
  { licenses, plan }: Pick<Ended, 'licenses' | 'plan'>,
): string[] {
  const isInRow = plan.roster?.some(([row]) => row === user);
  const license = licenses.find(({ license_code }) => license_code === code);
  const isLeft = license?.remote_user.startsWith('left-') && license.size_allowance === 1;
  return isInRow || !isLeft ? [`${name} says that the license of ${user} is retired`] : [];
}

/** The two exit codes say that nothing was changed. */
function notUnchanged(run: Process, name: string, { posts }: Ended['server']): string[] {
  // Rows of a job that goes on tell what earlier runs of it did.
  const hasSent = run.requests.some((method) => method !== 'GET');
  const rows = (hasSent && run.stdout.match(/"status":"(created|resized|renamed|retired|changed)"/g)) || [];
  const made = posts.filter(({ client, reply }) => client === run && reply === 'made');
  const what = [...rows, ...made.map(({ user }) => `a POST of ${user}`)].join(', ');
  return what === '' ? [] : [`${name} is exit ${run.exit} after ${what}: ${run.stderr}`];
}

function notRetired(name: string, licenses: Ended['licenses']): string[] {
  const left = licenses.filter(({ remote_user, size_allowance }) => remote_user === 'ada' || size_allowance !== 1);
  return left.map(({ remote_user }) => `${name} is exit 0, and the license of ${remote_user} is not retired`);
}

interface Row {
  readonly remote_user: string;
  readonly app_code?: number | null;
  /** Of a roster's row. */
  readonly status?: string;
  readonly license: { readonly license_code?: string } | null;
}

/** What was printed; a killed run may have cut its last line. A license alone is a row of one that is done. */
function rowsOf({ stdout }: Process): Row[] {
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => {
    const row = JSON.parse(line) as Row | (Pick<Row, 'remote_user' | 'app_code'> & { readonly license_code: string });
    const remote_user = ownerOf(row.remote_user, row.app_code);
    return 'license_code' in row ? { remote_user, license: row } : { ...row, remote_user };
  });
}

/** Once the faults end, the same command says 0, unless an answer stays open that the server never kept. */
function wrongsOfHealing(line: string, runs: readonly Process[], ended: Ended, limits: readonly string[]): string[] {
  const wrongs = runs.flatMap((run, index) =>
    wrongsOfRun(run, `run ${index + 1} of "${line}" after the faults`, ended, limits),
  );
  const last = runs.at(-1);
  // Of two requests for a user the first one is carried out when the second one is: the run says so.
  const isTwo = runs[0]?.exit === 10 && limits.some((limit) => allowsTwo.has(limit));
  // Each read without an answer counts in the wait of others for the request of a run, and so does each of many runs:
  // the wait may be longer than a deadline.
  const isLong = ended.plan.queue?.reads !== undefined || /listing again in [2-9]m/.test(runs[0]?.stderr ?? '');
  const isSaid = isTwo || (runs[0]?.exit === 7 && isLong);
  if (last?.exit === 0 && runs.length > 1 && !isSaid && !limits.includes('shown after --settle'))
    wrongs.push(`"${line}" is right only in run ${runs.length} after the faults: ${runs[0]?.exit} ${runs[0]?.stderr}`);
  if (last?.exit === 0 || wrongs.length > 0) return wrongs;
  // Where the disk could not keep the record, the history knows of it.
  const isKnown = last?.exit === 9 || last?.stderr.includes('and the server does not show it');
  if (isKnown && limits.includes('answered and not kept')) return wrongs;
  // Its planning run may have been killed, and what another program did since is not what the plan says.
  if (last?.exit === 2 && last.stderr.includes('cannot read /home/ada/plan.ndjson')) return wrongs;
  if (/ --plan /.test(line) && [8, 10].includes(last?.exit ?? 0) && ended.plan.others?.some(({ at }) => at > 0))
    return wrongs;
  if ([7, 8].includes(last?.exit ?? 0) && limits.includes('a holder that cannot be seen')) return wrongs;
  // What was recorded at a moment that is still to come is new to each run: the whole wait begins again.
  if (last?.exit === 7 && isLong && limits.includes('a clock that was set forward')) return wrongs;
  // A person looks at a record that is damaged, and removes it.
  if (last?.exit === 3 && last.stderr.includes('is damaged') && ended.plan.runs.some(({ hurt }) => hurt === 'flip'))
    return wrongs;
  // A person moves the record of a run whose disk could not be written.
  if (last?.exit === 3 && last.stderr.includes('of a run that could not write')) return wrongs;
  // Two spellings are one license there, which is nobody's but for the one that got it.
  if (last?.exit === 6 && ended.plan.shape?.names !== undefined) return wrongs;
  // What a list shows is then no key.
  if (last?.exit === 8 && ended.plan.habits?.keys) return wrongs;
  // A license of the history, or of an answer, that a cut list does not show, or that got another name meanwhile.
  const unshown = line.includes('apply') ? [8, 9] : [6, 9];
  const isGone = limits.includes('behind the end of a list') || ended.plan.runs.some((one) => givesName.test(one.line));
  if (unshown.includes(last?.exit ?? 0) && isGone) return wrongs;
  return [
    ...wrongs,
    `"${line}" still says ${last?.exit ?? 'nothing'} after ${runs.length} runs without faults: ${last?.stderr ?? ''}`,
  ];
}

/**
 * Nothing is left but records. A run that is killed, or whose disk fails, leaves twelve files at most, where nobody
 * sees that it is dead: a lock for each place, others, its sign of life, and a draft. An `apply` may leave a lock for
 * the row before of each of its eight places too, and where the list of all licenses is the lookup for each row of its
 * roster. A power cut kills all runs of a computer.
 */
function leftFiles({ computers, plan, runs }: Ended): string[] {
  const files = computers.flatMap(({ disk, share }) => [...disk.files().keys(), ...(share?.files().keys() ?? [])]);
  const left = [...new Set(files)].filter((path) => /\.(tmp|lock|holder)(\.|$)|\.lock\.|\/live\//.test(path));
  const failed = plan.runs.flatMap(({ fate }) => disksOf(fate ?? {})).length;
  const dead = runs.filter(({ exit }) => exit === undefined);
  const faults = failed + dead.length;
  const { length } = plan.roster ?? [];
  const rows = isByList(plan) ? length : Math.min(length, 8);
  const locked = rows * (failed + dead.filter(({ line }) => line.startsWith('license apply')).length);
  if (left.length <= 12 * faults + locked) return [];
  return [`${faults} runs with faults left ${left.length} files: ${left.join(' ')}`];
}

/** Lines of runs that give a license another name. */
const givesName = /^license (retire|rename|edit|undo)/;
