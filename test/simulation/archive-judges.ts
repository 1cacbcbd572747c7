import type { MessageRecord } from '../../src/sandbox/records.ts';
import { archiveFolder, type ChatEnded } from './chat-history.ts';
import { endOf, isVisible, leftFiles } from './chat-judges.ts';
import { hashOf, judgeFiles, lacksFiles } from './file-judges.ts';
import { channelId, foldSubject, isTopic } from './chat-server.ts';
import type { Process } from './computer.ts';
import type { Verdict } from './licensing-history.ts';

interface Part {
  readonly part: number;
  readonly late?: boolean;
  readonly ids: readonly number[];
  readonly rendered?: PartFile;
  readonly source?: PartFile;
}

interface PartFile {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface Kept {
  readonly id: number;
  readonly content: string;
  readonly stream_id: number;
  readonly subject: string;
}

interface Change {
  readonly id: number;
  readonly change: 'edited' | 'moved' | 'gone' | 'back';
  readonly seen: string;
  readonly message?: Kept;
  readonly from?: Partial<Pick<Kept, 'stream_id' | 'subject'>>;
  readonly to?: Partial<Pick<Kept, 'stream_id' | 'subject'>>;
}

/** What the files of the archive say, read as docs/archive-format.md describes them. */
interface Archive {
  readonly parts: readonly Part[];
  readonly source: ReadonlyMap<number, Kept>;
  readonly rendered: ReadonlyMap<number, Kept>;
  readonly changes: readonly Change[];
  readonly wrongs: readonly string[];
}

/** What no rule allows of a pull, and the documented limits that the history met (docs/archive-format.md). */
export function judgeArchive(ended: ChatEnded): Pick<Verdict, 'wrongs' | 'limits'> {
  const limits = new Set<string>();
  const archive = readArchive(ended);
  const healed = ended.healed.flatMap(([, runs]) => runs);
  const wrongs = [
    ...[...ended.runs, ...healed].flatMap((run, index, runs) => [
      ...endOf(run, `run ${index + 1}`),
      ...untruths(run, `run ${index + 1}`, archive, runs),
    ]),
    ...archive.wrongs,
    ...leftFiles(ended),
    ...inventions(ended, archive, limits),
    ...gaps(ended, archive, [...ended.runs, ...healed], limits),
    ...oldNews(ended, archive, limits),
    ...pricesOf(ended),
    ...readsOnce(ended),
    ...judgeFiles(ended, textsIn(archive)),
    ...rechecksAgain(ended),
    ...ended.healed.flatMap(([line, runs]) => unhealed(line, runs, ended, archive, limits)),
  ];
  return { wrongs, limits: [...limits] };
}

function readArchive({ computer: { disk } }: ChatEnded): Archive {
  const files = disk.files();
  const linesOf = (name: string): unknown[] => {
    const text = files.get(`${archiveFolder}/${name}`)?.toString() ?? '';
    return text
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line));
  };
  // Of several lines of a part the last one counts.
  const parts = [...new Map((linesOf('parts.ndjson') as Part[]).map((part) => [part.part, part])).values()];
  const wrongs: string[] = [];
  const read = (form: 'source' | 'rendered'): ReadonlyMap<number, Kept> =>
    new Map(
      parts.flatMap((part) => {
        const listed = part[form];
        if (!listed) return [];
        const bytes = files.get(`${archiveFolder}/${listed.file}`);
        if (!bytes || bytes.length !== listed.bytes || hashOf(bytes) !== listed.sha256) {
          wrongs.push(`${listed.file} is not as its line says`);
          return [];
        }
        const kept = linesOf(listed.file) as Kept[];
        if (kept.map(({ id }) => id).join() !== part.ids.join())
          wrongs.push(`${listed.file} has other messages than its line`);
        return kept.map((message) => [message.id, message] as const);
      }),
    );
  const ids = parts.filter(({ late }) => late !== true).flatMap((part) => part.ids);
  if (ids.some((id, at) => id <= (ids[at - 1] ?? 0))) wrongs.push('the ids of the parts do not ascend');
  const all = parts.flatMap((part) => part.ids);
  if (new Set(all).size < all.length) wrongs.push('an id is in two parts');
  return {
    ...{ parts, source: read('source'), rendered: read('rendered'), wrongs },
    changes: linesOf('changes.ndjson') as Change[],
  };
}

/** What the archive has of all versions of its messages. */
function textsIn({ source, rendered, changes }: Archive): string[] {
  const later = changes.flatMap(({ message }) => message ?? []);
  return [...source.values(), ...rendered.values(), ...later].map(({ content }) => content);
}

/** Each message that is kept is one that the server had, in a version and at a place that it had or showed. */
function inventions({ server, plan }: ChatEnded, archive: Archive, limits: Set<string>): string[] {
  const had = (id: number, isSame: (message: MessageRecord) => boolean): boolean =>
    server.versions.get(id)?.some(({ message }) => message && isSame(message)) ?? false;
  const isAt = ({ stream_id, subject }: Kept, message: MessageRecord): boolean =>
    [message, message.cached].some(
      (place) => place?.stream_id === stream_id && foldSubject(place.subject) === foldSubject(subject),
    );
  const untrue = (form: 'content' | 'rendered') => (kept: Kept) =>
    had(kept.id, (message) => message[form] === kept.content && isAt(kept, message))
      ? []
      : [`the archive has message ${kept.id} as it never was: ${kept.content} in ${kept.subject}`];
  const torn = [...archive.source.values()].flatMap((source) => {
    const rendered = archive.rendered.get(source.id);
    const isOne = (message: MessageRecord): boolean => message.content === source.content;
    if (!rendered || had(source.id, (message) => isOne(message) && message.rendered === rendered.content)) return [];
    // Two edits of one second have one time.
    limits.add('edited between the requests of two forms, twice in one second');
    const times = (server.versions.get(source.id) ?? []).map(({ message }) => editTime(message, plan.level));
    return times.some((time, at) => time !== undefined && time === times[at + 1])
      ? []
      : [`the two forms of message ${source.id} are of two versions`];
  });
  return [
    ...[...archive.source.values()].flatMap(untrue('content')),
    ...[...archive.rendered.values()].flatMap(untrue('rendered')),
    ...archive.changes.flatMap(({ message }) =>
      message ? untrue(archive.source.size > 0 ? 'content' : 'rendered')(message) : [],
    ),
    ...torn,
  ];
}

/**
 * What was in the selection throughout a run that said 0 is there, in each form: after a recheck all; after another
 * pull what is not below the last ids that it looks at again, or was there from the first run on.
 */
function gaps(ended: ChatEnded, archive: Archive, runs: readonly Process[], limits: Set<string>): string[] {
  const begun = Math.min(...runs.map(({ started }) => started));
  const good = runs.filter(({ exit, line }) => exit === 0 && line.startsWith('archive pull'));
  const last = good.at(-1);
  if (!last) return [];
  const isSelected = selectionOf(last.line);
  const forms = formsOf(last.line);
  const { window = 1000 } = ended.plan.sizes ?? {};
  const lastBefore = Math.max(0, ...archive.parts.flatMap(({ ids }) => ids));
  return [...ended.server.versions].flatMap(([id, versions]) => {
    const stayed = good.findLast(({ started, ended: end = 0, line }) => {
      const until = versions.filter(({ at }) => at <= end);
      const isSeen = isRecheck(line) || id > lastBefore - window;
      const since = Math.max(isSeen ? started : begun, versions[0]?.at ?? 0);
      const before = until.findLast(({ at }) => at <= since);
      return (
        since <= started && [before, ...until.filter(({ at }) => at > since)].every((one) => isSelected(one?.message))
      );
    });
    if (!stayed) {
      if (isSelected(versions.at(-1)?.message) && !archive.parts.some(({ ids }) => ids.includes(id)))
        limits.add('came into the selection below what was archived');
      return [];
    }
    const lacking = forms.filter((form) => !archive[form].has(id));
    return lacking.map((form) => `message ${id} was there throughout a run that said 0, and is not archived (${form})`);
  });
}

/** After the last recheck without faults the archive knows of each message what the server has. */
function oldNews(ended: ChatEnded, archive: Archive, limits: Set<string>): string[] {
  const recheck = ended.healed.flatMap(([, runs]) => runs).findLast(({ line, exit }) => isRecheck(line) && exit === 0);
  if (!recheck) return [];
  const form = archive.source.size > 0 ? 'source' : 'rendered';
  return [...archive[form].values()].flatMap((kept) => {
    const message = ended.server.versions.get(kept.id)?.at(-1)?.message;
    const own = archive.changes.filter(({ id }) => id === kept.id);
    const last = own.at(-1)?.change;
    if (!isVisible(message))
      return last === 'gone' ? [] : [`message ${kept.id} is not visible, and a recheck says ${last ?? 'nothing'}`];
    if (last === 'gone') return [`message ${kept.id} is visible, and a recheck says that it is gone`];
    const shown = own.findLast((change) => change.message)?.message ?? kept;
    if (shown.content !== message[form === 'source' ? 'content' : 'rendered']) {
      // Below level 365 the time of an edit is that of a move too.
      const isMoveToo = (ended.plan.level ?? 0) < 365;
      const times = (ended.server.versions.get(kept.id) ?? []).map(({ message: one }) =>
        Math.max(one?.last_edit_timestamp ?? 0, (isMoveToo && one?.last_moved_timestamp) || 0),
      );
      const isTwice = times.some((time, at) => time > 0 && time === times[at - 1]);
      if (form !== 'rendered' || !isTwice)
        return [`message ${kept.id} has another text, and a recheck did not record it`];
      limits.add('edited twice in one second, in an archive of rendered messages alone');
      return [];
    }
    if (placeOf(shown) === placeOf(message)) return [];
    return [`message ${kept.id} is in ${message.subject}, and a recheck says ${last ?? 'nothing'} of ${shown.subject}`];
  });
}

/** Before level 365, as the sandbox has it, a move is an edit. */
function editTime(message: MessageRecord | undefined, level = Infinity): number | undefined {
  const { last_edit_timestamp: edited, last_moved_timestamp: moved } = message ?? {};
  return level < 365 && moved !== undefined ? Math.max(edited ?? moved, moved) : edited;
}

function placeOf({ stream_id, subject }: { readonly stream_id?: number; readonly subject?: string }): string {
  return `${stream_id} ${foldSubject(subject)}`;
}

function isIn({ started, ended = Infinity }: Process, { seen }: Change): boolean {
  return started <= Date.parse(seen) && Date.parse(seen) <= ended;
}

interface Row {
  readonly messages: number;
  readonly added: number;
  readonly edited?: number;
  readonly moved?: number;
  readonly gone?: number;
  readonly back?: number;
}

/** Undefined where its reader left before it, and of a run that failed. */
function rowOf({ exit, stdout }: Process): Row | undefined {
  const [line] = stdout.split('\n').slice(0, -1);
  return exit === 0 && line !== undefined ? (JSON.parse(line) as Row) : undefined;
}

function findsChanges(recheck: Process): boolean {
  const { edited, moved, gone, back }: Partial<Row> = rowOf(recheck) ?? {};
  return [edited, moved, gone, back].some((count = 0) => count > 0);
}

/** A recheck after a recheck, between which nobody acted, finds no change. */
function rechecksAgain({ healed }: ChatEnded): string[] {
  return healed.flatMap(([line, runs], index) => {
    const [before, run] = [healed[index - 1], runs.at(-1)];
    const isAgain = isRecheck(line) && before?.[0] === line && before[1].at(-1)?.exit === 0;
    return isAgain && run && findsChanges(run) ? [`a recheck right after a recheck finds changes: ${run.stdout}`] : [];
  });
}

/** A page of which messages were moved, once, is read again. */
function readsOnce({ plan: { people = [], mishaps = [], perHour, runs: planned }, runs }: ChatEnded): string[] {
  const isOne = people.length === 1 && people[0]?.does === 'newer' && mishaps.length === 0 && perHour === undefined;
  if (!isOne || planned.some(({ fate = {} }) => Object.keys(fate).length > 0)) return [];
  return runs.flatMap(({ exit, line, stderr }) =>
    stderr.includes('ignored the narrow')
      ? [`"${line}" (${exit}) does not read a page again of which messages were moved: ${stderr}`]
      : [],
  );
}

/** Where nobody acts and no fault happens, a pull has an exact price, and a recheck finds no change. */
function pricesOf({ plan, runs, healed }: ChatEnded): string[] {
  const { people = [], mishaps = [], messages, elsewhere = 0, perHour, files } = plan;
  if (people.length > 0) return [];
  const all = [...runs, ...healed.flatMap(([, tries]) => tries)];
  const wrongs = all.flatMap((run) =>
    isRecheck(run.line) && findsChanges(run) ? [`a recheck finds changes that nobody made: ${run.stdout}`] : [],
  );
  const isOfAll = !files?.mishaps?.length && plan.sizes?.file === undefined;
  const isCalm = mishaps.length === 0 && perHour === undefined && isOfAll && plan.runs.length === 1;
  const isCut = plan.runs[0]?.options?.includes('--deadline') ?? false;
  const [run] = runs;
  if (!run || !isCalm || isCut || Object.keys(plan.runs[0]?.fate ?? {}).length > 0) return wrongs;
  const count = messages + (run.line.includes('--topic') ? 0 : elsewhere);
  const row = rowOf(run);
  if (row?.messages !== count || row.added !== count) wrongs.push(`a pull of ${count} messages tells ${run.stdout}`);
  if (run.slept > 0) wrongs.push(`a pull without a fault sleeps ${run.slept / 1000} s`);
  return wrongs;
}

/** The counts of a run are those of the files. Meanwhile another one may have recorded changes. */
function untruths(run: Process, name: string, archive: Archive, runs: readonly Process[]): string[] {
  const row = run.line.startsWith('archive pull') ? rowOf(run) : undefined;
  if (!row) return [];
  const kept = archive.parts.reduce((sum, { ids }) => sum + ids.length, 0);
  const wrongs: string[] = [];
  if (row.messages > kept || row.added > row.messages)
    wrongs.push(`${name} says that ${row.messages} are archived, ${row.added} of them new; ${kept} are`);
  for (const kind of ['edited', 'moved', 'gone', 'back'] as const) {
    const lines = archive.changes.filter((change) => change.change === kind && isIn(run, change));
    const own = lines.filter((change) => !runs.some((other) => other !== run && isIn(other, change)));
    const said = row[kind] ?? -1;
    if (isRecheck(run.line) && (said < own.length || said > lines.length))
      wrongs.push(`${name} says that ${said} are ${kind}, it recorded ${own.length} to ${lines.length}`);
  }
  return wrongs;
}

/** Once the faults end the same command says 0; and so does the look at every file. */
function unhealed(
  line: string,
  runs: readonly Process[],
  ended: ChatEnded,
  { parts }: Archive,
  limits: Set<string>,
): string[] {
  const { server, plan } = ended;
  const last = runs.at(-1);
  if (last?.exit === 0) return [];
  if (last?.exit === 8 && lacksFiles(last, ended)) {
    limits.add('attached files that the server refuses, or that are too large');
    return [];
  }
  const isCut = plan.runs.some(({ fate }) => fate?.disk ?? fate?.kill ?? fate?.interrupt?.again);
  if (isCut && last?.stderr.includes('the server did not give')) {
    limits.add('an attached file that the server refuses once its line was not written');
    return [];
  }
  // A name that nothing was archived under is no channel's any more.
  const isRenamed =
    plan.people?.some(({ does }) => does === 'rename-channel') && plan.runs.some((run) => run.line.includes('general'));
  if (parts.length === 0 && isRenamed) {
    limits.add('the channel was renamed before anything was archived');
    return [];
  }
  const isAnyThere = server.state.messages.rows().some(selectionOf(line));
  if (parts.length === 0 && !isAnyThere) {
    limits.add('nothing of the selection was ever visible to a run');
    return [];
  }
  return [
    `"${line}" still says ${last?.exit ?? 'nothing'} after ${runs.length} runs without faults: ${last?.stderr ?? ''}`,
  ];
}

function isRecheck(line: string): boolean {
  return line.includes('--recheck');
}

function selectionOf(line: string): (message: MessageRecord | undefined) => boolean {
  const isOfTopic = line.includes('--topic');
  return (message) => message?.stream_id === channelId && (!isOfTopic || isTopic(message.subject));
}

function formsOf(line: string): readonly ('source' | 'rendered')[] {
  if (line.includes('--both')) return ['source', 'rendered'];
  return line.includes('--raw-content') ? ['source'] : ['rendered'];
}
