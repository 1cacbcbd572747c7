import type { MessageRecord } from '../../src/sandbox/records.ts';
import { archiveFolder, awayFolder, closing, heldIn, otherName, purgeLine, type ChatEnded } from './chat-history.ts';
import {
  channelId,
  foldSubject,
  isTopic,
  otherId,
  topic,
  vaultId,
  type Deletion,
  type DeleteCall,
  type Look,
  type Step,
  type Version,
} from './chat-server.ts';
import type { Process } from './computer.ts';
import { spanOf, type Verdict } from './licensing-history.ts';
import { historyLines } from './word-judges.ts';

/** A delete call in progress is waited for by Ctrl-C, and its time limit is the longest there is. */
const grace = 130_000;

/** What no rule allows, and the documented limits that the history met (docs/apis.md, Looks). */
export function judgeChat(ended: ChatEnded): Pick<Verdict, 'wrongs' | 'limits'> {
  const limits = new Set<string>();
  const wrongs = [
    ...unarchived(ended, limits),
    ...idles(ended),
    ...lateCalls(ended),
    ...withoutArchive(ended),
    ...leftFiles(ended),
    ...endsOfNoCall(ended),
    ...heldDeleted(ended, limits),
    ...notNamed(ended),
    ...pricesOf(ended),
    ...sleepsOf(ended),
    ...uncounted(ended),
    ...ended.runs.flatMap((run, index) => wrongsOfRun(run, `run ${index + 1}`, ended, limits)),
    ...ended.healed.flatMap(([line, runs]) => wrongsOfHealing(line, runs, ended, limits)),
  ];
  return { wrongs, limits: [...limits] };
}

/** Each archived message, of all archives and versions, by id: parts that are listed, and changes. */
export function archived({ computer: { disk } }: ChatEnded): ReadonlyMap<number, ReadonlySet<string>> {
  const isArchived = (path: string): boolean =>
    [archiveFolder, awayFolder].some((folder) => path.startsWith(`${folder}/`));
  const files = [...disk.files()].filter(([path]) => isArchived(path));
  const linesOf = (name: RegExp): unknown[] =>
    files
      .filter(([path]) => name.test(path))
      .flatMap(([, content]) => content.toString().split('\n').slice(0, -1))
      .map((line): unknown => JSON.parse(line));
  const listed = new Set((linesOf(/\/parts\.ndjson$/) as { readonly ids: number[] }[]).flatMap(({ ids }) => ids));
  const texts = new Map<number, Set<string>>();
  const keep = (id: number, kept: Shown): void => void texts.set(id, (texts.get(id) ?? new Set()).add(shownOf(kept)));
  for (const { id, ...kept } of linesOf(/\/source-\d+\.ndjson$/) as (Shown & { readonly id: number })[])
    if (listed.has(id)) keep(id, kept);
  for (const { id, message } of linesOf(/\/changes\.ndjson$/) as Change[])
    if (message && message.content_type !== 'text/html') keep(id, message);
  return texts;
}

interface Change {
  readonly id: number;
  readonly message?: Shown & { readonly content_type: string };
}

/** What people change of a message, and an archive keeps. */
type Shown = Pick<MessageRecord, 'content' | 'reactions'>;

export function shownOf({ content, reactions }: Shown): string {
  return `${content} ${reactions.length}`;
}

/**
 * No message left the server by a request of ours that is not in the archive in its last version, but what came after
 * the page of the look that would show it, or below a look that was as deep as it has to be.
 */
function unarchived(ended: ChatEnded, limits: Set<string>): string[] {
  const texts = archived(ended);
  return ended.server.deletions.flatMap((deletion) => {
    const { message, changed, call } = deletion;
    if (texts.get(message.id)?.has(shownOf(message))) return [];
    const look = call.looks.at(-1);
    const isReached = look !== undefined && pageOf([look], message.id) !== undefined;
    const shown = pageOf(call.looks, message.id);
    if (shown && changed >= shown.at && (isReached || isDeep(call, ended))) {
      limits.add(`came or was edited after the look${isReached ? '' : ', which was less deep than the call'}`);
      return isReached ? [] : unnamed(deletion, ended);
    }
    const has = texts.has(message.id) ? 'an older version of it is archived' : 'it is not archived';
    return [`message ${message.id} is deleted, and ${has}`];
  });
}

/** A call follows the last page of its look within this, in milliseconds, with the ways of both. */
const mostLookToCall = 3000;

function lateCalls({ server, plan }: ChatEnded): string[] {
  // A page that comes only after a timeout is one of a slow server.
  if (plan.mishaps?.some(({ call, reply }) => call === 'read' && reply === 'nothing')) return [];
  return server.steps.flatMap((step) => {
    const read = 'size' in step ? step.looks.flatMap(({ pages }) => pages).at(-1)?.at : undefined;
    const isLate = read !== undefined && step.at - read > mostLookToCall && !('stop' in step.client.fate);
    return isLate ? [`a call at ${step.at} follows the last page of its look, at ${read}`] : [];
  });
}

/** The last page that reached a message. */
function pageOf(looks: readonly Look[], id: number): Look['pages'][number] | undefined {
  return looks.flatMap(({ pages }) => pages).findLast(({ low, high }) => low <= id && id <= high);
}

function idsOf({ pages }: Look): Set<number> {
  return new Set(pages.flatMap(({ ids }) => ids));
}

/**
 * A look is at the whole topic, or at three times as many messages as went from one look to the next, if any are gone
 * since the last one, and some of it are left. Who moved or removed a message meanwhile is not seen from outside.
 */
function isDeep(call: DeleteCall, { plan, server }: ChatEnded): boolean {
  // A look whose first request failed shows nothing.
  const looks = call.looks.filter(({ pages }) => pages.length > 0);
  const last = looks.at(-1);
  const went = looks.slice(1).map((look, index) => {
    const before = looks[index];
    const known = before ? idsOf(before) : new Set();
    const isBetween = ({ at, message }: Deletion): boolean =>
      before !== undefined && before.at <= at && at <= look.at && known.has(message.id);
    return server.deletions.filter(isBetween).length;
  });
  if (!last) return false;
  const shown = idsOf(last);
  const earlier = looks.length > 1 ? looks.slice(0, -1) : [last];
  const lastOf = (id: number): Look | undefined => earlier.findLast((look) => pageOf([look], id));
  const known = new Set(earlier.flatMap((look) => [...idsOf(look)].filter((id) => lastOf(id) === look)));
  const reached = [...known].filter((id) => pageOf([last], id));
  const left = reached.filter((id) => shown.has(id)).length;
  if (left === 0 || (looks.length > 1 && left === reached.length)) return false;
  const read = last.pages.filter(({ isSince }) => !isSince).reduce((sum, { ids }) => sum + ids.length, 0);
  return read >= Math.max(plan.sizes?.newest ?? 5000, 3 * Math.max(...went));
}

/**
 * The row of a run says that a call went below its look, once the run has looked again; not of what changed after a
 * look that reached it before a call that had failed was carried out.
 */
function unnamed({ message: { id }, changed, at, call }: Deletion, { runs, server: { steps } }: ChatEnded): string[] {
  const { client } = call;
  const row = runs.includes(client) && client.exit !== undefined ? rowOf(client) : undefined;
  const later = steps.slice(steps.indexOf(call) + 1).filter((step) => step.client === client);
  const pages = later.flatMap((step) => ('pages' in step ? step.pages : []));
  const last = pages.findLast((page) => page.at <= at && page.low <= id && id <= page.high);
  return !row || pages.length === 0 || row.deeper > 0 || (last && changed >= last.at)
    ? []
    : [`message ${id} was deleted below the look, and the row does not say so`];
}

/** Where nobody gives the topic another name, a hold of its name is found, however that is spelled. */
function notNamed({ plan: { keep = [], people = [] }, runs }: ChatEnded): string[] {
  const isNamed = keep.some((hold) => 'topic_name' in hold && hold.topic_name !== otherName);
  if (!isNamed || people.length > 0) return [];
  return runs.flatMap(({ stderr }) => (stderr.includes(': no topic ') ? [`a hold is not found: ${stderr}`] : []));
}

/** A topic that is held is not deleted from, as far as the last look before a call shows. */
function heldDeleted({ plan: { keep = [] }, server }: ChatEnded, limits: Set<string>): string[] {
  const ids = new Set(keep.flatMap((hold) => ('nths' in hold ? heldIn(hold, server) : [])));
  const isBarred = keep.some((hold) => !('nths' in hold) && !('topic_name' in hold && hold.topic_name === otherName));
  return server.steps.flatMap((step) => {
    if (!('size' in step) || keep.length === 0) return [];
    const shown = step.looks.at(-1);
    if (step.deleted > 0 && (isBarred || [...ids].some((id) => shown && idsOf(shown).has(id))))
      return [`a call at ${step.at} deletes ${step.deleted} messages of a topic that is held`];
    const taken = server.deletions.filter(({ call, message }) => call === step && ids.has(message.id));
    return taken.flatMap(({ message, changed }) => {
      const page = pageOf(step.looks, message.id);
      limits.add('a held message came after the look');
      return page && changed >= page.at ? [] : [`message ${message.id} is held, and was deleted`];
    });
  });
}

/** Where nothing happens but one run, it has an exact price: its requests, no sleep, and a row that tells all. */
function pricesOf({ plan, runs: [run] }: ChatEnded): string[] {
  const { people = [], mishaps = [], runs, messages, level, sizes, batches, take, perHour, keep } = plan;
  const isSlow = batches === 1;
  const isCalm =
    !isSlow && people.length + mishaps.length === 0 && !take && perHour === undefined && !keep && runs.length === 1;
  const isCut = runs[0]?.options?.includes('--deadline') ?? false;
  if (!run || !isCalm || isCut || Object.keys(runs[0]?.fate ?? {}).length > 0) return [];
  const wrongs = run.exit === 0 ? [] : [`a run without a fault is exit ${run.exit}: ${run.stderr}`];
  if (run.slept > 0) wrongs.push(`a run without a fault sleeps ${run.slept / 1000} s`);
  const row = rowOf(run);
  const isAll = row?.status === 'deleted' && row.deleted === messages && row.arrived === 0 && row.deeper === 0;
  if (!isAll) wrongs.push(`a run without a fault tells of ${messages} messages: ${run.stdout}`);
  const price = run.requests.length;
  if (level === 489 && !sizes && price !== purgePrice)
    wrongs.push(`a run without a fault sends ${price} requests, and not ${purgePrice}`);
  return wrongs;
}

/**
 * Where one response is lost or refused, and not for a time that the server names, a run sleeps as for one retry. Old
 * servers answer each call that leaves messages with an error, after which a purge waits.
 */
function sleepsOf({ plan, runs }: ChatEnded): string[] {
  const { mishaps = [], take, perHour } = plan;
  const isCalm =
    (plan.level ?? Infinity) >= 154 &&
    take === undefined &&
    perHour === undefined &&
    mishaps.length === 1 &&
    mishaps[0]?.reply !== '429' &&
    mishaps[0]?.stays !== true;
  if (!isCalm || plan.runs.some(({ fate }) => fate?.disk !== undefined)) return [];
  return runs.flatMap(({ slept }) =>
    slept > mostSlept ? [`a run beside one lost response sleeps ${slept / 1000} s`] : [],
  );
}

const mostSlept = 5000;

/** Where nobody else takes messages, the history of an ended purge counts those that the server deleted. */
function uncounted({ computer, plan, server }: ChatEnded): string[] {
  if ((plan.people ?? []).length > 0 || plan.take || plan.runs.some(({ fate }) => fate?.disk !== undefined)) return [];
  const [last] = historyLines(computer.disk.files())
    .map((line) => JSON.parse(line) as Row & { readonly event: string })
    .slice(-1);
  if (last?.event !== 'purged' || last.status !== 'deleted' || last.deleted === server.deletions.length) return [];
  return [`the history tells that ${last.deleted} messages were deleted, ${server.deletions.length} were`];
}

/** Requests of a purge of one page, in one call. */
const purgePrice = 17;

interface Row {
  readonly arrived: number;
  readonly status: string;
  readonly deleted: number;
  readonly deeper: number;
}

function rowOf({ stdout }: Process): Row | undefined {
  const [line] = stdout.split('\n').slice(0, -1);
  return line === undefined ? undefined : (JSON.parse(line) as Row);
}

/** In the record of a purge an end of a call follows a call that was asked. */
function endsOfNoCall({ computer: { disk } }: ChatEnded): string[] {
  return [...disk.files()].flatMap(([path, content]) => {
    if (!path.endsWith('/purge.ndjson')) return [];
    const calls = content.toString().match(/(?<="call":")\w+/g) ?? [];
    const isNone = calls.some((call, at) => call !== 'asked' && calls[at - 1] !== 'asked');
    return isNone ? [`${path} has the end of a call that was not asked: ${calls.join(', ')}`] : [];
  });
}

/** A run with a fault leaves what it wrote, its locks, also of the history, and its sign of life; others nothing. */
export function leftFiles({ computer, plan }: ChatEnded): string[] {
  const own =
    /\/(archive\.json|\w+\.ndjson|(source|rendered|history)-\d+\.ndjson|files\/[\da-f]{16}-.+)$|\.ndjson\.done$|\/here-\w+$/;
  const left = [...computer.disk.files().keys()].filter((path) => !own.test(path) && !path.startsWith(awayFolder));
  const faults = plan.runs.filter(({ fate }) => Object.keys(fate ?? {}).length > 0).length;
  return left.length > 5 * faults ? [`${faults} runs with faults left ${left.length} files: ${left.join(', ')}`] : [];
}

/** No run hangs, waits beyond its deadline, or has an error of the program. */
export function endOf(run: Process, name: string): string[] {
  if (run.isAlive) return [`${name} hangs`];
  const wrongs: string[] = [];
  if (run.exit === 1) wrongs.push(`${name} is exit 1: ${run.stderr}`);
  const deadline = spanOf(run, 'deadline');
  if (run.exit !== undefined && run.ended !== undefined && run.ended - run.started > deadline + grace)
    wrongs.push(`${name} waited ${(run.ended - run.started) / 1000} s, its --deadline is ${deadline / 1000} s`);
  return wrongs;
}

/** What a run said is true of the server at its end. */
function wrongsOfRun(run: Process, name: string, ended: ChatEnded, limits: Set<string>): string[] {
  const wrongs = endOf(run, name);
  if (run.exit === undefined) return wrongs;
  const printed = run.line.startsWith('topic delete') ? rowOf(run) : undefined;
  if (!printed) return wrongs;
  const row = afterSearch(run, printed, ended);
  wrongs.push(...misplaced(run, name, ended));
  const { server } = ended;
  const byOthers = takenForDeleted([...server.unseen.keys()], run, ended);
  if (byOthers.length > 0) limits.add('left the sight of the account during an answered call');
  const until = run.ended ?? Infinity;
  const deleted = server.deletions.filter(({ at }) => at <= until).length + byOthers.length;
  // What earlier runs found elsewhere one that a signal ends before it searches does not know.
  const isEnded = [129, 130, 143].includes(run.exit);
  const elsewhere = row.deleted > deleted ? unasked(run, ended) : [];
  const moved = isEnded ? elsewhere : takenForDeleted(elsewhere, run, ended);
  if (moved.length > 0) limits.add('ended before it asked for messages by their ids');
  const movedOn = row.deleted > deleted ? takenForDeleted(neverMet(run, ended), run, ended) : [];
  if (movedOn.length > 0) limits.add('was moved again while it was searched for');
  if (row.deleted > deleted + new Set([...moved, ...movedOn]).size)
    wrongs.push(`${name} says that ${row.deleted} are deleted, ${deleted} are`);
  if (row.status === 'unseen') wrongs.push(...unansweredOf(run, name, ended));
  wrongs.push(...otherwiseTold(run, row, { name, ended }));
  if (row.status !== 'deleted' && row.status !== 'missing')
    return run.exit === 0 && !(row.status === 'unseen' && run.line.includes(closing))
      ? [...wrongs, `${name} is exit 0 with ${row.status}`]
      : wrongs;
  const gone = new Set([...server.deletions.map(({ message }) => message.id), ...byOthers]);
  // What people move back when it has looked for the last time it cannot tell.
  const last = server.steps.findLast((step) => step.client === run && 'pages' in step && step.pages[0])?.at ?? until;
  const alive = server.first.filter((id) => {
    const message = server.versions.get(id)?.findLast(({ at }) => at < last)?.message;
    return !gone.has(id) && isInTopic(message) && isInTopic(versionAt(id, run, ended)?.message);
  });
  // Nor what came back before the server said, wrongly, that the topic is empty.
  const { mishaps = [], people = [] } = ended.plan;
  const isLied = mishaps.some(({ reply }) => reply === 'empty') && people.some(({ does }) => does === 'back');
  if (alive.length > 0 && !isLied)
    wrongs.push(`${name} says that the topic is deleted, and ${alive.length} of its messages are there`);
  return wrongs;
}

/** A row is printed before private channels are searched: what is found is named, and the history has the rest. */
function afterSearch(run: Process, row: Row, ended: ChatEnded): Row {
  const [, named] = /(\d+) of \d+ messages were not deleted and are in/.exec(run.stderr) ?? [];
  if (named === undefined || run.exit !== 8 || row.status === 'incomplete') return row;
  const told = toldOf(run, ended).find(({ status }) => status === 'incomplete');
  return { ...row, deleted: told?.deleted ?? row.deleted - Number(named), status: 'incomplete' };
}

/** The ends of purges that the history of the computer tells of the time of a run. */
function toldOf({ started, ended: end = Infinity }: Process, { computer }: ChatEnded) {
  return historyLines(computer.disk.files())
    .map((line) => JSON.parse(line) as Row & { readonly event: string; readonly time: string })
    .filter(({ event, time }) => event !== 'purging' && Date.parse(time) >= started - 1 && Date.parse(time) <= end);
}

/** What the history of the computer tells of the end of a purge is what its run printed. */
function otherwiseTold(
  run: Process,
  { deleted, arrived, status }: Row,
  { name, ended }: { readonly name: string; readonly ended: ChatEnded },
): string[] {
  const { started, ended: end = Infinity } = run;
  const { plan, runs } = ended;
  // A line that the disk did not take is a warning; those of runs at one time are not told apart.
  const atOnce = runs.filter((one) => one.started <= end && (one.ended ?? Infinity) >= started);
  if (atOnce.length > 1 || plan.runs.some(({ fate }) => fate?.disk !== undefined)) return [];
  const told = toldOf(run, ended);
  const isSame = told.some((one) => one.deleted === deleted && one.arrived === arrived && one.status === status);
  if (told.length === 0 || isSame) return [];
  return [
    `${name} prints ${deleted} deleted, ${arrived} arrived, ${status}: the history tells ${JSON.stringify(told)}`,
  ];
}

/** The places that a run names for messages which were not deleted are those of some of them since its last looks. */
function misplaced(run: Process, name: string, { server }: ChatEnded): string[] {
  const [, text = ''] = /messages were not deleted and are in ('.*?')(?:; \d|$|\n|"|\\)/.exec(run.stderr) ?? [];
  if (text === '') return [];
  const places = new Set<string>();
  const named = ({ stream_id, subject }: Partial<MessageRecord>): string =>
    `${String(stream_id)} > ${foldSubject(subject)}`;
  for (const id of server.versions.keys())
    for (const message of versionsSince(id, run, { server })) {
      if (message) places.add(named(message));
      if (message?.cached) places.add(named(message.cached));
    }
  return text.split(/(?<='), (?=')/).flatMap((quoted) => {
    const [channel = '', ...subject] = quoted.slice(1, -1).split(' > ');
    const ids = server.state.channels
      .rows()
      .flatMap((row) =>
        row.name.replace(/(-too)+$/, '') === channel.slice(1).replace(/(-too)+$/, '') ? [row.stream_id] : [],
      );
    const title = subject.join(' > ');
    const place = `${ids[0]} > ${foldSubject(title)}`;
    const isOwn = place === `${channelId} > ${topic}`;
    const isBack = [...server.versions.keys()].some((id) => {
      const since = versionsSince(id, run, { server });
      const left = since.findIndex((message) => !isInTopic(message));
      return since.slice(Math.max(left, 0)).some(isInTopic);
    });
    if (ids.length > 0 && places.has(place) && (!isOwn || isBack)) return [];
    return [`${name} names a place where the messages are not: ${quoted}`];
  });
}

/**
 * What a run may know when it ends: all that it did, and of earlier runs each call, with the looks before it. The first
 * look after the last call of an earlier run may be recorded too.
 */
function knownTo(run: Process, { server: { steps } }: ChatEnded, hasLast: boolean): Step[] {
  const until = run.ended ?? Infinity;
  const isFollowed = (look: Look): boolean => steps.some((step) => 'size' in step && step.looks.includes(look));
  const isAfterLast = (look: Look): boolean => {
    const own = steps.filter(({ client }) => client === look.client);
    const later = own.slice(own.findLastIndex((step) => 'size' in step) + 1);
    // A look that was refused, as with 429, is asked for again.
    return later.find((step) => 'pages' in step && step.pages.length > 0) === look;
  };
  return steps.filter(
    (step) =>
      step.at <= until && (step.client === run || 'size' in step || isFollowed(step) || (hasLast && isAfterLast(step))),
  );
}

/** What a run was told of its call; nothing where it ended before. */
function endHeard({ client, end }: DeleteCall): 'answered' | 'crossed' | 'failed' | undefined {
  return end && end.at < (client.ended ?? Infinity) ? end.is : undefined;
}

/**
 * Messages that other people took out of sight, and that a run may take for deleted (docs/apis.md, What a purge knows
 * of a message): the last look at them was followed by a call, that was answered, or failed and a later one was
 * answered, and no newer message was left. Not in the first answered call after a 500.
 */
function takenForDeleted(ids: readonly number[], run: Process, ended: ChatEnded): number[] {
  // Of those that a sample finds elsewhere nothing is concluded, as long as they were to be seen in its last looks.
  const isSampled = /at least \d+ of \d+ messages were not deleted and are in/.test(run.stderr);
  const left = isSampled ? ids.filter((id) => versionsSince(id, run, ended).some((one) => !isVisible(one))) : ids;
  // The record of earlier calls went with the archive that was taken away.
  const begun = ended.taken < run.started ? [-Infinity, ended.taken] : [-Infinity];
  const found = begun.flatMap((since) =>
    [false, true].flatMap((hasLast) => {
      const steps = knownTo(run, ended, hasLast).filter(({ client }) => client.started >= since);
      return [false, true].flatMap((isLost) => takenAfter(steps, left, { ended, isLost }));
    }),
  );
  return [...new Set(found)];
}

/** What a message was from the look before the last one of a run to its end. */
function versionsSince(
  id: number,
  run: Process,
  { server: { steps, versions } }: Pick<ChatEnded, 'server'>,
): readonly Version['message'][] {
  const looks = steps.filter((step) => 'pages' in step && step.client === run);
  const since = looks.at(-2)?.at ?? run.started;
  const all = (versions.get(id) ?? []).filter(({ at }) => at <= (run.ended ?? Infinity));
  const first = all.findLastIndex(({ at }) => at <= since);
  return all.slice(Math.max(0, first)).map(({ message }) => message);
}

/** What a message was when a run ended. */
function versionAt(
  id: number,
  { ended: end = Infinity }: Process,
  { server }: Pick<ChatEnded, 'server'>,
): Version | undefined {
  return server.versions.get(id)?.findLast(({ at }) => at <= end);
}

/**
 * Messages that were renamed, and for which a run that was ended, or whose request failed, did not come to ask; another
 * failure of a purge keeps it from the search in private channels.
 */
function unasked(run: Process, ended: ChatEnded): number[] {
  const isEnded = [129, 130, 143].includes(run.exit ?? 0);
  const isCut = isEnded || /"http":|the deadline of/.test(run.stderr);
  if (run.exit === 0) return [];
  // A signal in a search takes what it has found so far; after one that ends the topic is read.
  const lastLook = ended.server.steps.findLast((step) => step.client === run && 'pages' in step)?.at ?? 0;
  return [...ended.server.versions.keys()].filter((id) => {
    const now = versionAt(id, run, ended);
    const isAsked = ended.server.asked.some(
      ({ client, at, ids, channels }) =>
        client === run &&
        at > (now?.at ?? 0) &&
        (!isEnded || at < lastLook) &&
        ids.includes(id) &&
        channels.includes(vaultId) === (now?.message?.stream_id === vaultId),
    );
    const isMeant = isCut || now?.message?.stream_id === vaultId;
    return isMeant && !isAsked && isVisible(now?.message) && !isInTopic(now.message);
  });
}

/** Messages that a run asked for in all channels, in none of them while they were there. */
function neverMet(run: Process, { server: { asked, versions } }: ChatEnded): number[] {
  return [...versions].flatMap(([id, all]) => {
    const requests = asked.filter(({ client, ids }) => client === run && ids.includes(id));
    const everywhere = new Set(requests.flatMap(({ channels }) => channels));
    const isWhole = [channelId, otherId, vaultId].every((channel) => everywhere.has(channel));
    const isMet = requests.some(({ at: time, channels }) => {
      const message = all.findLast(({ at }) => at <= time)?.message;
      return !isVisible(message) || channels.some((channel) => channel === message.stream_id);
    });
    return isWhole && !isMet ? [id] : [];
  });
}

/** `isLost`: a process that was killed right after it heard how its last call ended could not record that. */
function takenAfter(
  steps: readonly Step[],
  ids: readonly number[],
  { ended, isLost }: { readonly ended: ChatEnded; readonly isLost: boolean },
): number[] {
  const heardOf = (call: DeleteCall): ReturnType<typeof endHeard> => {
    const isLast = ended.server.steps.findLast((step) => step.client === call.client && 'size' in step) === call;
    return isLost && isLast && call.client.exit === undefined ? undefined : endHeard(call);
  };
  const calls = steps.flatMap((step, at) => ('size' in step ? [{ at, is: heardOf(step) }] : []));
  const isThere = (id: number, time: number): boolean =>
    isInTopic(ended.server.versions.get(id)?.findLast(({ at }) => at <= time)?.message);
  return ids.flatMap((id) => {
    const shown = steps.findLastIndex((step) => 'pages' in step && idsOf(step).has(id));
    const next = steps.findIndex((step, at) => at > shown && 'pages' in step && pageOf([step], id) !== undefined);
    if (shown < 0 || next < 0) return [];
    const known = new Set(steps.slice(0, next).flatMap((step) => ('pages' in step ? [...idsOf(step)] : [])));
    const after = steps[next];
    const isNewer = (other: number): boolean => other > id && known.has(other) && isThere(other, after?.at ?? 0);
    const isPassed = after && 'pages' in after && [...idsOf(after)].some(isNewer);
    const own = calls.findLast(({ at }) => at > shown && at < next);
    if (isPassed || !own?.is) return [];
    if (own.is !== 'answered') return calls.some(({ at, is }) => at > own.at && is === 'answered') ? [id] : [];
    const crossed = calls.findLastIndex(({ at, is }) => at < own.at && is === 'crossed');
    const isSettled = calls.slice(crossed + 1).some(({ at, is }) => at < own.at && is === 'answered');
    return crossed >= 0 && !isSettled ? [] : [id];
  });
}

/** A run that sent no call says of the last one, whose client was killed before the answer, how many were left. */
function unansweredOf(run: Process, name: string, ended: ChatEnded): string[] {
  const calls = knownTo(run, ended, false).filter((step) => 'size' in step);
  const last = calls.at(-1);
  const { ended: until = Infinity } = run;
  // Whoever was killed after a look may have recorded a call that was not sent.
  const isLast = last && !ended.server.steps.some(({ at, client }) => at > last.at && at < until && client !== run);
  const isTaken = run.stderr.includes('was taken away');
  if (!isLast || isTaken || last.client === run || last.client.exit !== undefined) return [];
  const [, count] =
    /last delete call (?:of an earlier run had no response|failed); (\d+) messages were left/.exec(run.stderr) ?? [];
  // A run that ends with another failure says that one.
  if (count === undefined && (last.end?.is === 'answered' || (run.exit !== 8 && run.exit !== 0))) return [];
  // People may have come between the look and the call.
  const { people = [], messages } = ended.plan;
  const between = people.reduce((sum, { does }) => sum + (does === 'hide-all' || does === 'rename' ? messages : 1), 0);
  // Where the last call was answered, an earlier one was not.
  const isTrue = calls.some(({ size }) => Math.abs(Number(count) - size) <= between);
  return isTrue ? [] : [`${name} says of the last call, before which ${last.size} were left: ${run.stderr}`];
}

/** Between the look at the archive and the arrival of the call, in milliseconds. */
const lookToCall = 1000;

/** No run goes on deleting when its archive, which it has from its first look on, does not lie where it was. */
function withoutArchive({ server, taken }: ChatEnded): string[] {
  const robbed = new Set(server.steps.flatMap(({ client, at }) => (at <= taken ? [client] : [])));
  const late = server.steps.filter(
    (step) => 'size' in step && robbed.has(step.client) && step.at > taken + lookToCall && step.size > 0,
  );
  return late.map(({ at }) => `a call at ${at} deletes, and the archive was taken away at ${taken}`);
}

/** Calls in a row after which nothing is gone, in one run. */
const mostIdle = 6;

/** A run whose calls delete nothing, one after the other, gives up. */
function idles({ server, runs }: ChatEnded): string[] {
  return runs.flatMap((run, index) => {
    const calls = server.steps.filter((step) => step.client === run && 'deleted' in step);
    const [idle, most] = calls.reduce(
      ([row, longest], step) => {
        const now = 'deleted' in step && step.deleted === 0 ? row + 1 : 0;
        return [now, Math.max(longest, now)];
      },
      [0, 0],
    );
    return most > mostIdle ? [`run ${index + 1} sent ${most} calls in a row that deleted nothing (${idle})`] : [];
  });
}

/** Once the faults end, the same command ends: all is deleted, or it names what somebody else did to the messages. */
function wrongsOfHealing(line: string, runs: readonly Process[], ended: ChatEnded, limits: Set<string>): string[] {
  const wrongs = runs.flatMap((run, index) =>
    wrongsOfRun(run, `run ${index + 1} of "${line}" after the faults`, ended, limits),
  );
  const last = runs.at(-1);
  const { plan } = ended;
  // Not an error of the purge: the topic has no messages left, and a killed run may not have said so.
  if (wrongs.length > 0 || last?.exit === 0 || last?.exit === 5) return wrongs;
  // A topic that is held is a refusal.
  if (last?.exit === 6 && plan.keep && line.startsWith(purgeLine)) return wrongs;
  if (last?.exit === 8 && ended.healed.some(([other]) => other === line + closing)) {
    limits.add('closed by --missing-ok');
    return wrongs;
  }
  // Somebody took the archive away while it was written: a person has to put its files back.
  if (last?.exit === 8 && plan.take && last.stderr.includes('is damaged')) return wrongs;
  const does = new Set(plan.people?.map((deed) => deed.does));
  // What is elsewhere now is named, and deleted under that name; a pull tells what it could not see.
  const isElsewhere = (['vault', 'move', 'rename', 'newer'] as const).some((deed) => does.has(deed));
  if (last?.exit === 8 && (isElsewhere || !line.startsWith(purgeLine))) return wrongs;
  return [
    ...wrongs,
    `"${line}" still says ${last?.exit ?? 'nothing'} after ${runs.length} runs without faults: ${last?.stderr ?? ''}`,
  ];
}

/** In a channel that the account can read. */
export function isVisible(message: MessageRecord | undefined): message is MessageRecord {
  return message !== undefined && [channelId, otherId, vaultId].some((id) => id === message.stream_id);
}

function isInTopic(message: MessageRecord | undefined): boolean {
  return isTopic(message?.subject) && message?.stream_id === channelId;
}
